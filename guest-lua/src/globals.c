/* The Lua state and the globals that a script sees: what computes, and nothing that reaches outside. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "lstate.h" /* luaE_setdebt: the public interface sets ratios, not a first time */


/* What a script may allocate before the first collection. A fresh state is small, so that Lua would collect at once,
 * and most calls are over before there is anything to gain. */
#define FIRST_COLLECTION_BYTES (512 << 10)

/*
 * While the image is prepared the host may not be asked, and memory that is given back is cleared, because all that
 * is not zero becomes a part of the component.
 */
static bool preparing = true;

uint64_t guest_now_ns(void) { return preparing ? 0 : nanobot_sandbox_host_now_ns(); }

static void *allocate(void *, void *block, size_t old_size, size_t new_size) {
  if (!preparing) {
    if (new_size > 0) return realloc(block, new_size);
    free(block);
    return NULL;
  }
  void *moved = NULL;
  if (new_size > 0) {
    moved = malloc(new_size);
    if (moved == NULL) return NULL;
    if (block != NULL) memcpy(moved, block, old_size < new_size ? old_size : new_size);
  }
  if (block != NULL) {
    memset(block, 0, old_size);
    free(block);
  }
  return moved;
}

/* A memory error outside of any protected call: there is nobody to tell. */
static int panic(lua_State *) { __builtin_trap(); }

/* ---- print ---- */

static Text line;

static int print_line(lua_State *L) {
  int count = lua_gettop(L);
  text_clear(&line);
  for (int i = 1; i <= count; i++) {
    size_t len;
    const char *text = luaL_tolstring(L, i, &len);
    if (i > 1) text_put(L, &line, "\t", 1);
    text_put_utf8(L, &line, text, len);
    lua_pop(L, 1);
  }
  interpreter_string_t out = {.ptr = (uint8_t *)line.at, .len = line.len};
  nanobot_sandbox_host_log(&out);
  return 0;
}

/* ---- load: text only, because a made-up binary chunk can read and write any memory of the instance ---- */

static int load_text(lua_State *L) {
  bool has_env = lua_gettop(L) >= 4;
  if (!lua_isstring(L, 1)) luaL_checktype(L, 1, LUA_TFUNCTION);
  const char *mode = luaL_optstring(L, 3, "t");
  bool is_binary = lua_isstring(L, 1) && *lua_tostring(L, 1) == *LUA_SIGNATURE;
  if (strchr(mode, 't') == NULL && !is_binary) {
    lua_pushnil(L);
    lua_pushfstring(L, "attempt to load a text chunk (mode is '%s')", mode);
    return 2;
  }
  lua_settop(L, has_env ? 4 : 3);
  lua_pushliteral(L, "t");
  lua_replace(L, 3);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, has_env ? 4 : 3, LUA_MULTRET);
  return lua_gettop(L);
}

/* ---- collectgarbage: what a script may know and ask for, not how the collector is tuned ---- */

static int collect_garbage(lua_State *L) {
  static const char *const options[] = {"collect", "count", "step", NULL};
  switch (luaL_checkoption(L, 1, "collect", options)) {
    case 1:
      lua_pushnumber(L, (lua_Number)lua_gc(L, LUA_GCCOUNT) + (lua_Number)lua_gc(L, LUA_GCCOUNTB) / 1024);
      return 1;
    case 2: lua_pushboolean(L, lua_gc(L, LUA_GCSTEP, 0)); return 1;
    default: lua_pushinteger(L, lua_gc(L, LUA_GCCOLLECT)); return 1;
  }
}

/* ---- math.random: seeded by the run, but only when it is used, because asking the host costs ---- */

static bool seeded = false;

/* The library's own. They run in place of ours, whose first upvalue is theirs, so that their errors name the function
 * that the script called. */
static lua_CFunction library_random, library_randomseed;

/* Upvalues: the library's state, the library's randomseed. */
static int seeded_random(lua_State *L) {
  if (!seeded) {
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushinteger(L, (lua_Integer)nanobot_sandbox_host_random());
    lua_pushinteger(L, (lua_Integer)nanobot_sandbox_host_random());
    lua_call(L, 2, 0);
    seeded = true;
  }
  return library_random(L);
}

