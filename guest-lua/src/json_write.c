/* A Lua value to JSON text. Tables are read raw: no metamethod of a script runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

/* Where a value stands inside of the one that is written, for the error message. */
typedef struct Place {
  const struct Place *outer;
  const char *key; /* NULL in an array */
  lua_Integer index;
} Place;

static void write_value(lua_State *L, int index, Text *out, const Place *place, int depth);

static void push_place(lua_State *L, const Place *place) {
  if (place == NULL) {
    lua_pushliteral(L, "");
    return;
  }
  push_place(L, place->outer);
  if (place->key != NULL) {
    lua_pushfstring(L, ".%s", place->key);
  } else {
    lua_pushfstring(L, "[%I]", place->index);
  }
  lua_concat(L, 2);
}

static void refuse(lua_State *L, const Place *place, const char *what) {
  luaL_checkstack(L, 2 * JSON_MAX_DEPTH, "JSON");
  push_place(L, place);
  if (*lua_tostring(L, -1) == '\0') {
    luaL_error(L, "%s cannot be written as JSON", what);
  } else {
    luaL_error(L, "%s cannot be written as JSON (at %s)", what, lua_tostring(L, -1));
  }
}

static void write_string(lua_State *L, const char *bytes, size_t len, Text *out, const Place *place) {
  static const char hex[] = "0123456789abcdef";
  if (utf8_valid_prefix(bytes, len) != len) refuse(L, place, "a string that is not UTF-8");
  text_put(L, out, "\"", 1);
  size_t start = 0;
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    text_put(L, out, bytes + start, i - start);
    start = i + 1;
    char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    size_t escape_len = 2;
    switch (c) {
      case '"': case '\\': escape[1] = (char)c; break;
      case '\b': escape[1] = 'b'; break;
      case '\f': escape[1] = 'f'; break;
      case '\n': escape[1] = 'n'; break;
      case '\r': escape[1] = 'r'; break;
      case '\t': escape[1] = 't'; break;
      default: escape_len = 6;
    }
    text_put(L, out, escape, escape_len);
  }
  text_put(L, out, bytes + start, len - start);
  text_put(L, out, "\"", 1);
}

static void write_integer(lua_State *L, lua_Integer value, Text *out) {
  char digits[24];
  int len = integer_to_text(digits, value);
  text_put(L, out, digits, (size_t)len);
}

static void write_float(lua_State *L, lua_Number value, Text *out, const Place *place) {
  if (!isfinite(value)) refuse(L, place, "a number that is not finite");
  char digits[40];
  int len = 0;
  /* The shortest form that reads back as the same number. */
  for (int precision = 15; precision <= 17; precision++) {
    len = snprintf(digits, sizeof digits - 2, "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  if (strpbrk(digits, ".e") == NULL) {
    memcpy(digits + len, ".0", 2); /* a float stays a float */
    len += 2;
  }
  text_put(L, out, digits, (size_t)len);
}

static bool is_marked(lua_State *L, int index) {
  if (!lua_getmetatable(L, index)) return false;
  json_push_array_mark(L);
  bool marked = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return marked;
}

/* A table is an array when its keys are 1 to n, and n is not 0 or the table is marked. */
static bool is_array(lua_State *L, int index) {
  lua_Unsigned len = lua_rawlen(L, index), keys = 0;
  if (len == 0 && !is_marked(L, index)) return false;
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    keys++;
  }
  return keys == len;
}

static void write_array(lua_State *L, int index, Text *out, const Place *place, int depth) {
  lua_Integer len = (lua_Integer)lua_rawlen(L, index);
  text_put(L, out, "[", 1);
  for (lua_Integer i = 1; i <= len; i++) {
    if (i > 1) text_put(L, out, ",", 1);
    lua_rawgeti(L, index, i);
    Place here = {.outer = place, .index = i};
    write_value(L, lua_gettop(L), out, &here, depth);
    lua_pop(L, 1);
  }
  text_put(L, out, "]", 1);
}

static void write_object(lua_State *L, int index, Text *out, const Place *place, int depth) {
  bool first = true;
  text_put(L, out, "{", 1);
  lua_pushnil(L);
  while (lua_next(L, index)) {
    int value = lua_gettop(L), key = value - 1;
    if (!first) text_put(L, out, ",", 1);
    first = false;
    Place here = {.outer = place};
    if (lua_type(L, key) == LUA_TSTRING) {
      size_t len;
      here.key = lua_tolstring(L, key, &len);
      write_string(L, here.key, len, out, place);
    } else if (lua_isinteger(L, key)) {
      here.index = lua_tointeger(L, key);
      text_put(L, out, "\"", 1);
      write_integer(L, here.index, out);
      text_put(L, out, "\"", 1);
    } else {
      refuse(L, place, "a key that is neither a string nor an integer");
    }
    text_put(L, out, ":", 1);
    write_value(L, value, out, &here, depth);
    lua_pop(L, 1);
  }
  text_put(L, out, "}", 1);
}

static void write_value(lua_State *L, int index, Text *out, const Place *place, int depth) {
  size_t len;
  const char *bytes;
  luaL_checkstack(L, 8, "JSON");
  switch (lua_type(L, index)) {
    case LUA_TNIL: text_put(L, out, "null", 4); break;
    case LUA_TBOOLEAN:
      if (lua_toboolean(L, index)) text_put(L, out, "true", 4);
      else text_put(L, out, "false", 5);
      break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) write_integer(L, lua_tointeger(L, index), out);
      else write_float(L, lua_tonumber(L, index), out, place);
      break;
    case LUA_TSTRING:
      bytes = lua_tolstring(L, index, &len);
      write_string(L, bytes, len, out, place);
      break;
    case LUA_TTABLE:
      if (depth == JSON_MAX_DEPTH) luaL_error(L, "a table that is nested too deep, or in itself, cannot be written as JSON");
      if (is_array(L, index)) write_array(L, index, out, place, depth + 1);
      else write_object(L, index, out, place, depth + 1);
      break;
    case LUA_TLIGHTUSERDATA: text_put(L, out, "null", 4); break; /* json.null is the only one there is */
    case LUA_TFUNCTION: refuse(L, place, "a function"); break;
    default: refuse(L, place, "a coroutine"); break;
  }
}

/* Whether a decoded value was an object. */
bool json_is_object(lua_State *L, int index) { return lua_istable(L, index) && !is_marked(L, lua_absindex(L, index)); }

/* Appends a value; raises an error when it has no JSON form. */
void json_encode(lua_State *L, int index, Text *out) {
  write_value(L, lua_absindex(L, index), out, NULL, 0);
}

void json_encode_string(lua_State *L, const char *bytes, size_t len, Text *out) {
  write_string(L, bytes, len, out, NULL);
}
