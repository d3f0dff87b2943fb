/* The setjmp that clang's `-wasm-enable-sjlj` lowers to exceptions; see ../setjmp.c. */
#ifndef NANOBOT_SETJMP_H
#define NANOBOT_SETJMP_H

#include <stdint.h>

typedef struct {
  void *invocation; /* which call of the function that ran setjmp */
  uint32_t label;   /* which setjmp inside of that function; 0 is none */
  struct {
    void *env;
    int value;
  } thrown; /* what the exception points to */
} jmp_buf[1];

int setjmp(jmp_buf env) __attribute__((returns_twice));
void longjmp(jmp_buf env, int value) __attribute__((noreturn));

#endif
