/* What is told about a script that failed: kind, message, line, and the calls that led there. */
#include <stdlib.h>
#include <string.h>

#include "guest.h"


#define MAX_MESSAGE 4096 /* bytes; a script can raise an error of any size */

Failure failure;

/* The files that an error can be in: the script and the modules that it has required so far. */
typedef struct {
  char shown[LUA_IDSIZE]; /* as Lua writes it in front of messages */
  char *file;
} KnownSource;

static KnownSource sources[PROGRAM_MAX_PARTS];
static size_t source_count;

/* Errors that are raised from here on may be of the function on top of the stack. */
void failure_expect_source(lua_State *L) {
  lua_Debug info;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &info);
  char *file = strdup(info.source + 1); /* behind the @ that says that it is a file's name */
  if (file == NULL || source_count == PROGRAM_MAX_PARTS) luaL_error(L, "not enough memory");
  memcpy(sources[source_count].shown, info.short_src, LUA_IDSIZE);
  sources[source_count++].file = file;
}

static const KnownSource *source_shown_as(const char *text, size_t len) {
  for (size_t i = 0; i < source_count; i++) {
    if (strlen(sources[i].shown) == len && memcmp(sources[i].shown, text, len) == 0) return &sources[i];
  }
  return NULL;
}

/* Reads a position `source:line: ` at the start of a message and returns its length; or 0. */
static size_t position(const char *message, size_t len) {
  for (size_t i = 0; i < source_count; i++) {
    size_t at = strlen(sources[i].shown);
    if (len < at + 3 || memcmp(message, sources[i].shown, at) != 0 || message[at] != ':') continue;
    size_t digits = ++at;
    uint32_t number = 0;
    while (at < len && at - digits < 9 && message[at] >= '0' && message[at] <= '9') {
      number = number * 10 + (uint32_t)(message[at++] - '0');
    }
    if (at == digits || len < at + 2 || message[at] != ':' || message[at + 1] != ' ') continue;
    failure.file = sources[i].file;
    failure.line = number;
    return at + 2;
  }
  return 0;
}

/* An error that left a coroutine has a position of its own in front of the inner one; the innermost counts. */
static void set_message(lua_State *L, const char *message, size_t len) {
  size_t skip;
  while ((skip = position(message, len)) > 0) {
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
  for (int level = 0; failure.file == NULL && lua_getstack(L, level, &info); level++) {
    lua_getinfo(L, "Sl", &info);
    const KnownSource *source = source_shown_as(info.short_src, strlen(info.short_src));
    if (info.currentline > 0 && source != NULL) {
      failure.file = source->file;
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

static Text table_text; /* kept, so that an error that Lua raises half-way does not lose it */

static int table_to_json(lua_State *L) {
  text_clear(&table_text);
  json_encode(L, 1, &table_text);
  return 0;
}

/* The message of an error value: itself, its field `message`, the table as JSON, or what tostring says. */
static const char *message_of(lua_State *L, size_t *len) {
  if (lua_istable(L, 1) && luaL_getmetafield(L, 1, "__tostring") == LUA_TNIL) {
    lua_pushliteral(L, "message");
    lua_rawget(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) return lua_tolstring(L, -1, len);
    lua_pushcfunction(L, table_to_json);
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) {
      *len = table_text.len;
      return table_text.at;
    }
  }
  return luaL_tolstring(L, 1, len);
}

static bool writing_result = false;

/* The script is done: what is raised from here on is about the value that it returned. */
void failure_writing_result(void) { writing_result = true; }

/* A message handler for lua_pcall. */
int failure_handler(lua_State *L) {
  size_t len;
  failure.kind = NANOBOT_SANDBOX_HOST_ERROR_KIND_RUNTIME;
  failure.file = NULL;
  failure.column = 0;
  const char *message = message_of(L, &len);
  set_message(L, message, len);
  if (writing_result) {
    failure.kind = NANOBOT_SANDBOX_HOST_ERROR_KIND_VALUE;
    return 1;
  }
  find_line(L);
  set_traceback(L);
  return 1;
}

/* An error without a traceback. A position at the start of the message becomes the line. */
void failure_set(lua_State *L, int kind, const char *message, size_t len) {
  failure.kind = kind;
  failure.file = NULL;
  failure.column = 0;
  text_clear(&failure.traceback);
  set_message(L, message, len);
}

/* Lua does not call a message handler for this one; and nothing here may ask Lua for memory. */
void failure_out_of_memory(void) {
  static const char message[] = "not enough memory";
  failure.kind = NANOBOT_SANDBOX_HOST_ERROR_KIND_MEMORY;
  failure.file = NULL;
  failure.column = 0;
  text_clear(&failure.traceback);
  text_clear(&failure.message);
  text_try_put(&failure.message, message, strlen(message));
}
