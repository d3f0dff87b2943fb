/* What the guest's files share. Each function is described where it is defined. */
#ifndef NANOBOT_GUEST_H
#define NANOBOT_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

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
  int kind; /* tool_error_kind_t */
  Text message, traceback;
  bool has_line;
  uint32_t line;
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
bool compiler_compile(lua_State *L, bool fennel, const char *name, const char *source, size_t len);

#endif
