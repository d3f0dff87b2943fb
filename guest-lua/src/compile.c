/* The component's export compile: a script, and the modules that it requires, as one chunk. */
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "lobject.h" /* the constants of a compiled function: the public interface does not show them */
#include "lstring.h"

typedef struct {
  interpreter_module_t *module;
  Text code;
  bool wanted;
} Wanted;

typedef struct {
  interpreter_source_t *script;
  interpreter_list_module_t *modules;
  Text chunk;
} Compilation;

static int write_bytecode(lua_State *, const void *bytes, size_t len, void *bytecode) {
  return text_try_put(bytecode, bytes, len) ? 0 : 1;
}

static void want(const char *name, size_t len, Wanted *wanted, size_t count) {
  for (size_t i = 0; i < count; i++) {
    interpreter_string_t *module = &wanted[i].module->name;
    if (require_means(name, len, (const char *)module->ptr, module->len)) wanted[i].wanted = true;
  }
}

typedef void Visit(const char *text, size_t len, void *context);

static void each_text(const Proto *function, Visit *visit, void *context) {
  for (int i = 0; i < function->sizek; i++) {
    const TValue *constant = &function->k[i];
    if (ttisstring(constant)) visit(getstr(tsvalue(constant)), tsslen(tsvalue(constant)), context);
  }
  for (int i = 0; i < function->sizep; i++) each_text(function->p[i], visit, context);
}

static void look_for_require(const char *text, size_t len, void *found) {
  if (len == strlen("require") && memcmp(text, "require", len) == 0) *(bool *)found = true;
}

typedef struct {
  Wanted *wanted;
  size_t count;
} All;

static void look_for_modules(const char *text, size_t len, void *context) {
  All *all = context;
  want(text, len, all->wanted, all->count);
}

/* Compiles one file, and marks the modules whose names stand in it if it uses `require`. */
static bool compile_file(lua_State *L, interpreter_source_t *source, Text *code, All *all) {
  lua_pushlstring(L, (const char *)source->file.ptr, source->file.len); /* with the zero that C wants */
  const char *file = lua_tostring(L, -1);
  bool fennel = source->lang == INTERPRETER_LANG_FENNEL;
  if (!compiler_compile(L, fennel, file, (const char *)source->text.ptr, source->text.len)) return false;
  const int keep_lines = 0;
  if (lua_dump(L, write_bytecode, code, keep_lines) != 0) luaL_error(L, "not enough memory");
  const Proto *function = ((const LClosure *)lua_topointer(L, -1))->p;
  bool requires = false;
  each_text(function, look_for_require, &requires);
  if (requires) each_text(function, look_for_modules, all);
  lua_settop(L, 0);
  return true;
}

static Wanted *list_modules(lua_State *L, interpreter_list_module_t *modules) {
  Wanted *wanted = calloc(modules->len + 1, sizeof *wanted);
  if (wanted == NULL) luaL_error(L, "not enough memory");
  for (size_t i = 0; i < modules->len; i++) {
    interpreter_source_t *source = &modules->ptr[i].source;
    wanted[i].module = &modules->ptr[i];
    lua_pushlstring(L, (const char *)source->file.ptr, source->file.len);
    compiler_add_file(L, lua_tostring(L, -1), (const char *)source->text.ptr, source->text.len);
    lua_pop(L, 1);
  }
  return wanted;
}

static bool put(Text *chunk, interpreter_string_t *name, const Text *code) {
  return program_put(chunk, (const char *)name->ptr, name->len, code->at, code->len);
}

static bool compile(lua_State *L, void *request) {
  Compilation *c = request;
  if (c->modules->len >= PROGRAM_MAX_PARTS) luaL_error(L, "a tool can have %d modules", PROGRAM_MAX_PARTS - 1);
  All all = {.wanted = list_modules(L, c->modules), .count = c->modules->len};
  Text script = {0};
  if (!compile_file(L, c->script, &script, &all)) return false;
  for (size_t i = 0; i < all.count;) {
    Wanted *next = &all.wanted[i++];
    if (!next->wanted || next->code.len > 0) continue;
    if (!compile_file(L, &next->module->source, &next->code, &all)) return false;
    i = 0; /* it may want one that was passed over */
  }
  bool written = program_begin(&c->chunk, (int)all.count + 1) && put(&c->chunk, &c->script->file, &script);
  for (size_t i = 0; i < all.count && written; i++) {
    written = put(&c->chunk, &all.wanted[i].module->name, &all.wanted[i].code);
  }
  if (!written) luaL_error(L, "not enough memory");
  return true;
}

bool exports_interpreter_compile(interpreter_source_t *source, interpreter_list_module_t *modules,
                                 interpreter_list_u8_t *chunk, interpreter_script_error_t *error) {
  Compilation compilation = {.script = source, .modules = modules};
  if (!glue_protect(glue_compiler(), compile, &compilation, error)) return false;
  chunk->ptr = (uint8_t *)compilation.chunk.at;
  chunk->len = compilation.chunk.len;
  return true;
}
