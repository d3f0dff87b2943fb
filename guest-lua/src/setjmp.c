/*
 * setjmp and longjmp over WebAssembly exceptions.
 *
 * The compiler turns each setjmp into a call of __wasm_setjmp, wraps the calls that follow it in a try, and asks
 * __wasm_setjmp_test whether a caught exception belongs to it. These three names and their signatures are the
 * compiler's; the C library of wasi-libc does not have them yet.
 */
#include <setjmp.h>

#define C_LONGJMP_TAG 1

__asm__(".globl __c_longjmp\n"
        ".tagtype __c_longjmp i32\n"
        "__c_longjmp:\n");

void __wasm_setjmp(void *env, uint32_t label, void *invocation) {
  jmp_buf *buffer = env;
  (*buffer)->invocation = invocation;
  (*buffer)->label = label;
}

uint32_t __wasm_setjmp_test(void *env, void *invocation) {
  jmp_buf *buffer = env;
  return (*buffer)->invocation == invocation ? (*buffer)->label : 0;
}

void __wasm_longjmp(void *env, int value) {
  jmp_buf *buffer = env;
  (*buffer)->thrown.env = env;
  (*buffer)->thrown.value = value == 0 ? 1 : value; /* C11 7.13.2.1: setjmp never returns 0 a second time */
  __builtin_wasm_throw(C_LONGJMP_TAG, &(*buffer)->thrown);
}
