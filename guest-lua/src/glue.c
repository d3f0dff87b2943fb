/* The component's exports: init, compile, run. */
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "tool.h"

static lua_State *compiler, *scripts;

void exports_tool_init(void) {
  if (scripts != NULL) return;
  compiler = compiler_new();
  globals_fill_holes(); /* so that what a script uses lies together as well */
  scripts = globals_new();
  compiler_forget_sources();
  globals_fill_holes();
  globals_finish();
}

/* ---- answers: memory that the generated code gives back after the call ---- */

/* Hands a text over; it is empty afterwards. */
static tool_string_t take(Text *text) {
  tool_string_t string = {.ptr = (uint8_t *)text->at, .len = text->len};
  *text = (Text){0};
  return string;
}

static void take_failure(tool_script_error_t *error) {
  error->kind = (tool_error_kind_t)failure.kind;
  error->message = take(&failure.message);
  error->line.is_some = failure.has_line;
  error->line.val = failure.line;
  error->traceback = take(&failure.traceback);
}

/* Does its work for a request; leaves its error in `failure` and answers false, or raises one. */
typedef bool Body(lua_State *L, void *request);

typedef struct {
  Body *body;
  void *request;
} Protected;

static int call_body(lua_State *L) {
  Protected *call = lua_touserdata(L, 1);
  lua_settop(L, 0);
  lua_pushboolean(L, call->body(L, call->request));
  return 1;
}

static bool protect(lua_State *state, Body *body, void *request, tool_script_error_t *error) {
  static const char handling[] = "an error was raised while another one was handled";
  Protected call = {.body = body, .request = request};
  lua_settop(state, 0);
  lua_pushcfunction(state, failure_handler);
  lua_pushcfunction(state, call_body);
  lua_pushlightuserdata(state, &call);
  int status = lua_pcall(state, 1, 1, 1);
  if (status == LUA_OK && lua_toboolean(state, -1)) return true;
  if (status == LUA_ERRMEM) failure_out_of_memory();
  if (status == LUA_ERRERR) failure_set(state, TOOL_ERROR_KIND_RUNTIME, handling, strlen(handling));
  take_failure(error);
  return false;
}

/* ---- compile ---- */

typedef struct {
  tool_lang_t lang;
  tool_string_t *name, *source;
  Text bytecode;
} Compilation;

static int write_bytecode(lua_State *, const void *bytes, size_t len, void *bytecode) {
  return text_try_put(bytecode, bytes, len) ? 0 : 1;
}

static bool compile(lua_State *L, void *request) {
  Compilation *c = request;
  lua_pushlstring(L, (const char *)c->name->ptr, c->name->len); /* with the zero that Lua's C interface wants */
  const char *name = lua_tostring(L, -1);
  bool fennel = c->lang == TOOL_LANG_FENNEL;
  if (!compiler_compile(L, fennel, name, (const char *)c->source->ptr, c->source->len)) return false;
  const int keep_lines = 0;
  if (lua_dump(L, write_bytecode, &c->bytecode, keep_lines) != 0) luaL_error(L, "not enough memory");
  return true;
}

bool exports_tool_compile(tool_lang_t lang, tool_string_t *name, tool_string_t *source, tool_list_u8_t *chunk,
                          tool_script_error_t *error) {
  Compilation compilation = {.lang = lang, .name = name, .source = source};
  exports_tool_init();
  bool compiled = protect(compiler, compile, &compilation, error);
  tool_string_free(name);
  tool_string_free(source);
  if (!compiled) return false;
  chunk->ptr = (uint8_t *)compilation.bytecode.at;
  chunk->len = compilation.bytecode.len;
  return true;
}

/* ---- run ---- */

typedef struct {
  tool_list_u8_t *chunk;
  tool_string_t *variables;
  Text result;
} Run;

static bool load_chunk(lua_State *L, tool_list_u8_t *chunk) {
  static const char refused[] = "this chunk was not compiled by this component";
  int status = luaL_loadbufferx(L, (const char *)chunk->ptr, chunk->len, "=chunk", "b");
  if (status == LUA_ERRSYNTAX) {
    failure_set(L, TOOL_ERROR_KIND_CHUNK, refused, strlen(refused));
    return false;
  }
  if (status != LUA_OK) lua_error(L);
  failure_expect_source(L);
  return true;
}

/* Each key of the object becomes a global. */
static bool set_variables(lua_State *L, tool_string_t *variables) {
  const char *error = json_decode(L, (const char *)variables->ptr, variables->len);
  if (error == NULL && !json_is_object(L, -1)) error = lua_pushliteral(L, "an object was expected");
  if (error != NULL) {
    error = lua_pushfstring(L, "the variables are not a JSON object: %s", error);
    failure_set(L, TOOL_ERROR_KIND_VALUE, error, strlen(error));
    return false;
  }
  int object = lua_gettop(L);
  lua_pushglobaltable(L);
  lua_pushnil(L);
  while (lua_next(L, object)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  lua_settop(L, object - 1);
  return true;
}

static bool run(lua_State *L, void *request) {
  Run *r = request;
  if (!load_chunk(L, r->chunk) || !set_variables(L, r->variables)) return false;
  lua_call(L, 0, 1);
  failure_writing_result();
  json_encode(L, -1, &r->result);
  return true;
}

bool exports_tool_run(tool_list_u8_t *chunk, tool_string_t *variables, tool_string_t *result,
                      tool_script_error_t *error) {
  Run request = {.chunk = chunk, .variables = variables};
  exports_tool_init();
  bool ran = protect(scripts, run, &request, error);
  tool_list_u8_free(chunk);
  tool_string_free(variables);
  if (ran) *result = take(&request.result);
  return ran;
}
