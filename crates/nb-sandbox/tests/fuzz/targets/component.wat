;; A component that does what its host's random numbers say, and answers whatever then lies in its memory.
;; STRING_ENCODING is replaced before this is read.
(component
  (import "nanobot:sandbox/host@0.2.0" (instance $host
    (export "invoke" (func (param "ability" string) (param "args" string) (result (result string (error string)))))
    (export "log" (func (param "line" string)))
    (export "now-ns" (func (result u64)))
    (export "random" (func (result u64)))
    (type $error-kind-def (enum "syntax" "runtime" "memory" "value" "chunk"))
    (export "error-kind" (type $error-kind (eq $error-kind-def)))
    (type $position-def (record (field "file" string) (field "line" u32) (field "column" (option u32))))
    (export "position" (type $position (eq $position-def)))
    (type $script-error-def (record
      (field "kind" $error-kind) (field "message" string)
      (field "position" (option $position)) (field "traceback" string)))
    (export "script-error" (type (eq $script-error-def)))))
  (alias export $host "script-error" (type $script-error))

  (core module $memory
    (memory (export "memory") 2)
    ;; What the next allocation answers. At first 0: far apart, and beyond the memory when it is a large one.
    (global $next (export "next") (mut i32) (i32.const 0))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (if (i32.eq (global.get $next) (i32.const 1)) (then (loop $spin (br $spin))))
      (select (global.get $next) (i32.mul (local.get 3) (i32.const 16)) (global.get $next))))
  (core instance $memory (instantiate $memory))
  (alias core export $memory "memory" (core memory $bytes))
  (alias core export $memory "realloc" (core func $realloc))

  (core func $invoke (canon lower (func $host "invoke") (memory $bytes) (realloc $realloc) STRING_ENCODING))
  (core func $log (canon lower (func $host "log") (memory $bytes) STRING_ENCODING))
  (core func $now (canon lower (func $host "now-ns")))
  (core func $random (canon lower (func $host "random")))

  (core module $program
    (import "memory" "memory" (memory 2))
    (import "memory" "next" (global $next (mut i32)))
    (import "host" "invoke" (func $invoke (param i32 i32 i32 i32 i32)))
    (import "host" "log" (func $log (param i32 i32)))
    (import "host" "now" (func $now (result i64)))
    (import "host" "random" (func $random (result i64)))
    (func $draw (result i32) (i32.wrap_i64 (call $random)))
    (func $recurse (call $recurse) (call $recurse))

    (func (export "run") (param i32 i32 i32 i32) (result i32)
      (loop $steps
        (block $trap (block $recurse (block $spin (block $now (block $realloc (block $grow
        (block $invoke (block $log (block $store32 (block $store8 (block $return
          (br_table $return $store8 $store32 $log $invoke $grow $realloc $now $spin $recurse $trap (call $draw)))
        ;; $return
          (return (call $draw)))
        ;; $store8
          (i32.store8 (call $draw) (call $draw)) (br $steps))
        ;; $store32
          (i32.store (call $draw) (call $draw)) (br $steps))
        ;; $log
          (call $log (call $draw) (call $draw)) (br $steps))
        ;; $invoke
          (call $invoke (call $draw) (call $draw) (call $draw) (call $draw) (call $draw)) (br $steps))
        ;; $grow
          (drop (memory.grow (call $draw))) (br $steps))
        ;; $realloc
          (global.set $next (call $draw)) (br $steps))
        ;; $now
          (drop (call $now)) (br $steps))
        ;; $spin
          (loop $for_ever (br $for_ever)))
        ;; $recurse
          (call $recurse) (br $steps))
        ;; $trap
          unreachable)
      unreachable)

    ;; After the answer was read: it goes on for ever when the first byte behind 64 KiB is 1.
    (func (export "after") (param i32)
      (if (i32.eq (i32.load8_u (i32.const 65536)) (i32.const 1)) (then (loop $spin (br $spin))))))
  (core instance $host_functions
    (export "invoke" (func $invoke)) (export "log" (func $log))
    (export "now" (func $now)) (export "random" (func $random)))
  (core instance $program (instantiate $program
    (with "memory" (instance $memory)) (with "host" (instance $host_functions))))
  (alias core export $program "after" (core func $after))

  (func (export "run") (param "chunk" (list u8)) (param "variables" string)
    (result (result string (error $script-error)))
    (canon lift (core func $program "run") (memory $bytes) (realloc $realloc) STRING_ENCODING
      (post-return $after))))
