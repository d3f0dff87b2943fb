/* JSON text (RFC 8259) to a Lua value. */
#include <math.h>
#include <string.h>

#include "guest.h"

#define MAX_NUMBER 512 /* characters; the longest double that means something is shorter */

typedef struct {
  lua_State *L;
  const char *start, *at, *end;
  const char *error;
} Reader;

static Text reader_scratch; /* kept, so that an error that Lua raises half-way does not lose it */

static bool read_value(Reader *r, int depth);

static bool fail(Reader *r, const char *error) {
  if (r->error == NULL) r->error = error;
  return false;
}

static void skip_space(Reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) r->at++;
}

static bool at_digit(const Reader *r) { return r->at < r->end && *r->at >= '0' && *r->at <= '9'; }

static bool skip_digits(Reader *r) {
  if (!at_digit(r)) return false;
  while (at_digit(r)) r->at++;
  return true;
}

static bool read_number(Reader *r) {
  const char *start = r->at;
  bool integer = true;
  if (*r->at == '-') r->at++;
  if (r->at < r->end && *r->at == '0') {
    r->at++;
  } else if (!skip_digits(r)) {
    return fail(r, "a number needs a digit");
  }
  if (r->at < r->end && *r->at == '.') {
    integer = false;
    r->at++;
    if (!skip_digits(r)) return fail(r, "a number needs a digit after its point");
  }
  if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
    integer = false;
    r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
    if (!skip_digits(r)) return fail(r, "a number needs a digit in its exponent");
  }
  size_t len = (size_t)(r->at - start);
  if (integer && len <= 19) { /* 18 digits and a sign always fit into 64 bits; 19 digits may not */
    bool negative = *start == '-';
    uint64_t value = 0;
    for (const char *c = start + negative; c < r->at; c++) value = value * 10 + (uint64_t)(*c - '0');
    if (value <= INT64_MAX) {
      lua_pushinteger(r->L, negative ? -(lua_Integer)value : (lua_Integer)value);
      return true;
    }
  }
  char digits[MAX_NUMBER + 1];
  if (len > MAX_NUMBER) return fail(r, "a number is too long");
  memcpy(digits, start, len);
  digits[len] = '\0';
  /* Lua's own reading gives an integer where one fits, else a float. */
  if (lua_stringtonumber(r->L, digits) == 0) return fail(r, "a number cannot be read");
  if (!isfinite(lua_tonumber(r->L, -1))) {
    r->at = start;
    return fail(r, "a number is larger than a double can be");
  }
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static bool read_hex4(Reader *r, uint32_t *unit) {
  if (r->end - r->at < 4) return fail(r, "\\u needs four hexadecimal digits");
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    int digit = hex_digit(*r->at++);
    if (digit < 0) return fail(r, "\\u needs four hexadecimal digits");
    *unit = *unit << 4 | (uint32_t)digit;
  }
  return true;
}