/* Upvalue: the library's state. */
static int seed_random(lua_State *L) {
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    lua_pushinteger(L, (lua_Integer)nanobot_sandbox_host_random());
    lua_pushinteger(L, (lua_Integer)nanobot_sandbox_host_random());
  }
  seeded = true;
  return library_randomseed(L);
}

/* The table `math` is on top. */
static void seed_by_the_run(lua_State *L) {
  lua_getfield(L, -1, "random");
  lua_getfield(L, -2, "randomseed");
  library_random = lua_tocfunction(L, -2);
  library_randomseed = lua_tocfunction(L, -1);
  lua_getupvalue(L, -2, 1);
  lua_pushvalue(L, -1);
  lua_pushvalue(L, -3);
  lua_pushcclosure(L, seeded_random, 2);
  lua_setfield(L, -5, "random");
  lua_pushcclosure(L, seed_random, 1);
  lua_setfield(L, -4, "randomseed");
  lua_pop(L, 2);
}

/* ---- all of them ---- */

static void remove_field(lua_State *L, const char *name) {
  lua_pushnil(L);
  lua_setfield(L, -2, name);
}

static void open_libraries(lua_State *L) {
  static const luaL_Reg libraries[] = {
      {LUA_GNAME, luaopen_base},         {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
      {LUA_STRLIBNAME, luaopen_string},  {LUA_MATHLIBNAME, luaopen_math},    {LUA_UTF8LIBNAME, luaopen_utf8},
  };
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
}

static void restrict_libraries(lua_State *L) {
  lua_pushglobaltable(L);
  remove_field(L, "dofile");
  remove_field(L, "loadfile");
  remove_field(L, "warn"); /* writes to a standard error that is not there */
  lua_getfield(L, -1, "load");
  lua_pushcclosure(L, load_text, 1);
  lua_setfield(L, -2, "load");
  lua_pushcfunction(L, print_line);
  lua_setfield(L, -2, "print");
  lua_pushcfunction(L, collect_garbage);
  lua_setfield(L, -2, "collectgarbage");

  lua_getfield(L, -1, LUA_STRLIBNAME);
  remove_field(L, "dump");
  lua_pop(L, 1);

  lua_getfield(L, -1, LUA_MATHLIBNAME);
  seed_by_the_run(L);
  lua_pop(L, 2);
}

/* A state with the safe part of Lua's libraries. */
lua_State *globals_new_state(void) {
  lua_State *L = lua_newstate(allocate, NULL);
  if (L == NULL) __builtin_trap();
  lua_atpanic(L, panic);
  open_libraries(L);
  return L;
}

/* A state with the globals of a script. */
lua_State *globals_new(void) {
  lua_State *L = globals_new_state();
  compiler_push_view(L); /* takes copies of what it needs, before that is taken away from the scripts */
  lua_createtable(L, 0, 1);
  lua_insert(L, -2);
  lua_setfield(L, -2, "view");
  lua_setglobal(L, "fennel");
  restrict_libraries(L);
  json_open(L);
  api_open(L);
  lua_gc(L, LUA_GCCOLLECT);
  luaE_setdebt(G(L), -(l_mem)FIRST_COLLECTION_BYTES);
  return L;
}

/*
 * Takes what is free between the blocks of the image, for good. What a call allocates then lies together behind the
 * image, instead of in holes all over it: each page that a call writes has to be restored afterwards.
 *
 * FREE_BYTES stay free behind the image: enough for small calls, because growing a memory is a system call; and not
 * more, because the kernel looks at each page of it after each call, and what one large call wrote in it is restored
 * after each later call in the same place. What a memory grew by is given back.
 */
#define FREE_BYTES (32 << 10)

void globals_fill_holes(void) {
  const char *end = sbrk(0);
  for (size_t size = FREE_BYTES; size >= 8; size = size > 64 ? size / 2 : size - 8) {
    for (;;) {
      char *block = malloc(size);
      if (block == NULL || block >= end) {
        free(block);
        break;
      }
    }
  }
}

/* The image is complete: from here on the host is there. */
void globals_finish(void) { preparing = false; }
