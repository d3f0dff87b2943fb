/* `require` for the files below tools/lib of the package. It is there only when there are such files. */
#include <string.h>

#include "guest.h"

static char loaded_key;  /* its address is the registry key of the table: name → value */
static char loading_key; /* its address stands for a module that is being loaded */

static Program modules; /* all parts but the script; read again at each `require`, because few are made */

/* The folders that may stand in front of a module's name. */
static const char *const folders[] = {"", "lib.", "tools.lib."};
enum { FOLDERS = sizeof folders / sizeof *folders };

static bool means_below(const char *folder, const char *name, size_t len, const char *module, size_t module_len) {
  size_t skip = strlen(folder);
  return len == skip + module_len && memcmp(name, folder, skip) == 0 && memcmp(name + skip, module, module_len) == 0;
}

bool require_means(const char *name, size_t len, const char *module, size_t module_len) {
  for (size_t i = 0; i < FOLDERS; i++) {
    if (means_below(folders[i], name, len, module, module_len)) return true;
  }
  return false;
}

static bool find(const char *name, size_t len, Part *module) {
  for (size_t i = 0; i < FOLDERS; i++) {
    Program rest = modules;
    while (program_next(&rest, module)) {
      if (means_below(folders[i], name, len, module->name, module->name_len)) return true;
    }
  }
  return false;
}

static int not_found(lua_State *L, const char *name) {
  luaL_Buffer names;
  Program rest = modules;
  Part module;
  const char *comma = "";
  luaL_buffinit(L, &names);
  while (program_next(&rest, &module)) {
    luaL_addstring(&names, comma);
    luaL_addlstring(&names, module.name, module.name_len);
    comma = ", ";
  }
  luaL_pushresult(&names);
  return luaL_error(L, "module '%s' not found; tools/lib has %s", name, lua_tostring(L, -1));
}

static int require(lua_State *L) {
  size_t len;
  const char *name = luaL_checklstring(L, 1, &len);
  Part module;
  if (!find(name, len, &module)) return not_found(L, name);
  if (module.code_len == 0) {
    return luaL_error(L, "module '%s' is not compiled into this tool: `require` needs its name as a literal text", name);
  }
  lua_settop(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
  lua_pushlstring(L, module.name, module.name_len);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, 2) != LUA_TNIL) {
    if (lua_touserdata(L, -1) == &loading_key) {
      return luaL_error(L, "module '%s' requires itself, or failed when it was required before", name);
    }
    return 1;
  }
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_pushlightuserdata(L, &loading_key);
  lua_rawset(L, 2);
  if (luaL_loadbufferx(L, module.code, module.code_len, "=module", "b") != LUA_OK) return lua_error(L);
  failure_expect_source(L);
  lua_pushvalue(L, -2);
  lua_call(L, 1, 1);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
  }
  lua_pushvalue(L, -2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 2);
  return 1;
}

/* Lets a script require the parts that are left in `program`, if there are any. */
void require_open(lua_State *L, const Program *program) {
  if (program->left == 0) return;
  modules = *program;
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded_key);
  lua_pushcfunction(L, require);
  lua_setglobal(L, "require");
}
