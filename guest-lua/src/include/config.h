/* What differs from Lua's defaults, and why. Included before everything else, because luaconf.h decides for itself. */
#ifndef NANOBOT_CONFIG_H
#define NANOBOT_CONFIG_H

/* Lua's own files define these first of all; luaconf.h gives its internal macros only then. */
#define LUA_CORE
#define LUA_LIB
#include "luaconf.h"

/* WebAssembly has no computed goto: the table of addresses would only be one more step before the switch. */
#define LUA_USE_JUMPTABLE 0

/* Lua's default is a million slots of 16 bytes, and the old stack is there while it is copied to a larger one. That
 * is more than a tool may use by default, so that endless recursion would end as "out of memory" and without a line.
 * This is some 50,000 calls deep. */
#undef LUAI_MAXSTACK
#define LUAI_MAXSTACK 200000

/* By default these two ask for the time, which makes a build, or a replay of a run, differ. A script whose keys collide
 * on purpose only spends its own fuel. */
#define luai_makeseed(L) 0x6e616e6fu
#define l_randomizePivot() 0x626f7473u

/* printf takes some 2,000 instructions to write an integer, which scripts do all the time. */
int integer_to_text(char *digits, long long value);
#undef lua_integer2str
#define lua_integer2str(s, sz, n) integer_to_text(s, n)

#endif
