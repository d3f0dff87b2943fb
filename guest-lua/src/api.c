/*
 * The table `nb`: the host's abilities as functions.
 *
 * All of them come down to `nb.call(ability, args)`; the others spare a script the names. An answer of the host
 * becomes a Lua value, its refusal a Lua error at the line of the script that asked.
 */
#include <string.h>

#include "guest.h"


static Text args; /* of the call that is being made; kept from call to call */

static int raise_refusal(lua_State *L, interpreter_string_t *refusal) {
  luaL_where(L, 1);
  lua_pushlstring(L, (const char *)refusal->ptr, refusal->len);
  interpreter_string_free(refusal);
  lua_concat(L, 2);
  return lua_error(L);
}

/* Asks the host with `args`, and pushes what it answers. */
static int invoke(lua_State *L, const char *ability, size_t ability_len) {
  interpreter_string_t name = {.ptr = (uint8_t *)ability, .len = ability_len};
  interpreter_string_t json = {.ptr = (uint8_t *)args.at, .len = args.len};
  interpreter_string_t answer, refusal;
  if (!nanobot_sandbox_host_invoke(&name, &json, &answer, &refusal)) return raise_refusal(L, &refusal);
  const char *error = json_decode(L, (const char *)answer.ptr, answer.len);
  interpreter_string_free(&answer);
  if (error != NULL) return luaL_error(L, "the host's answer is not JSON: %s", error);
  return 1;
}

/* ---- the arguments: an object, written member by member ---- */

static void begin(lua_State *L) {
  text_clear(&args);
  text_put(L, &args, "{", 1);
}

static void put_key(lua_State *L, const char *key) {
  if (args.len > 1) text_put(L, &args, ",", 1);
  json_encode_string(L, key, strlen(key), &args);
  text_put(L, &args, ":", 1);
}

static void put_value(lua_State *L, const char *key, int index) {
  put_key(L, key);
  json_encode(L, index, &args);
}

static void put_string(lua_State *L, const char *key, int index) {
  size_t len;
  const char *text = luaL_checklstring(L, index, &len);
  put_key(L, key);
  json_encode_string(L, text, len, &args);
}

static void put_literal(lua_State *L, const char *key, const char *value) {
  put_key(L, key);
  json_encode_string(L, value, strlen(value), &args);
}

static int finish(lua_State *L, const char *ability) {
  text_put(L, &args, "}", 1);
  return invoke(L, ability, strlen(ability));
}

/*
 * Refuses what a function would not look at, and so lose. None of them is a method: with a `:` it is its table that is
 * one too many.
 */
[[gnu::noinline]] static void at_most(lua_State *L, int count, const char *what) {
  int given = lua_gettop(L);
  while (given > count && lua_isnil(L, given)) given--;
  if (given <= count) return;
  lua_Debug called;
  lua_getstack(L, 0, &called);
  lua_getinfo(L, "n", &called);
  luaL_argerror(L, strcmp(called.namewhat, "method") == 0 ? 1 : count + 1, what);
}

/* Asks with the table at 1, whose fields the host checks. */
[[gnu::noinline]] static int invoke_with_table(lua_State *L, const char *ability) {
  text_clear(&args);
  json_encode(L, 1, &args);
  return invoke(L, ability, strlen(ability));
}

/* ---- nb ---- */

/* nb.call(ability, args) */
static int call(lua_State *L) {
  size_t len;
  const char *ability = luaL_checklstring(L, 1, &len);
  luaL_argcheck(L, utf8_valid_prefix(ability, len) == len, 1, "the ability's name is not UTF-8");
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TTABLE);
  at_most(L, 2, "it takes only an ability and a table");
  text_clear(&args);
  if (lua_isnoneornil(L, 2)) text_put(L, &args, "{}", 2);
  else json_encode(L, 2, &args);
  return invoke(L, ability, len);
}

/* nb.time(): seconds since 1970-01-01 UTC, with a fraction */
static int now(lua_State *L) {
  at_most(L, 0, "it takes nothing");
  lua_pushnumber(L, (lua_Number)guest_now_ns() / 1e9);
  return 1;
}

/* nb.notify(title, body, priority) or nb.notify{title=…, body=…, priority=…} */
static int notify(lua_State *L) {
  if (lua_istable(L, 1)) {
    at_most(L, 1, "it takes only one table");
    return invoke_with_table(L, "notify.user");
  }
  begin(L);
  put_string(L, "title", 1);
  if (!lua_isnoneornil(L, 2)) put_string(L, "body", 2);
  if (!lua_isnoneornil(L, 3)) put_string(L, "priority", 3);
  at_most(L, 3, "it takes only a title, a body and a priority");
  return finish(L, "notify.user");
}

