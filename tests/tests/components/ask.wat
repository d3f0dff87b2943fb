;; A tool that increments a stored value, and answers what the host answers.
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
    (export "script-error" (type (eq $error)))
    (export "invoke" (func (param "ability" string) (param "args" string) (result (result string (error string)))))))
  (alias export $host "script-error" (type $script-error))

  (core module $memory
    (memory (export "memory") 1)
    (data (i32.const 100) "kv.write")
    (data (i32.const 200) "{\22op\22:\22increment\22,\22key\22:\22n\22,\22by\22:1}")
    (global $free (mut i32) (i32.const 16384))
    (func (export "realloc") (param i32 i32 i32) (param $size i32) (result i32)
      global.get $free
      (global.set $free (i32.add (global.get $free) (local.get $size)))))
  (core instance $memory (instantiate $memory))
  (core func $invoke (canon lower (func $host "invoke")
    (memory $memory "memory") (realloc (func $memory "realloc"))))

  (core module $tool
    (import "host" "invoke" (func $invoke (param i32 i32 i32 i32 i32)))
    ;; What the host answers has the form of what a tool answers, when it is well: both are at 0.
    (func (export "run") (param i32 i32 i32 i32) (result i32)
      (call $invoke (i32.const 100) (i32.const 8) (i32.const 200) (i32.const 35) (i32.const 0))
      i32.const 0))
  (core instance $tool (instantiate $tool (with "host" (instance (export "invoke" (func $invoke))))))

  (func (export "run") (param "chunk" (list u8)) (param "variables" string) (result (result string (error $script-error)))
    (canon lift (core func $tool "run") (memory $memory "memory") (realloc (func $memory "realloc")))))
