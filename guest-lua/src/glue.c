/* The component's exports init and run, and what they share with compile.c. */
#include <stdlib.h>
#include <string.h>

#include "guest.h"


static lua_State *compiler, *scripts;

void exports_interpreter_init(void) {
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
static interpreter_string_t take(Text *text) {
  interpreter_string_t string = {.ptr = (uint8_t *)text->at, .len = text->len};
  *text = (Text){0};
  return string;
}

static void take_failure(interpreter_script_error_t *error) {
  error->kind = (nanobot_sandbox_host_error_kind_t)failure.kind;
  error->message = take(&failure.message);
  error->position.is_some = failure.file != NULL;
  if (failure.file != NULL) {
    interpreter_string_dup(&error->position.val.file, failure.file);
    error->position.val.line = failure.line;
    error->position.val.column.is_some = failure.column > 0;
    error->position.val.column.val = failure.column;
  }
  error->traceback = take(&failure.traceback);
}

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

lua_State *glue_compiler(void) {
  exports_interpreter_init();
  return compiler;
}

/* Runs a body, which leaves its error in `failure` and answers false, or raises one. */
bool glue_protect(lua_State *state, Body *body, void *request, interpreter_script_error_t *error) {
  static const char handling[] = "an error was raised while another one was handled";
  Protected call = {.body = body, .request = request};
  lua_settop(state, 0);
  lua_pushcfunction(state, failure_handler);
  lua_pushcfunction(state, call_body);
  lua_pushlightuserdata(state, &call);
  int status = lua_pcall(state, 1, 1, 1);
  if (status == LUA_OK && lua_toboolean(state, -1)) return true;
  if (status == LUA_ERRMEM) failure_out_of_memory();
  if (status == LUA_ERRERR) failure_set(state, NANOBOT_SANDBOX_HOST_ERROR_KIND_RUNTIME, handling, strlen(handling));
  take_failure(error);
  return false;
}

/* ---- run ---- */

typedef struct {
  interpreter_list_u8_t *chunk;
  interpreter_string_t *variables;
  Text result;
} Run;

static bool load_chunk(lua_State *L, interpreter_list_u8_t *chunk) {
  static const char refused[] = "this chunk was not compiled by this component";
  Program program;
  Part script;
  int status = LUA_ERRSYNTAX;
  if (program_open(&program, (const char *)chunk->ptr, chunk->len) && program_next(&program, &script)) {
    status = luaL_loadbufferx(L, script.code, script.code_len, "=chunk", "b");
  }
  if (status == LUA_ERRSYNTAX) {
    failure_set(L, NANOBOT_SANDBOX_HOST_ERROR_KIND_CHUNK, refused, strlen(refused));
    return false;
  }
  if (status != LUA_OK) lua_error(L);
  failure_expect_source(L);
  require_open(L, &program);
  return true;
}

/* Each key of the object becomes a global. */
static bool set_variables(lua_State *L, interpreter_string_t *variables) {
  const char *error = json_decode(L, (const char *)variables->ptr, variables->len);
  if (error == NULL && !json_is_object(L, -1)) error = lua_pushliteral(L, "an object was expected");
  if (error != NULL) {
    error = lua_pushfstring(L, "the variables are not a JSON object: %s", error);
    failure_set(L, NANOBOT_SANDBOX_HOST_ERROR_KIND_VALUE, error, strlen(error));
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

bool exports_interpreter_run(interpreter_list_u8_t *chunk, interpreter_string_t *variables, interpreter_string_t *result,
                      interpreter_script_error_t *error) {
  Run request = {.chunk = chunk, .variables = variables};
  exports_interpreter_init();
  bool ran = glue_protect(scripts, run, &request, error);
  interpreter_list_u8_free(chunk);
  interpreter_string_free(variables);
  if (ran) *result = take(&request.result);
  return ran;
}
