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

/* How much of the path is told to a table that is nested too deep. */
#define SHOWN_DEPTH 8

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

/* `more` follows the place. */
static void refuse_with(lua_State *L, const Place *place, const char *what, const char *more) {
  luaL_checkstack(L, 2 * JSON_MAX_DEPTH, "JSON");
  push_place(L, place);
  if (*lua_tostring(L, -1) == '\0') {
    luaL_error(L, "%s cannot be written as JSON%s", what, more);
  } else {
    luaL_error(L, "%s cannot be written as JSON (at %s)%s", what, lua_tostring(L, -1), more);
  }
}

static void refuse(lua_State *L, const Place *place, const char *what) { refuse_with(L, place, what, ""); }

/* Of a table in itself the whole path would be as long as it is useless. */
static void refuse_depth(lua_State *L, const Place *place, int depth) {
  for (; depth > SHOWN_DEPTH; depth--) place = place->outer;
  luaL_checkstack(L, 2 * SHOWN_DEPTH, "JSON");
  push_place(L, place);
  luaL_error(L, "a table that is nested too deep, in more than " AS_TEXT(JSON_MAX_DEPTH)
                " levels, or in itself, cannot be written as JSON (at %s…)", lua_tostring(L, -1));
}

/* False when it is not UTF-8. */
static bool try_write_string(lua_State *L, const char *bytes, size_t len, Text *out) {
  static const char hex[] = "0123456789abcdef";
  if (utf8_valid_prefix(bytes, len) != len) return false;
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
  return true;
}

static void write_string(lua_State *L, const char *bytes, size_t len, Text *out, const Place *place) {
  if (!try_write_string(L, bytes, len, out)) refuse(L, place, "a string that is not UTF-8");
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

/* What kinds of keys a table has. */
typedef struct {
  lua_Unsigned integers, texts, others;
  lua_Integer least, most; /* of the integers */
  const char *text;        /* the first of the texts in the order of their bytes */
  size_t text_len;
} Keys;

static bool is_before(const char *text, size_t len, const Keys *keys) {
  int order = memcmp(text, keys->text, len < keys->text_len ? len : keys->text_len);
  return order < 0 || (order == 0 && len < keys->text_len);
}

static Keys keys_of(lua_State *L, int index) {
  Keys keys = {0};
  luaL_checkstack(L, 2, "JSON");
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    if (lua_isinteger(L, -1)) {
      lua_Integer key = lua_tointeger(L, -1);
      if (keys.integers == 0 || key < keys.least) keys.least = key;
      if (keys.integers == 0 || key > keys.most) keys.most = key;
      keys.integers++;
    } else if (lua_type(L, -1) == LUA_TSTRING) {
      size_t len;
      const char *text = lua_tolstring(L, -1, &len);
      if (keys.texts++ == 0 || is_before(text, len, &keys)) {
        keys.text = text;
        keys.text_len = len;
      }
    } else {
      keys.others++;
    }
  }
  return keys;
}

/* Whether the keys are 1 to n, which may be none. */
static bool is_list(const Keys *keys) {
  if (keys->texts > 0 || keys->others > 0) return false;
  return keys->integers == 0 || (keys->least == 1 && (lua_Unsigned)keys->most == keys->integers);
}

static Text quoted; /* kept, so that an error that Lua raises half-way does not lose it */

/* Pushes a text as it stands in a message, where control characters and what is not UTF-8 would spoil it. */
static const char *push_quoted(lua_State *L, const char *text, size_t len) {
  text_clear(&quoted);
  text_put_utf8(L, &quoted, text, len);
  for (size_t i = 0; i < quoted.len; i++) {
    if ((unsigned char)quoted.at[i] < 0x20) quoted.at[i] = '?';
  }
  text_put(L, &quoted, "", 1); /* the zero at its end */
  return lua_pushfstring(L, "\"%s\"", quoted.at);
}

