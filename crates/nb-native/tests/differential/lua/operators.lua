-- Operators, numbers and conversions.

--## integer division and modulo
local out = {}
for _, a in ipairs{7, -7, 7.0, -7.5, 0} do
  for _, b in ipairs{2, -2, 3, -3, 2.5} do out[#out + 1] = a // b out[#out + 1] = a % b end
end
return out
--## division by zero
local show = require("show")
return show(1 / 0, -1 / 0, 1 // 0.0, -1 // 0.0, 1 % math.huge, -1 % math.huge, 1 % -math.huge, -1 % -math.huge, pcall(function() return 1 // 0 end),
  pcall(function() return 1 % 0 end), pcall(function() return 0 // 0 end), 0 / 0, 1 % 0.0, 5.3 % -2, -5.3 % 2)
--## an uncaught integer division by zero
local zero = 0

return 5 // zero
--## an uncaught modulo by zero
local zero = 0
return 5 % zero
--## overflow wraps around
local max, min = math.maxinteger, math.mininteger
return {max + 1, min - 1, max * max, min * -1, -min, max * 2, min // -1, max + 1.0 == 2^63, 1 << 63, 1 << 62, min * min}
--## bit operators
local show = require("show")
return show(5 & 3, 5 | 3, 5 ~ 3, ~5, ~0, 1 << 4, 256 >> 4, -1 >> 1, -1 >> 63, 1 << 64, 1 << -1, 1 >> -1, 2^31 | 0, 3.0 & 1, pcall(function() return "7" & 3 end), pcall(function() return 1 | "0x10" end),
  pcall(function() return 1.5 & 1 end), pcall(function() return "x" & 1 end), pcall(function() return 2^64 | 0 end), pcall(function() return {} & 1 end),
  pcall(function() return nil | 1 end), pcall(function() return ~1.5 end), pcall(function() return "1.5" | 1 end), -1 << 63, 1 >> 64, 1 << math.mininteger)
--## an uncaught bit operation on a float
local half = 0.5
return 1 | half
--## an uncaught bit operation on a text
local word = "word"
return word & 1
--## strings as numbers
local show = require("show")
return show("10" + 5, "3" * "4", "1.5" + 1, "0x10" + 0, " 5 " + 0, -"2", "10" / 2, "7" // 2, "7" % "4", "2" ^ 2, "1e1" + 0, pcall(function() return "x" + 1 end),
  pcall(function() return "" + 1 end), pcall(function() return {} + 1 end), pcall(function() return "1" + nil end), math.type("10" + 0), math.type("10.0" + 0))
--## numbers as strings
return {1 .. "", 1.0 .. "", -0.0 .. "", 1e15 .. "", 1e16 .. "", 0.1 .. "", 123456789012 .. "", 2^63 .. "", math.mininteger .. "", 1e-5 .. "", 3.14159265358979 .. ""}
--## integers and floats
return {1 == 1.0, math.type(1 + 1.0), 3 / 2, 4 / 2, math.type(2^2), 7 // 2.0, 1e15 == 10^15, 2^53 == 2^53 + 1, math.maxinteger + 0.0 == math.maxinteger,
  math.maxinteger < math.maxinteger + 0.0, math.mininteger <= -2^63, 1 < 1.5, -0.0 == 0.0, 1 / -0.0 < 0, 3 | 0, 0x7fffffffffffffff + 1 == math.mininteger}
--## comparing integers with floats at the borders
local max, min = math.maxinteger, math.mininteger
return {max < 2^63, max <= 2^63, max > 2^63, min < -2^63, min <= -2^63, max == 2^63, max < math.huge, min > -math.huge, 2^53 + 1 == (1 << 53) + 1, 1 < 0 / 0, 1 > 0 / 0,
  0 / 0 == 0 / 0, 0 / 0 ~= 0 / 0, max - 1 < 2^63, (1 << 53) < 2^53 + 2}
--## comparing what cannot be compared
local try = require("try")
local function less(a, b) return a < b end
local function at_most(a, b) return a <= b end
return {try(less, {1, "1"}, {{}, {}}, {nil, 1, n = 2}, {true, false}, {"a", 1}, {print, print}, {{}, 1}), try(at_most, {1, "1"}, {{}, {}}, {nil, nil, n = 2})}
--## an uncaught comparison of a number with nil
local count
if count < 5 then return 1 end
--## an uncaught comparison of two tables
return {} < {}
--## equality
local t = {}
return {1 == "1", t == {}, t == t, nil == false, "a" == "a", print == print, 0 == -0, "1" == 1, 1 == 1.0, ({})[1] == nil}
--## and, or, not
local function f() return nil end
return {nil == (nil and 1), false or "x", 1 and 2, nil or false, not nil, not 0, not "", f() or "default", (false and error("never")) == false, 1 and nil == nil}
--## precedence
return {2 + 3 * 4, (2 + 3) * 4, 2 ^ 3 ^ 2, -2 ^ 2, not 1 == 2, 1 .. 2 .. 3, 2 * 3 % 4, 1 << 2 + 1, 5 & 3 == 1 and 1 or 2, "a" .. 1 + 2, 7 // 2 * 2, -3 % 5, 1 | 2 & 3 ~ 1}
--## precedence of comparison over bits is an error
return 5 & 3 == 1
--## the length operator
local show = require("show")
return show(#"abc", #{1, 2, 3}, #{}, #setmetatable({}, {__len = function() return "own" end}), pcall(function() return #5 end), pcall(function() return #nil end),
  pcall(function() return #print end))
--## an uncaught length of a number
local n = 5
return #n
--## an uncaught arithmetic on a field
local config = {size = {}}
return config.size * 2
--## an uncaught arithmetic on a global
return undefined + 1
--## an uncaught arithmetic on an upvalue
local up
local function f() return up - 1 end
f()
--## an uncaught arithmetic on a constant
return 1 + {}
--## an uncaught arithmetic on a text
local text = "abc"
return text + 1
--## an uncaught negation of a table
local t = {}
return -t
--## an uncaught concatenation of nil
local name
return "Dear " .. name
--## an uncaught concatenation of a table in a field
local t = {inner = {}}
return "x" .. t.inner .. "y"
--## an uncaught concatenation of a boolean
return "it is " .. true
--## an uncaught call of a field
local t = {}
t.method()
--## an uncaught call of a method
local t = {}
t:method()
--## an uncaught call of a number
local x = 5
x()
--## an uncaught call of a result
local function f() end
f()()
--## an uncaught index of nil
local t
return t.x
--## an uncaught index of a nil field
local t = {}
return t.x.y
--## an uncaught index of a nil element
local t = {}
return t[1][2]
--## an uncaught index by a nil field
local t, k = {}, {}
t[k.x] = 1
--## an uncaught set of a field of nil
local t
t.x = 1
--## an uncaught set of a field of a number
local t = 5
t.x = 1
--## an uncaught index of a boolean
return (true).x
--## an uncaught index of a function
return print.x
--## an error over several lines
local t = {
  a = 1,
  b = nil + 1,
}
--## an error in a call over several lines
local function f(...) error("here") end
f(
  1,
  2
)
--## numerals
return {0x10, 0xA.8p0, 1e2, .5, 5., 3e-2, 0x.1p4, 0xffffffffffffffff, 1e308, 9007199254740993, 0x7fffffffffffffff, 9223372036854775807, 9223372036854775808 == 2^63,
  1E+2, 0X1P-2, 00012, 0x1fffffffffffffffff & 0xff}
--## negative zero
local show = require("show")
local zero = 0.0
return show(-zero, 0.0, -0.0, 0 * -1, 0.0 * -1, 1 / -zero, math.max(-0.0, 0.0), tostring(-zero), string.format("%g", -zero), -0.0 == 0, {[-0.0] = 1})
--## bitwise with metamethods and coercions
local show = require("show")
local v = setmetatable({}, {__band = function(a, b) return "band" end, __bnot = function() return "bnot" end, __shl = function() return "shl" end})
return show(v & 1, 1 & v, ~v, v << 1, pcall(function() return v | 1 end), pcall(function() return 1.5 & v end))
