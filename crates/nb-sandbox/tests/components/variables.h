/* Reads the variables of a call as far as the fixtures need it: members of one flat object, without escapes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *variables; /* with a zero at its end */

static void keep_variables(const uint8_t *at, size_t len) {
  variables = malloc(len + 1);
  memcpy(variables, at, len);
  variables[len] = 0;
}

/* What stands behind `"key":`, or an empty text. */
static const char *member(const char *key) {
  size_t len = strlen(key);
  for (const char *at = variables; (at = strstr(at, key)) != NULL; at += len) {
    if (at > variables && at[-1] == '"' && at[len] == '"' && at[len + 1] == ':') return at + len + 2;
  }
  return "";
}

static long number(const char *key) { return atol(member(key)); }

static char *text(const char *key) {
  const char *at = member(key);
  if (*at != '"') return strdup("");
  return strndup(at + 1, strcspn(at + 1, "\""));
}