/* Pushes what a table is whose key is text that no object can have. */
[[gnu::noinline]] static const char *push_bad_key(lua_State *L, const char *key, size_t len) {
  return lua_pushfstring(L, "a table with the key %s, which is not UTF-8,", push_quoted(L, key, len));
}

/* Pushes how a key that is neither an integer nor a text is told. */
static const char *push_other_key(lua_State *L, int key) {
  switch (lua_type(L, key)) {
    case LUA_TTABLE: return lua_pushliteral(L, "a table as a key");
    case LUA_TFUNCTION: return lua_pushliteral(L, "a function as a key");
    case LUA_TTHREAD: return lua_pushliteral(L, "a coroutine as a key");
    default:
      lua_pushfstring(L, "the key %s", luaL_tolstring(L, key, NULL));
      lua_remove(L, -2);
      return lua_tostring(L, -1);
  }
}

/* Pushes the one of them that comes first as a text: a table has no order of its own. */
[[gnu::noinline]] static const char *push_first_other_key(lua_State *L, int index) {
  lua_pushnil(L); /* the first so far */
  int first = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    if (lua_isinteger(L, -1) || lua_type(L, -1) == LUA_TSTRING) continue;
    const char *told = push_other_key(L, first + 1);
    if (lua_isnil(L, first) || strcmp(told, lua_tostring(L, first)) < 0) lua_replace(L, first);
    else lua_pop(L, 1);
  }
  return lua_tostring(L, first);
}

/* Pushes what a table is whose keys are neither 1 to n nor all texts, naming the key that is in the way. */
static const char *push_misfit(lua_State *L, int index, const Keys *keys) {
  luaL_checkstack(L, 8, "JSON");
  if (keys->others > 0) return lua_pushfstring(L, "a table with %s", push_first_other_key(L, index));
  if (keys->texts > 0 && keys->integers > 0) {
    const char *text = push_quoted(L, keys->text, keys->text_len);
    return lua_pushfstring(L, "a table with both the key %I and the key %s", keys->least, text);
  }
  if (keys->texts > 0) return lua_pushfstring(L, "a table with the key %s", push_quoted(L, keys->text, keys->text_len));
  if (keys->least < 1) return lua_pushfstring(L, "a table with the key %I", keys->least);
  lua_Integer missing = 1;
  while (lua_rawgeti(L, index, missing) != LUA_TNIL) {
    lua_pop(L, 1);
    missing++;
  }
  return lua_pushfstring(L, "a table with the key %I and without the key %I", keys->most, missing);
}

static void refuse_keys(lua_State *L, int index, const Place *place, const Keys *keys) {
  static const char advice[] = "; an array has the keys 1 to n (`json.null` fills a gap), and an object has texts "
                               "(`tostring(key)` makes one of a number)";
  refuse_with(L, place, push_misfit(L, index, keys), advice);
}

/* Raises an error that names the key when a table is no array. */
void json_require_list(lua_State *L, int index) {
  Keys keys = keys_of(L, index);
  if (is_list(&keys)) return;
  luaL_error(L, "%s is no array; an array has the keys 1 to n, without a gap", push_misfit(L, index, &keys));
}

/* A table with the keys 1 to n is an array; an empty one when it is marked. Others are objects, which `write_object`
 * checks while it writes them, so that theirs are gone over once. */
static bool is_array(lua_State *L, int index, const Place *place) {
  lua_pushnil(L);
  if (!lua_next(L, index)) return is_marked(L, index);
  lua_pop(L, 2);
  if (lua_rawlen(L, index) == 0) return false;
  Keys keys = keys_of(L, index);
  if (!is_list(&keys)) refuse_keys(L, index, place, &keys);
  return true;
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
      if (!try_write_string(L, here.key, len, out)) refuse(L, place, push_bad_key(L, here.key, len));
    } else {
      Keys keys = keys_of(L, index);
      refuse_keys(L, index, place, &keys);
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
      if (depth == JSON_MAX_DEPTH) refuse_depth(L, place, depth);
      if (is_array(L, index, place)) write_array(L, index, out, place, depth + 1);
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