/* ---- nb.kv ---- */

static int kv_get(lua_State *L) {
  begin(L);
  put_literal(L, "op", "get");
  put_string(L, "key", 1);
  at_most(L, 1, "it takes only a key");
  return finish(L, "kv.read");
}

static int kv_list(lua_State *L) {
  begin(L);
  put_literal(L, "op", "list");
  if (!lua_isnoneornil(L, 1)) put_string(L, "prefix", 1);
  if (!lua_isnoneornil(L, 2)) put_string(L, "after", 2);
  at_most(L, 2, "it takes a prefix and a key to go on after");
  return finish(L, "kv.read");
}

static int kv_set(lua_State *L) {
  luaL_checkany(L, 2);
  begin(L);
  put_literal(L, "op", "set");
  put_string(L, "key", 1);
  put_value(L, "value", 2);
  at_most(L, 2, "it takes only a key and a value");
  return finish(L, "kv.write");
}

static int kv_delete(lua_State *L) {
  begin(L);
  put_literal(L, "op", "delete");
  put_string(L, "key", 1);
  at_most(L, 1, "it takes only a key");
  return finish(L, "kv.write");
}

static int kv_increment(lua_State *L) {
  luaL_checkstring(L, 1);
  at_most(L, 2, "it takes only a key and a number");
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) {
    lua_pushinteger(L, 1);
    lua_replace(L, 2);
  }
  luaL_checknumber(L, 2);
  begin(L);
  put_literal(L, "op", "increment");
  put_string(L, "key", 1);
  put_value(L, "by", 2);
  return finish(L, "kv.write");
}

/* nb.kv.compare_and_set(key, expected, value) */
static int kv_compare_and_set(lua_State *L) {
  luaL_checkany(L, 3);
  begin(L);
  put_literal(L, "op", "compare_and_set");
  put_string(L, "key", 1);
  put_value(L, "expected", 2);
  put_value(L, "value", 3);
  at_most(L, 3, "it takes only a key, the expected value and the new one");
  return finish(L, "kv.write");
}

/* ---- nb.http, nb.log, nb.event ---- */

/* nb.http.fetch(url) or nb.http.fetch{method=…, url=…, headers=…, body=…, timeout_ms=…} */
static int http_fetch(lua_State *L) {
  if (lua_istable(L, 1)) {
    at_most(L, 1, "it takes only one table");
    return invoke_with_table(L, "http.fetch");
  }
  begin(L);
  put_string(L, "url", 1);
  at_most(L, 1, "it takes only an address, or one table with `url`, `method` and the like");
  return finish(L, "http.fetch");
}

/* A table is logged as JSON, unless it has a text of its own. */
static int log_message(lua_State *L, const char *ability) {
  luaL_checkany(L, 1);
  at_most(L, 1, "it takes only a message");
  bool as_json = lua_istable(L, 1) && luaL_getmetafield(L, 1, "__tostring") == LUA_TNIL;
  if (!as_json) luaL_tolstring(L, 1, NULL);
  begin(L);
  if (as_json) put_value(L, "message", 1);
  else put_string(L, "message", -1);
  return finish(L, ability);
}

static int log_info(lua_State *L) { return log_message(L, "log.info"); }

static int log_error(lua_State *L) { return log_message(L, "log.error"); }

static int event_publish(lua_State *L) {
  begin(L);
  put_string(L, "name", 1);
  if (!lua_isnoneornil(L, 2)) put_value(L, "data", 2);
  at_most(L, 2, "it takes only a name and data");
  return finish(L, "event.publish");
}

static void add_library(lua_State *L, const char *name, const luaL_Reg *functions) {
  lua_newtable(L);
  luaL_setfuncs(L, functions, 0);
  lua_setfield(L, -2, name);
}

void api_open(lua_State *L) {
  static const luaL_Reg nb[] = {{"call", call}, {"time", now}, {"notify", notify}, {NULL, NULL}};
  static const luaL_Reg kv[] = {
      {"get", kv_get},       {"set", kv_set},
      {"delete", kv_delete}, {"list", kv_list},
      {"increment", kv_increment}, {"compare_and_set", kv_compare_and_set},
      {NULL, NULL},
  };
  static const luaL_Reg http[] = {{"fetch", http_fetch}, {NULL, NULL}};
  static const luaL_Reg log[] = {{"info", log_info}, {"error", log_error}, {NULL, NULL}};
  static const luaL_Reg event[] = {{"publish", event_publish}, {NULL, NULL}};
  lua_newtable(L);
  luaL_setfuncs(L, nb, 0);
  add_library(L, "kv", kv);
  add_library(L, "http", http);
  add_library(L, "log", log);
  add_library(L, "event", event);
  lua_setglobal(L, "nb");
}
