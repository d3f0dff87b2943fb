/* What is told about a script that failed: kind, message, line, and the calls that led there. */
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "tool.h"

#define MAX_MESSAGE 4096 /* bytes; a script can raise an error of any size */

Failure failure;

static char source[LUA_IDSIZE]; /* as Lua writes it in front of messages */

/* Errors that are raised from here on are of the function on top of the stack. */
void failure_expect_source(lua_State *L) {
  lua_Debug info;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &info);
  memcpy(source, info.short_src, sizeof source);
}

/* The line in a position `source:line: ` at the start of a message, and the length of that position; or 0. */
static size_t position(const char *message, size_t len, uint32_t *line) {
  size_t at = strlen(source);
  if (at == 0 || len < at + 3 || memcmp(message, source, at) != 0 || message[at] != ':') return 0;
  size_t digits = ++at;
  uint32_t number = 0;
  while (at < len && at - digits < 9 && message[at] >= '0' && message[at] <= '9') {
    number = number * 10 + (uint32_t)(message[at++] - '0');
  }
  if (at == digits || len < at + 2 || message[at] != ':' || message[at + 1] != ' ') return 0;
  *line = number;
  return at + 2;
}

/* An error that left a coroutine has a position of its own in front of the inner one; the innermost counts. */
static void set_message(lua_State *L, const char *message, size_t len) {
  size_t skip;
  while ((skip = position(message, len, &failure.line)) > 0) {
    failure.has_line = true;
    message += skip;
    len -= skip;
  }
  text_clear(&failure.message);
  if (len > MAX_MESSAGE) {
    text_put_utf8(L, &failure.message, message, MAX_MESSAGE);
    text_put(L, &failure.message, "…", strlen("…"));
  } else {
    text_put_utf8(L, &failure.message, message, len);
  }
}

static void find_line(lua_State *L) {
  lua_Debug info;
  for (int level = 0; !failure.has_line && lua_getstack(L, level, &info); level++) {
    lua_getinfo(L, "Sl", &info);
    if (info.currentline > 0 && strcmp(info.short_src, source) == 0) {
      failure.has_line = true;
      failure.line = (uint32_t)info.currentline;
    }
  }
}

/* Lua's own traceback, without its heading, its indentation and our own frame at its end. */
static void set_traceback(lua_State *L) {
  static const char heading[] = "stack traceback:";
  luaL_traceback(L, L, NULL, 1);
  size_t len;
  const char *text = lua_tolstring(L, -1, &len);
  if (strncmp(text, heading, strlen(heading)) == 0) {
    text += strlen(heading);
    len -= strlen(heading);
  }
  static const char bottom[] = "\n\t[C]: in ?";
  size_t bottom_len = strlen(bottom);
  if (len >= bottom_len && memcmp(text + len - bottom_len, bottom, bottom_len) == 0) len -= bottom_len;
  text_clear(&failure.traceback);
  for (size_t i = 0; i < len;) {
    size_t start = i;
    while (i < len && text[i] != '\n') i++;
    size_t from = start < i && text[start] == '\t' ? start + 1 : start;
    if (failure.traceback.len > 0) text_put(L, &failure.traceback, "\n", 1);
    text_put_utf8(L, &failure.traceback, text + from, i - from);
    i++;
  }
  lua_pop(L, 1);
}

/* The message of an error value: itself, its field `message`, or what tostring says. */
static const char *message_of(lua_State *L, size_t *len) {
  if (lua_istable(L, 1) && luaL_getmetafield(L, 1, "__tostring") == LUA_TNIL) {
    lua_pushliteral(L, "message");
    lua_rawget(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) return lua_tolstring(L, -1, len);
  }
  return luaL_tolstring(L, 1, len);
}

static bool writing_result = false;

/* The script is done: what is raised from here on is about the value that it returned. */
void failure_writing_result(void) { writing_result = true; }

/* A message handler for lua_pcall. */
int failure_handler(lua_State *L) {
  size_t len;
  failure.kind = TOOL_ERROR_KIND_RUNTIME;
  failure.has_line = false;
  const char *message = message_of(L, &len);
  set_message(L, message, len);
  if (writing_result) {
    failure.kind = TOOL_ERROR_KIND_VALUE;
    return 1;
  }
  find_line(L);
  set_traceback(L);
  return 1;
}

/* An error without a traceback. A position at the start of the message becomes the line. */
void failure_set(lua_State *L, int kind, const char *message, size_t len) {
  failure.kind = kind;
  failure.has_line = false;
  text_clear(&failure.traceback);
  set_message(L, message, len);
}

/* Lua does not call a message handler for this one; and nothing here may ask Lua for memory. */
void failure_out_of_memory(void) {
  static const char message[] = "not enough memory";
  failure.kind = TOOL_ERROR_KIND_MEMORY;
  failure.has_line = false;
  text_clear(&failure.traceback);
  text_clear(&failure.message);
  text_try_put(&failure.message, message, strlen(message));
}
