/* A tool in C without WASI. The variable `do` says what it does. */
#include "tool.h"
#include "variables.h"

static int calls; /* of this instance */

static tool_string_t borrowed(const char *text) { return (tool_string_t){(uint8_t *)text, strlen(text)}; }

static void answer(tool_string_t *result, const char *json) { tool_string_dup(result, json); }

static void answer_number(tool_string_t *result, long n) {
  char digits[24], *at = digits + sizeof digits;
  *--at = 0;
  do *--at = (char)('0' + n % 10);
  while ((n /= 10) > 0);
  answer(result, at);
}

/* A JSON text of so many bytes. */
static char *filled(size_t size) {
  char *json = malloc(size + 1);
  memset(json, 'x', size);
  json[0] = json[size - 1] = '"';
  json[size] = 0;
  return json;
}

static bool refuse(tool_script_error_t *error, tool_string_t message) {
  memset(error, 0, sizeof *error);
  error->kind = NANOBOT_SANDBOX_HOST_ERROR_KIND_RUNTIME;
  error->message = message;
  return false;
}

static bool fail_at_a_position(tool_script_error_t *error) {
  refuse(error, (tool_string_t){0});
  tool_string_dup(&error->message, "the soup is cold");
  tool_string_dup(&error->traceback, "soup.c:12: in serve\nsoup.c:40: in run");
  error->position.is_some = true;
  tool_string_dup(&error->position.val.file, "soup.c");
  error->position.val.line = 12;
  error->position.val.column.is_some = true;
  error->position.val.column.val = 5;
  return false;
}

/* Asks the host once, or `times` times, or for ever if that is negative; with `size` bytes. The last answer is the result. */
static bool invoke(tool_string_t *result, tool_script_error_t *error) {
  tool_string_t ability = borrowed("test.ability");
  long size = number("size");
  tool_string_t args = borrowed(size > 1 ? filled((size_t)size) : "{\"from\":\"C\"}");
  long times = number("times");
  do {
    tool_string_t refusal;
    if (!nanobot_sandbox_host_invoke(&ability, &args, result, &refusal)) return refuse(error, refusal);
  } while (times < 0 || --times > 0);
  return true;
}

static void log_lines(const char *line, long times) {
  tool_string_t text = borrowed(line);
  while (times-- != 0) nanobot_sandbox_host_log(&text);
}

static void spin(void) {
  for (;;) __asm__ volatile("");
}

static long allocate_until_there_is_no_more(void) {
  long blocks = 0;
  for (char *block; (block = malloc(1 << 20)) != NULL; blocks++) *(volatile char *)block = 1;
  return blocks;
}

static long recurse(volatile long depth) { return depth < 0 ? 0 : recurse(depth + 1) + depth; }

static bool run(const char *what, tool_string_t *result, tool_script_error_t *error) {
#define WHEN(name) if (strcmp(what, name) == 0)
  WHEN("invoke") return invoke(result, error);
  WHEN("fail") return fail_at_a_position(error);
  WHEN("fail large") return refuse(error, borrowed(filled((size_t)number("size"))));
  WHEN("echo") answer(result, variables);
  WHEN("add") answer_number(result, number("a") + number("b"));
  WHEN("count calls") answer_number(result, ++calls);
  WHEN("time") answer_number(result, (long)(nanobot_sandbox_host_now_ns() / 1000000000));
  WHEN("random") answer_number(result, (long)nanobot_sandbox_host_random());
  WHEN("log") log_lines(text("line"), number("times"));
  WHEN("ask the clock") for (;;) nanobot_sandbox_host_now_ns();
  WHEN("spin") spin();
  WHEN("wait, then spin") {
    invoke(result, error);
    spin();
  }
  WHEN("allocate") {
    allocate_until_there_is_no_more();
    __builtin_trap();
  }
  WHEN("allocate and go on") answer_number(result, allocate_until_there_is_no_more() > 0);
  WHEN("recurse") answer_number(result, recurse(1));
  WHEN("trap") __builtin_trap();
  WHEN("large") *result = borrowed(filled((size_t)number("size")));
  WHEN("say") *result = borrowed(text("what"));
  WHEN("not UTF-8") *result = borrowed("\"\xFF\"");
  WHEN("nowhere") *result = (tool_string_t){(uint8_t *)0xFFFFFF00u, 64};
  if (result->ptr == NULL) answer(result, "null");
  return true;
}

bool exports_tool_run(tool_list_u8_t *chunk, tool_string_t *given, tool_string_t *result,
                      tool_script_error_t *error) {
  if (chunk->len != 0) __builtin_trap();
  *result = (tool_string_t){0};
  keep_variables(given->ptr, given->len);
  return run(text("do"), result, error);
}
