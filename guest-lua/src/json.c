/*
 * The table `json` of the scripts, and how JSON's values map to Lua's.
 *
 * An array stays an array even when it is empty: a decoded one carries a metatable that marks it, and
 * `json.array(t)` marks others. An integer stays an integer. `null` is nil, except inside of an array, where it is
 * `json.null`, so that the elements keep their places.
 */
#include "guest.h"

static char array_mark; /* its address is the registry key of the arrays' metatable */

void json_push_array_mark(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &array_mark); }

static Text encoded;

static int encode(lua_State *L) {
  luaL_checkany(L, 1);
  text_clear(&encoded);
  json_encode(L, 1, &encoded);
  lua_pushlstring(L, encoded.at, encoded.len);
  return 1;
}

static int decode(lua_State *L) {
  size_t len;
  luaL_checktype(L, 1, LUA_TSTRING); /* not a number, which Lua would take for a text */
  const char *text = lua_tolstring(L, 1, &len);
  size_t valid = utf8_valid_prefix(text, len);
  if (valid != len) return luaL_error(L, "this is not JSON: it is not UTF-8 (byte %I)", (lua_Integer)valid + 1);
  const char *error = json_decode(L, text, len);
  return error == NULL ? 1 : luaL_error(L, "this is not JSON: %s", error);
}

static int array(lua_State *L) {
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    lua_newtable(L);
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  json_require_list(L, 1);
  json_push_array_mark(L);
  lua_setmetatable(L, 1);
  return 1;
}

static int null_to_string(lua_State *L) {
  lua_pushliteral(L, "null");
  return 1;
}

void json_open(lua_State *L) {
  static const luaL_Reg functions[] = {{"encode", encode}, {"decode", decode}, {"array", array}, {NULL, NULL}};
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &array_mark);

  lua_pushlightuserdata(L, JSON_NULL);
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, null_to_string);
  lua_setfield(L, -2, "__tostring");
  lua_pushliteral(L, "json.null");
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);

  luaL_newlib(L, functions);
  lua_pushlightuserdata(L, JSON_NULL);
  lua_setfield(L, -2, "null");
  lua_setglobal(L, "json");
}
