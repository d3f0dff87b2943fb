/* Source text to chunk: Lua's own compiler, and Fennel's, which is a Lua program. */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "guest.h"

/* Not const: these texts are cleared once they are loaded, so that the image need not carry them. */
static char fennel_source[] = {
#embed "fennel.lua"
};
static char places_source[] = {
#embed "places.lua"
};
static char compiler_source[] = {
#embed "compiler.lua"
};

/* Their addresses are the registry keys of compiler.lua's functions. */
static char compile_key, add_file_key;

static void load_embedded(lua_State *L, const char *source, size_t len, const char *name) {
  if (luaL_loadbufferx(L, source, len, name, "t") != LUA_OK) __builtin_trap();
}

static void call_embedded(lua_State *L, int arguments, int results) {
  if (lua_pcall(L, arguments, results, 0) != LUA_OK) __builtin_trap();
}

/* Pushes a new table with all globals in it. */
static void push_globals_copy(lua_State *L) {
  lua_newtable(L);
  lua_pushglobaltable(L);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -5);
  }
  lua_pop(L, 1);
}

/* load_fennel(env) */
static int load_fennel(lua_State *L) {
  lua_settop(L, 1);
  load_embedded(L, fennel_source, sizeof fennel_source, "=fennel");
  lua_pushvalue(L, 1);
  lua_setupvalue(L, -2, 1);
  lua_call(L, 0, 1);
  load_embedded(L, places_source, sizeof places_source, "=places");
  lua_pushvalue(L, -2);
  lua_call(L, 1, 0);
  return 1;
}

/*
 * A state for the compiler alone. A script must not share it: its garbage collector would walk, and write to, all of
 * Fennel, and every page of that would have to be restored after each later call in the same place.
 */
lua_State *compiler_new(void) {
  lua_State *L = globals_new_state();
  load_embedded(L, compiler_source, sizeof compiler_source, "=compiler");
  lua_pushcfunction(L, load_fennel);
  push_globals_copy(L);
  luaL_requiref(L, LUA_DBLIBNAME, luaopen_debug, 0); /* Fennel's own tracebacks */
  lua_setfield(L, -2, LUA_DBLIBNAME);
  call_embedded(L, 2, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &add_file_key);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &compile_key);
  lua_gc(L, LUA_GCCOLLECT);
  return L;
}

/* Pushes `fennel.view` and loads no more of Fennel than that module. */
void compiler_push_view(lua_State *L) {
  static const char start[] = "\npackage.preload[\"fennel.view\"]", next[] = "\npackage.preload[";
  const char *end = fennel_source + sizeof fennel_source;
  const char *module = memmem(fennel_source, sizeof fennel_source, start, strlen(start));
  if (module == NULL) __builtin_trap();
  const char *module_end = memmem(module + 1, (size_t)(end - module - 1), next, strlen(next));
  if (module_end == NULL) __builtin_trap();

  push_globals_copy(L);
  lua_newtable(L);
  lua_newtable(L);
  lua_setfield(L, -2, "preload");
  lua_setfield(L, -2, "package");
  load_embedded(L, module, (size_t)(module_end - module), "=fennel.view");
  lua_pushvalue(L, -2);
  lua_setupvalue(L, -2, 1);
  call_embedded(L, 0, 0);
  lua_getfield(L, -1, "package");
  lua_getfield(L, -1, "preload");
  lua_getfield(L, -1, "fennel.view");
  call_embedded(L, 0, 1);
  lua_insert(L, -4);
  lua_pop(L, 2);
  lua_pushnil(L);
  lua_setfield(L, -2, "package");
  lua_pop(L, 1);
}

/* All states are made: the texts are of no more use. */
void compiler_forget_sources(void) {
  memset(fennel_source, 0, sizeof fennel_source);
  memset(places_source, 0, sizeof places_source);
  memset(compiler_source, 0, sizeof compiler_source);
}

/* A file that a Fennel macro may come from. */
void compiler_add_file(lua_State *L, const char *file, const char *text, size_t len) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &add_file_key);
  lua_pushstring(L, file);
  lua_pushlstring(L, text, len);
  lua_call(L, 2, 0);
}

/* Replaces what it is told about by the Lua source on the stack; or tells `failure` and returns false. */
static bool translate(lua_State *L, const char *file, const char *text, size_t len) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &compile_key);
  lua_pushlstring(L, text, len);
  lua_pushstring(L, file);
  lua_call(L, 2, 5);
  if (!lua_isnil(L, -5)) {
    lua_pop(L, 4);
    return true;
  }
  size_t message_len;
  const char *message = lua_tolstring(L, -4, &message_len);
  failure_set(L, NANOBOT_SANDBOX_HOST_ERROR_KIND_SYNTAX, message, message_len);
  if (lua_isstring(L, -3)) {
    failure.file = lua_tostring(L, -3); /* the files of a compilation are kept by compiler.lua */
    failure.line = (uint32_t)lua_tointeger(L, -2);
    failure.column = (uint32_t)lua_tointeger(L, -1);
  }
  return false;
}

static Text chunk_name;

/* Pushes the function that a source text is; or tells `failure` and returns false. */
bool compiler_compile(lua_State *L, bool fennel, const char *file, const char *text, size_t len) {
  text_clear(&chunk_name);
  text_put(L, &chunk_name, "@", 1);
  text_put(L, &chunk_name, file, strlen(file) + 1);
  luaL_loadbufferx(L, "", 0, chunk_name.at, "t"); /* only for how Lua writes this name */
  failure_expect_source(L);
  lua_pop(L, 1);
  if (fennel) {
    if (!translate(L, file, text, len)) return false;
    text = lua_tolstring(L, -1, &len);
  }
  int status = luaL_loadbufferx(L, text, len, chunk_name.at, "t");
  if (status == LUA_OK) return true;
  if (status == LUA_ERRMEM) lua_error(L);
  text = lua_tolstring(L, -1, &len);
  failure_set(L, NANOBOT_SANDBOX_HOST_ERROR_KIND_SYNTAX, text, len);
  return false;
}
