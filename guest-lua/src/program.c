/*
 * A chunk: a compiled script with its modules, as `compile` writes it and `run` reads it.
 *
 * It begins with four bytes: a mark, the version of the form, and the count of its parts. The first part is the
 * script, the others are modules; a part is two lengths of four bytes each, then the name, then the bytecode. A module
 * that the script does not require by a literal name is there without bytecode, so that `require` can tell it from one
 * that does not exist.
 */
#include <string.h>

#include "guest.h"

static const char mark[] = {'N', 'b', 2};

bool program_begin(Text *chunk, int parts) {
  unsigned char count = (unsigned char)parts;
  return text_try_put(chunk, mark, sizeof mark) && text_try_put(chunk, (const char *)&count, 1);
}

bool program_put(Text *chunk, const char *name, size_t name_len, const char *code, size_t code_len) {
  uint32_t lengths[] = {(uint32_t)name_len, (uint32_t)code_len};
  return text_try_put(chunk, (const char *)lengths, sizeof lengths) && text_try_put(chunk, name, name_len) &&
         text_try_put(chunk, code, code_len);
}

static bool take(Program *program, size_t len, const char **bytes) {
  if ((size_t)(program->end - program->at) < len) return false;
  *bytes = program->at;
  program->at += len;
  return true;
}

/* Begins to read; `program_next` gives the parts one after the other. False when this is no chunk. */
bool program_open(Program *program, const char *bytes, size_t len) {
  const char *head;
  *program = (Program){.at = bytes, .end = bytes + len};
  if (!take(program, sizeof mark + 1, &head) || memcmp(head, mark, sizeof mark) != 0) return false;
  program->left = (unsigned char)head[sizeof mark];
  return program->left > 0;
}

/* False when there is no further part, or when it is cut off. */
bool program_next(Program *program, Part *part) {
  const char *lengths;
  if (program->left == 0 || !take(program, 8, &lengths)) return false;
  uint32_t name_len, code_len;
  memcpy(&name_len, lengths, 4);
  memcpy(&code_len, lengths + 4, 4);
  program->left--;
  part->name_len = name_len;
  part->code_len = code_len;
  return take(program, name_len, &part->name) && take(program, code_len, &part->code);
}
