-- A pointer, a `size_t` and a `long` of the guest have 32 bits.

--## the sizes of l, L, T and s
-- why: these formats are those of the machine's C types; the guest's have 32 bits
-- guest: [4,4,4,"\u0001\u0000\u0000\u0000x"]
-- native: [8,8,8,"\u0001\u0000\u0000\u0000\u0000\u0000\u0000\u0000x"]
return {string.packsize("l"), string.packsize("L"), string.packsize("T"), string.pack("<s", "x")}
--## the range of l
-- why: a `long` of the guest has 32 bits
-- guest: [false,"bad argument #2 to 'string.pack' (integer overflow)"]
-- native: [true,"\u0000\u0000\u0000\u0000\u0001\u0000\u0000\u0000"]
return {pcall(string.pack, "<l", 1 << 32)}
