/* What the guest's files share. Each function is described where it is defined. */
#ifndef NANOBOT_GUEST_H
#define NANOBOT_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpreter.h"
#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#define AS_WRITTEN(value) #value
#define AS_TEXT(macro) AS_WRITTEN(macro) /* what a macro stands for, as a literal text */

/* text.c */
typedef struct {
  char *at;
  size_t len, cap;
} Text;
void text_clear(Text *text);
bool text_try_put(Text *text, const char *bytes, size_t len);
void text_put(lua_State *L, Text *text, const char *bytes, size_t len);
void text_put_utf8(lua_State *L, Text *text, const char *bytes, size_t len);
size_t utf8_valid_prefix(const char *bytes, size_t len);

/* json.c */
#define JSON_MAX_DEPTH 128
#define JSON_NULL ((void *)0) /* as light userdata; there is no other */
void json_open(lua_State *L);
void json_push_array_mark(lua_State *L);

/* json_read.c */
const char *json_decode(lua_State *L, const char *text, size_t len);

/* json_write.c */
bool json_is_object(lua_State *L, int index);
void json_require_list(lua_State *L, int index);
void json_encode(lua_State *L, int index, Text *out);
void json_encode_string(lua_State *L, const char *bytes, size_t len, Text *out);

/* api.c */
void api_open(lua_State *L);

/* globals.c */
lua_State *globals_new_state(void);
lua_State *globals_new(void);
void globals_fill_holes(void);
uint64_t guest_now_ns(void);
void globals_finish(void);

/* failure.c */
typedef struct {
  int kind; /* nanobot_sandbox_host_error_kind_t */
  Text message, traceback;
  const char *file; /* NULL when it is nowhere in particular */
  uint32_t line, column; /* a column of 0 is not known */
} Failure;
extern Failure failure;
void failure_expect_source(lua_State *L);
int failure_handler(lua_State *L);
void failure_set(lua_State *L, int kind, const char *message, size_t len);
void failure_out_of_memory(void);
void failure_writing_result(void);

/* compiler.c */
lua_State *compiler_new(void);
void compiler_push_view(lua_State *L);
void compiler_forget_sources(void);
void compiler_add_file(lua_State *L, const char *file, const char *text, size_t len);
bool compiler_compile(lua_State *L, bool fennel, const char *file, const char *text, size_t len);

/* program.c */
typedef struct {
  const char *at, *end;
  int left; /* parts that were not read yet */
} Program;
typedef struct {
  const char *name, *code;
  size_t name_len, code_len;
} Part;
#define PROGRAM_MAX_PARTS 255
bool program_begin(Text *chunk, int parts);
bool program_put(Text *chunk, const char *name, size_t name_len, const char *code, size_t code_len);
bool program_open(Program *program, const char *bytes, size_t len);
bool program_next(Program *program, Part *part);

/* require.c */
bool require_means(const char *name, size_t len, const char *module, size_t module_len);
void require_open(lua_State *L, const Program *program);

/* glue.c */
typedef bool Body(lua_State *L, void *request);
bool glue_protect(lua_State *L, Body *body, void *request, interpreter_script_error_t *error);
lua_State *glue_compiler(void);

#endif
