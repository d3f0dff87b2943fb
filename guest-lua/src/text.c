/* A growing text; UTF-8, because what leaves the guest is a WIT string; and integers as text. */
#include <stdlib.h>
#include <string.h>

#include "guest.h"

void text_clear(Text *text) { text->len = 0; }

bool text_try_put(Text *text, const char *bytes, size_t len) {
  if (len > text->cap - text->len) {
    size_t cap = text->cap < 128 ? 256 : text->cap * 2;
    if (cap - text->len < len) cap = text->len + len;
    char *at = realloc(text->at, cap);
    if (at == NULL) return false;
    text->at = at;
    text->cap = cap;
  }
  memcpy(text->at + text->len, bytes, len);
  text->len += len;
  return true;
}

/* Appends, or raises an error as Lua does when memory is short. */
void text_put(lua_State *L, Text *text, const char *bytes, size_t len) {
  if (!text_try_put(text, bytes, len)) luaL_error(L, "not enough memory");
}

static bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/* The length of the valid sequence at `s`, or 0. Surrogates and overlong forms are not valid (RFC 3629). */
static size_t sequence(const unsigned char *s, size_t len) {
  if (s[0] < 0x80) return 1;
  if (s[0] >= 0xC2 && s[0] <= 0xDF) return len >= 2 && continues(s[1]) ? 2 : 0;
  if (s[0] >= 0xE0 && s[0] <= 0xEF) {
    if (len < 3 || !continues(s[1]) || !continues(s[2])) return 0;
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
    if (s[0] == 0xED && s[1] > 0x9F) return 0;
    return 3;
  }
  if (s[0] >= 0xF0 && s[0] <= 0xF4) {
    if (len < 4 || !continues(s[1]) || !continues(s[2]) || !continues(s[3])) return 0;
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    return 4;
  }
  return 0;
}

/* How many bytes from the start are valid UTF-8. */
size_t utf8_valid_prefix(const char *bytes, size_t len) {
  const unsigned char *s = (const unsigned char *)bytes;
  size_t at = 0;
  while (at < len) {
    uint64_t eight;
    while (len - at >= sizeof eight && (memcpy(&eight, s + at, sizeof eight), (eight & 0x8080808080808080u) == 0)) {
      at += sizeof eight; /* most texts are ASCII */
    }
    if (at == len) break;
    size_t step = sequence(s + at, len - at);
    if (step == 0) break;
    at += step;
  }
  return at;
}

/* Appends with each byte that is not UTF-8 replaced by U+FFFD. */
void text_put_utf8(lua_State *L, Text *text, const char *bytes, size_t len) {
  while (len > 0) {
    size_t valid = utf8_valid_prefix(bytes, len);
    text_put(L, text, bytes, valid);
    bytes += valid;
    len -= valid;
    if (len > 0) {
      text_put(L, text, "\xEF\xBF\xBD", 3);
      bytes += 1;
      len -= 1;
    }
  }
}

/* Writes a decimal number with a zero behind it, 21 bytes at most, and returns its length. */
int integer_to_text(char *digits, long long value) {
  unsigned long long rest = value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value;
  char reversed[20];
  int count = 0, len = 0;
  do {
    reversed[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (value < 0) digits[len++] = '-';
  while (count > 0) digits[len++] = reversed[--count];
  digits[len] = '\0';
  return len;
}
