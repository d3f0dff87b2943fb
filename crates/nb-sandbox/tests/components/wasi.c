/* A tool in C that uses the C library's files, output, clocks and environment. The variable `do` says what it does. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#include "tool.h"
#include "variables.h"

extern char **environ;

static char json[1 << 16];

static void open_array(void) { strcpy(json, "["); }

static void put(const char *item) {
  size_t len = strlen(json);
  snprintf(json + len, sizeof json - len, "%s\"%s\"", len > 1 ? "," : "", item);
}

static void close_array(void) { strcat(json, "]"); }

static void outcome(int status) { snprintf(json, sizeof json, "\"%s\"", status < 0 ? strerror(errno) : "done"); }

static void read_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return outcome(-1);
  char content[200];
  content[fread(content, 1, sizeof content - 1, file)] = 0;
  content[strcspn(content, "\n")] = 0;
  snprintf(json, sizeof json, "{\"content\":\"%s\"}", content);
}

static void list_folder(const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL) return outcome(-1);
  open_array();
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] != '.') put(entry->d_name);
  }
  close_array();
}

static void list_preopens(void) {
  open_array();
  __wasi_prestat_t prestat;
  for (__wasi_fd_t fd = 3; __wasi_fd_prestat_get(fd, &prestat) == 0; fd++) {
    char name[200] = {0};
    if (__wasi_fd_prestat_dir_name(fd, (uint8_t *)name, prestat.u.dir.pr_name_len) == 0) put(name);
  }
  close_array();
}

static void list_environment(void) {
  open_array();
  if (getenv("HOME") != NULL) put("HOME");
  if (getenv("PATH") != NULL) put("PATH");
  for (char **variable = environ; variable != NULL && *variable != NULL; variable++) put(*variable);
  size_t arguments, size;
  if (__wasi_args_sizes_get(&arguments, &size) == 0 && arguments > 0) put("arguments");
  close_array();
}

/* Opens a file again and again, without closing it. */
static void open_many(const char *path) {
  int opened = 0;
  while (open(path, O_RDONLY) >= 0) opened++;
  snprintf(json, sizeof json, "%d", opened);
}

static void print_lines(void) {
  for (long i = number("times"); i > 0; i--) printf("%s\n", text("line"));
  fprintf(stderr, "%s", text("error"));
  fflush(stdout);
}

static void tell_the_host(const char *what) {
  tool_string_t ability = {(uint8_t *)what, strlen(what)}, args = {(uint8_t *)"{}", 2}, answer, refusal;
  nanobot_sandbox_host_invoke(&ability, &args, &answer, &refusal);
}

static void run(const char *what) {
  const char *path = text("path");
#define WHEN(name) if (strcmp(what, name) == 0)
  WHEN("read") read_file(path);
  WHEN("list") list_folder(path);
  WHEN("preopens") list_preopens();
  WHEN("environment") list_environment();
  WHEN("write") outcome(open(path, O_WRONLY));
  WHEN("append") outcome(open(path, O_WRONLY | O_APPEND));
  WHEN("truncate") outcome(open(path, O_RDONLY | O_TRUNC));
  WHEN("create") outcome(open(path, O_RDWR | O_CREAT, 0600));
  WHEN("make folder") outcome(mkdir(path, 0700));
  WHEN("delete") outcome(unlink(path));
  WHEN("delete folder") outcome(rmdir(path));
  WHEN("rename") outcome(rename(path, text("to")));
  WHEN("hard link") outcome(link(path, text("to")));
  WHEN("symbolic link") outcome(symlink(text("to"), path));
  WHEN("set times") outcome(utimensat(AT_FDCWD, path, NULL, 0));
  WHEN("read standard input") snprintf(json, sizeof json, "%d", getchar());
  WHEN("open many") open_many(path);
  WHEN("print") print_lines();
  WHEN("print for ever") {
    for (;;) puts("a line");
  }
  WHEN("sleep") {
    tell_the_host("asleep");
    sleep(3600);
  }
  WHEN("nap for ever") {
    tell_the_host("asleep");
    for (;;) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  WHEN("exit") exit((int)number("code"));
  WHEN("much randomness") {
    static uint8_t bytes[1 << 20];
    outcome(__wasi_random_get(bytes, sizeof bytes) == 0 ? 0 : -1);
  }
}

bool exports_tool_run(tool_list_u8_t *, tool_string_t *given, tool_string_t *result, tool_script_error_t *) {
  keep_variables(given->ptr, given->len);
  strcpy(json, "null");
  run(text("do"));
  tool_string_dup(result, json);
  return true;
}
