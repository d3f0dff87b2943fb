;; A tool that answers the names of the folders that WASI gives it, as a JSON list.
(component
  (import "nanobot:sandbox/host@0.2.0" (instance $host
    (type $kind (enum "syntax" "runtime" "memory" "value" "chunk"))
    (export "error-kind" (type $error-kind (eq $kind)))
    (type $place (record (field "file" string) (field "line" u32) (field "column" (option u32))))
    (export "position" (type $position (eq $place)))
    (type $error (record
      (field "kind" $error-kind)
      (field "message" string)
      (field "position" (option $position))
      (field "traceback" string)))
    (export "script-error" (type (eq $error)))))
  (alias export $host "script-error" (type $script-error))
  (import "wasi:filesystem/types@0.2.0" (instance $types (export "descriptor" (type (sub resource)))))
  (alias export $types "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $opened))
    (export "descriptor" (type $folder (eq $opened)))
    (export "get-directories" (func (result (list (tuple (own $folder) string)))))))

  (core module $memory
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 16384))
    (func (export "realloc") (param $old i32) (param i32) (param i32) (param $size i32) (result i32)
      (local $block i32)
      (local.set $block (global.get $free))
      (global.set $free (i32.and (i32.add (i32.add (local.get $block) (local.get $size)) (i32.const 15)) (i32.const -8)))
      (local.get $block)))
  (core instance $memory (instantiate $memory))
  (core func $folders (canon lower (func $preopens "get-directories")
    (memory $memory "memory") (realloc (func $memory "realloc"))))

  (core module $tool
    (import "memory" "memory" (memory 1))
    (import "wasi" "folders" (func $folders (param i32)))
    (global $end (mut i32) (i32.const 1024))
    (func $put (param $byte i32)
      (i32.store8 (global.get $end) (local.get $byte))
      (global.set $end (i32.add (global.get $end) (i32.const 1))))
    ;; The list is at 0: where it begins, and how many entries of 12 bytes it has: folder, name, length of the name.
    (func (export "run") (param i32 i32 i32 i32) (result i32)
      (local $entry i32) (local $left i32) (local $length i32)
      (call $folders (i32.const 0))
      (local.set $entry (i32.load (i32.const 0)))
      (local.set $left (i32.load (i32.const 4)))
      (call $put (i32.const 0x5B))
      (block $done
        (loop $next
          (br_if $done (i32.eqz (local.get $left)))
          (if (i32.ne (global.get $end) (i32.const 1025)) (then (call $put (i32.const 0x2C))))
          (call $put (i32.const 0x22))
          (local.set $length (i32.load offset=8 (local.get $entry)))
          (memory.copy (global.get $end) (i32.load offset=4 (local.get $entry)) (local.get $length))
          (global.set $end (i32.add (global.get $end) (local.get $length)))
          (call $put (i32.const 0x22))
          (local.set $entry (i32.add (local.get $entry) (i32.const 12)))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br $next)))
      (call $put (i32.const 0x5D))
      ;; The answer is at 16: ok, and the text.
      (i32.store8 (i32.const 16) (i32.const 0))
      (i32.store (i32.const 20) (i32.const 1024))
      (i32.store (i32.const 24) (i32.sub (global.get $end) (i32.const 1024)))
      (i32.const 16)))
  (core instance $tool (instantiate $tool
    (with "memory" (instance $memory))
    (with "wasi" (instance (export "folders" (func $folders))))))

  (func (export "run") (param "chunk" (list u8)) (param "variables" string) (result (result string (error $script-error)))
    (canon lift (core func $tool "run") (memory $memory "memory") (realloc (func $memory "realloc")))))