static bool read_code_point(Reader *r) {
  uint32_t code, low;
  if (!read_hex4(r, &code)) return false;
  if (code >= 0xDC00 && code <= 0xDFFF) return fail(r, "a surrogate stands alone");
  if (code >= 0xD800 && code <= 0xDBFF) {
    if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u') return fail(r, "a surrogate stands alone");
    r->at += 2;
    if (!read_hex4(r, &low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return fail(r, "a surrogate stands alone");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  char bytes[4];
  size_t len = 0;
  if (code < 0x80) {
    bytes[len++] = (char)code;
  } else if (code < 0x800) {
    bytes[len++] = (char)(0xC0 | code >> 6);
    bytes[len++] = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    bytes[len++] = (char)(0xE0 | code >> 12);
    bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
    bytes[len++] = (char)(0x80 | (code & 0x3F));
  } else {
    bytes[len++] = (char)(0xF0 | code >> 18);
    bytes[len++] = (char)(0x80 | (code >> 12 & 0x3F));
    bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
    bytes[len++] = (char)(0x80 | (code & 0x3F));
  }
  text_put(r->L, &reader_scratch, bytes, len);
  return true;
}

static bool read_escape(Reader *r) {
  if (r->at == r->end) return fail(r, "a string is not closed");
  char c = *r->at++;
  switch (c) {
    case '"': case '\\': case '/': break;
    case 'b': c = '\b'; break;
    case 'f': c = '\f'; break;
    case 'n': c = '\n'; break;
    case 'r': c = '\r'; break;
    case 't': c = '\t'; break;
    case 'u': return read_code_point(r);
    default: r->at--; return fail(r, "a string has an unknown escape");
  }
  text_put(r->L, &reader_scratch, &c, 1);
  return true;
}

static bool read_string(Reader *r) {
  if (r->at == r->end || *r->at != '"') return fail(r, "a string was expected");
  r->at++;
  const char *start = r->at;
  text_clear(&reader_scratch);
  bool escaped = false;
  for (;;) {
    while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20) r->at++;
    if (r->at == r->end) return fail(r, "a string is not closed");
    if ((unsigned char)*r->at < 0x20) return fail(r, "a string has a control character");
    if (*r->at == '"') break;
    escaped = true;
    text_put(r->L, &reader_scratch, start, (size_t)(r->at - start));
    r->at++;
    if (!read_escape(r)) return false;
    start = r->at;
  }
  size_t len = (size_t)(r->at - start);
  r->at++;
  if (!escaped) {
    lua_pushlstring(r->L, start, len);
    return true;
  }
  text_put(r->L, &reader_scratch, start, len);
  lua_pushlstring(r->L, reader_scratch.at, reader_scratch.len);
  return true;
}

static bool read_array(Reader *r, int depth) {
  lua_newtable(r->L);
  json_push_array_mark(r->L);
  lua_setmetatable(r->L, -2);
  r->at++;
  skip_space(r);
  if (r->at < r->end && *r->at == ']') {
    r->at++;
    return true;
  }
  for (lua_Integer i = 1;; i++) {
    if (!read_value(r, depth)) return false;
    if (lua_isnil(r->L, -1)) {
      lua_pop(r->L, 1);
      lua_pushlightuserdata(r->L, JSON_NULL);
    }
    lua_rawseti(r->L, -2, i);
    skip_space(r);
    if (r->at == r->end) return fail(r, "an array is not closed");
    char c = *r->at++;
    if (c == ']') return true;
    if (c != ',') return r->at--, fail(r, "an array needs a comma between its elements");
  }
}

static bool read_object(Reader *r, int depth) {
  lua_newtable(r->L);
  r->at++;
  skip_space(r);
  if (r->at < r->end && *r->at == '}') {
    r->at++;
    return true;
  }
  for (;;) {
    skip_space(r);
    if (!read_string(r)) return false;
    skip_space(r);
    if (r->at == r->end || *r->at != ':') return fail(r, "a key needs a colon after it");
    r->at++;
    if (!read_value(r, depth)) return false;
    lua_rawset(r->L, -3);
    skip_space(r);
    if (r->at == r->end) return fail(r, "an object is not closed");
    char c = *r->at++;
    if (c == '}') return true;
    if (c != ',') return r->at--, fail(r, "an object needs a comma between its members");
  }
}

static bool read_word(Reader *r, const char *word) {
  size_t len = strlen(word);
  if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0) return fail(r, "a value was expected");
  r->at += len;
  return true;
}

static bool read_value(Reader *r, int depth) {
  if (depth == JSON_MAX_DEPTH || !lua_checkstack(r->L, 4)) {
    return fail(r, "the nesting is too deep, at most " AS_TEXT(JSON_MAX_DEPTH) " levels are read");
  }
  skip_space(r);
  if (r->at == r->end) return fail(r, "a value was expected");
  switch (*r->at) {
    case '{': return read_object(r, depth + 1);
    case '[': return read_array(r, depth + 1);
    case '"': return read_string(r);
    case 't': return read_word(r, "true") && (lua_pushboolean(r->L, 1), true);
    case 'f': return read_word(r, "false") && (lua_pushboolean(r->L, 0), true);
    case 'n': return read_word(r, "null") && (lua_pushnil(r->L), true);
    case '-': case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9': return read_number(r);
    default: return fail(r, "a value was expected");
  }
}

/* Pushes the value of a text and returns NULL, or pushes and returns what is wrong with it. */
const char *json_decode(lua_State *L, const char *text, size_t len) {
  Reader r = {.L = L, .start = text, .at = text, .end = text + len};
  int top = lua_gettop(L);
  if (read_value(&r, 0)) {
    skip_space(&r);
    if (r.at != r.end) fail(&r, "there is something after the value");
  }
  if (r.error == NULL) return NULL;
  lua_settop(L, top);
  return lua_pushfstring(L, "%s (byte %I)", r.error, (lua_Integer)(r.at - r.start + 1));
}
