;; The least that is a tool: it answers `2`, whatever it is asked.
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

  (core module $program
    (memory (export "memory") 1)
    ;; The answer: ok, and in it a text of one byte at 12.
    (data (i32.const 0) "\00\00\00\00" "\0c\00\00\00" "\01\00\00\00" "2")
    (global $free (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32) (param $size i32) (result i32)
      global.get $free
      (global.set $free (i32.add (global.get $free) (local.get $size))))
    (func (export "run") (param i32 i32 i32 i32) (result i32) i32.const 0))
  (core instance $made (instantiate $program))

  (func (export "run") (param "chunk" (list u8)) (param "variables" string) (result (result string (error $script-error)))
    (canon lift (core func $made "run") (memory $made "memory") (realloc (func $made "realloc")))))
