-- string.pack, string.unpack and string.packsize with formats whose size is the same on each machine.

--## integers of each size
local show = require("show")
local out = {}
for _, format in ipairs{"b", "B", "h", "H", "i", "I", "j", "J", "i1", "i2", "i3", "i7", "i8", "i16", "I1", "I5", "I16"} do
  for _, value in ipairs{0, 1, -1, 127, 128, 255, -128, 32767, math.maxinteger} do
    out[#out + 1] = format .. " " .. value .. " " .. show(pcall(string.pack, "<" .. format, value))
  end
end
return out
--## byte orders and alignment
local show = require("show")
return show(string.pack("<i4", 1), string.pack(">i4", 1), string.pack("!4 b i4", 1, 2), string.pack(">!8 b i8", 1, 2),
  string.pack("!2 b i8", 1, 2), string.pack("<b Xi4 b", 1, 2), string.pack("<!4 b Xi4 b", 1, 2), string.pack("=I2", 258),
  string.pack("x b x", 5), string.pack("! b d", 1, 2), string.pack("<!b Xd b", 1, 1))
--## floats
local show = require("show")
return show(string.pack("<f", 1.5), string.pack(">d", -0.1), string.pack("<n", math.pi), string.pack("<d", math.huge),
  string.unpack("<f", string.pack("<f", 0.1)), string.unpack("<d", string.pack("<d", 0.1)), pcall(string.pack, "f", "x"))
--## strings
local show = require("show")
return show(string.pack("z", "abc"), string.pack("<s1", "abc"), string.pack("<s2", ""), string.pack(">s4", "x"), string.pack("c5", "abc"),
  pcall(string.pack, "c2", "abc"), pcall(string.pack, "z", "a\0b"), pcall(string.pack, "s1", ("x"):rep(256)), string.pack("<s8", "y"))
--## unpacking
local show = require("show")
return show(string.unpack("<i4 b z s1", "\1\2\0\0\255abc\0\2xy"), string.unpack("<i2", "\1\2\3\4", 3), string.unpack("<I2", "\255\255", -2),
  string.unpack("c3", "abcdef"), string.unpack("", "abc"), string.unpack("<i16", ("\255"):rep(16)), string.unpack(">I3", "\1\2\3"))
--## unpacking what is too short or wrong
local try = require("try")
return try(string.unpack, {"i4", "abc"}, {"z", "abc"}, {"s1", "\5abc"}, {"<s4", "\255\255\255\127x"}, {"b", "a", 2}, {"b", "a", 3},
  {"b", "a", 0}, {"b", "a", -1}, {"b", "a", -5}, {"c5", "abc"}, {"<i9", ("\255"):rep(8) .. "\1"}, {"<I9", ("\0"):rep(8) .. "\1"}, {"b"}, {}, {1, 2})
--## wrong formats
local try = require("try")
return try(string.pack, {"y", 1}, {"i0", 1}, {"i17", 1}, {"i100", 1}, {"!0"}, {"!17"}, {"!3 i8", 1}, {"c", "x"}, {"Xz"}, {"X"}, {"X "},
  {"i"}, {"i", "x"}, {"i", 1.5}, {"i", 2.0}, {"i", "3"}, {"d"}, {"z", 5}, {"s1", 5}, {"s1", {}}, {nil, n = 1}, {})
--## overflow of integers
local try = require("try")
return try(string.pack, {"b", 128}, {"b", -129}, {"B", 256}, {"B", -1}, {"h", 32768}, {"H", 65536}, {"i4", 2^31}, {"i4", -2^31 - 1}, {"I4", 2^32},
  {"i8", 2^63}, {"i7", 1 << 55}, {"I7", 1 << 56}, {"I8", -1})
--## sizes
local try = require("try")
return try(string.packsize, {"i4"}, {"<!4 b i4"}, {"b h i j d f n"}, {"c10"}, {"z"}, {"s1"}, {"i3 x x"}, {"!8 b Xi8"}, {""}, {"c2000000000 c2000000000"},
  {"q"}, {}, {1}, {"B H I J"}, {"c"}, {"i16 i16"})
--## what is packed is unpacked
local format = ">!4 i1 i2 i4 i8 I1 I2 I4 j n d f z s1 s2 c4"
local values = {-5, -300, 70000, -1 << 40, 200, 60000, 1 << 31, math.mininteger, 1.25, -0.5, 0.75, "zero", "one", "two", "four"}
local packed = string.pack(format, table.unpack(values))
local out = {string.unpack(format, packed)}
for i, value in ipairs(values) do out[i] = out[i] == value end
return {out, #packed}
