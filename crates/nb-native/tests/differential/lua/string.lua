-- The string library, without patterns, formats and packing.

--## string.byte
local try = require("try")
return try(string.byte, {"abc"}, {"abc", 2}, {"abc", -1}, {"abc", 1, 3}, {"abc", 0}, {"abc", 4}, {"abc", 1, -1}, {""},
  {"\0\255"}, {"\0\255", 1, 2}, {5}, {"a", "1"}, {"a", 1.0}, {"a", 1.5}, {"a", "x"}, {nil, n = 1}, {},
  {"abc", math.mininteger, math.maxinteger}, {"abc", 3, 1}, {{}})
--## string.byte of a long slice
local show = require("show")
return {select("#", string.byte(("x"):rep(1000), 1, -1)), show(pcall(string.byte, ("x"):rep(2000000), 1, -1))}
--## string.char
local try = require("try")
return try(string.char, {}, {65}, {65, 66, 67}, {0, 255}, {256}, {-1}, {"65"}, {65.0}, {65.5}, {"x"}, {nil, n = 1})
--## string.find
local try = require("try")
return try(string.find, {"hello", "l"}, {"hello", "l", 4}, {"hello", "l", -2}, {"hello", "xyz"}, {"hello", ""},
  {"hello", "", 6}, {"hello", "", 7}, {"hello", "", 10}, {"a.b", ".", 1, true}, {"a.b", "%."}, {"a+b", "+", 1, true},
  {"hello", "(l)(l)"}, {"hello", "()ll()"}, {"", ""}, {"", "a"}, {"hello", "l", 0}, {"hello", "l", -100}, {"hello"},
  {}, {5, 5}, {"a", nil, n = 2}, {"hello", "^l", 3}, {"hello", "l$"}, {"hello", "o$"}, {"a\0b", "\0"},
  {"a\0b", "b", 1, true}, {"hello", "l", "3"}, {"hello", "l", 1.5}, {"hello", "l", nil, true, n = 4})
--## string.format with each conversion
local try = require("try")
return try(string.format, {"%d", 3}, {"%i", -3}, {"%u", 3}, {"%c", 65}, {"%x", 255}, {"%X", 255}, {"%o", 8},
  {"%e", 12345.678}, {"%E", 12345.678}, {"%f", 1.5}, {"%F", 1.5}, {"%g", 1e20}, {"%G", 1e-10}, {"%a", 1.0}, {"%A", 0.5},
  {"%s", "text"}, {"%q", "te\"xt\n\0\r\\"}, {"%%"}, {"%"}, {"%y", 1}, {"%", 1}, {"% ", 1}, {"a%"})
--## string.format with widths and flags
local try = require("try")
return try(string.format, {"%5d|", 42}, {"%-5d|", 42}, {"%05d|", 42}, {"%+d", 42}, {"% d", 42}, {"%#x", 255},
  {"%#o", 8}, {"%.3d", 5}, {"%8.3d|", 5}, {"%.0d|", 0}, {"%10.4f|", 3.14159265}, {"%-10.2e|", 12345.678}, {"%.0f", 0.5},
  {"%.0f", 1.5}, {"%.0f", 2.5}, {"%#.0f", 1}, {"%+.3g", 1234567}, {"%#g", 1.0}, {"%.20g", 0.1}, {"%.99f", 1 / 3},
  {"%.100f", 1}, {"%99d", 1}, {"%100d", 1}, {"%5s|", "ab"}, {"%-5s|", "ab"}, {"%.2s|", "abcdef"}, {"%5.1s|", "abc"},
  {"%.0s|", "abc"}, {"%05s", "a"}, {"%+s", "a"}, {"%5c|", 65}, {"%-5c|", 65}, {"%05c", 65}, {"%.3c", 65}, {"%5q", "a"},
  {"%#d", 1}, {"%-+ #0d", 1}, {"%------d", 1}, {"%.d", 1}, {"%1$d", 1}, {"%5%"}, {"%-05d", 3}, {"%+i", 5}, {"% x", 5},
  {"%#X", 255}, {"%010.3f", -2.5}, {"%+a", 1.5}, {"%.3a", 1.999}, {"%20a|", 1.5}, {"%.1a", 0.75})
--## string.format of numbers at their borders
local try = require("try")
return try(string.format, {"%d", math.mininteger}, {"%d", math.maxinteger}, {"%x", -1}, {"%o", -1}, {"%d", 3.0},
  {"%d", 3.5}, {"%d", "10"}, {"%d", "3.0"}, {"%d", "3.5"}, {"%d", "x"}, {"%d", 2^63}, {"%d", -2^63}, {"%d", math.huge},
  {"%f", math.huge}, {"%f", -math.huge}, {"%g", math.huge}, {"%.3f", -0.0}, {"%g", -0.0}, {"%a", math.huge}, {"%a", 0.0},
  {"%a", -0.0}, {"%a", math.pi}, {"%g", 100000}, {"%g", 1000000}, {"%g", 1e15}, {"%.14g", 0.1}, {"%.17g", 0.1},
  {"%.3f", 2^53}, {"%f", 1e300}, {"%e", 0}, {"%g", 5e-324}, {"%.10e", 1.7976931348623157e308}, {"%c", 0}, {"%c", 256},
  {"%c", -1}, {"%i", math.mininteger}, {"%5.1f", "2.25"}, {"%x", 3.0}, {"%x", 3.5}, {"%f", {}}, {"%d"}, {"%s"})
--## string.format with q
local try = require("try")
return try(string.format, {"%q", 1}, {"%q", 1.5}, {"%q", 0.1}, {"%q", math.mininteger}, {"%q", math.huge},
  {"%q", -math.huge}, {"%q", true}, {"%q", nil, n = 2}, {"%q", {}}, {"%q", print}, {"%q", "\1\0012\200\n\r\t\"\\"},
  {"%q", ""}, {"%q", 2^63}, {"%q", 1e100}, {"%q", -0.0}, {"%q"})
--## string.format with s and metamethods
local show = require("show")
local own = setmetatable({}, {__tostring = function() return "own\0text" end})
local wrong = setmetatable({}, {__tostring = function() return {} end})
return {string.format("%s %10s|%.3s", own, true, nil), show(pcall(string.format, "%s", wrong)),
  show(pcall(string.format, "%5s", "a\0b")), show(pcall(string.format, "%s", "a\0b")),
  string.format("%s", ("x"):rep(1000)):len(), show(pcall(string.format, "%.5s", "a\0bcdef"))}
--## string.format of several arguments
local try = require("try")
return try(string.format, {"%s %s", 1, 2, 3}, {"%s %s", 1}, {}, {5}, {"no arguments"}, {"%d%%|%5.2f|%s", 50, 1.005, "x"},
  {nil, n = 1}, {{}}, {("%d "):rep(5), 1, 2, 3, 4, 5}, {"\0%d\0", 1}, {"%s", nil, n = 2})
--## string.gsub
local try = require("try")
return try(string.gsub, {"hello", "l", "L"}, {"hello", "l", "L", 1}, {"hello", "l", "L", 0}, {"hello", "l", "L", -1},
  {"hello", "", "-"}, {"hello", "(l)(.)", "%2%1"}, {"hello", "l", "%0%0"}, {"hello", "l", "%1"}, {"hello", "l", "%2"},
  {"hello", "l", "%"}, {"hello", "l", "%x"}, {"hello", "l", "%%"}, {"hello", ".", {h = "H", l = 1, o = false}},
  {"hello", "l", {}}, {"hello", "l", string.upper}, {"hello", "l", function() end}, {"hello", "l", function() return {} end},
  {"hello", "l", {l = {}}}, {"hello", "l", true}, {"hello", "l"}, {"hello"}, {"abc", "%w", "%0."}, {"abc", "^a", "x"},
  {"aaa", "^a", "x"}, {"a b c", "%s*", "_"}, {"hello world", "%w+", "<%0>"}, {"hello", "(", "x"}, {"hello", "l", "L", "1"},
  {"hello", "l", "L", 1.5}, {"hello", "()", "%1"}, {"abc", "b*", "-"}, {"hello", "l", nil, n = 3}, {1234, 2, 5})
--## string.gsub with a function that fails
return ("hello"):gsub("l", function(letter)
  error("not this one: " .. letter)
end)
--## string.gsub with a table that has an index metamethod
local seen = {}
local t = setmetatable({}, {__index = function(_, key) seen[#seen + 1] = key return key:upper() end})
return {("a-b-c"):gsub("%a", t), seen}
--## string.gmatch
local show = require("show")
local function all(...)
  local out = {}
  for a, b in string.gmatch(...) do out[#out + 1] = show(a, b) end
  return out
end
return {all("one two", "%a+"), all("k=v, x=y", "(%w+)=(%w+)"), all("abc", ""), all("abc", "()"), all("abc", "^a"),
  all("hello", "l", 4), all("hello", "l", -2), all("hello", "l", 100), all("", ".*"), all("a,b,,c", "([^,]*)"),
  show(pcall(string.gmatch, "x")), show(pcall(string.gmatch)), show(pcall(all, "x", "(")), show(pcall(all, "x", "%"))}
--## string.len
local try = require("try")
return {try(string.len, {"abc"}, {""}, {"\0\0"}, {123}, {1.5}, {nil, n = 1}, {{}}, {}), #"é", #("x"):rep(100000)}
--## string.lower and string.upper
local try = require("try")
return {try(string.lower, {"ABC xyz ÄÖÜ"}, {""}, {5}, {}, {"\0A\200"}), try(string.upper, {"abc XYZ äöü"}, {1e15}, {nil, n = 1})}
--## string.match
local try = require("try")
return try(string.match, {"key = value", "(%w+)%s*=%s*(%w+)"}, {"2024-01-02", "(%d+)-(%d+)-(%d+)"}, {"abc", "b"},
  {"abc", "x"}, {"abc", "b", 3}, {"abc", "()b()"}, {"abc", "", 4}, {"abc", "", 5}, {"abc", "^b", 2}, {"  trim  ", "^%s*(.-)%s*$"},
  {"abc"}, {}, {"abc", "(((b)))"}, {"abc", "b", -1}, {"[[x]]", "%[%[(.-)%]%]"}, {"f(a(b)c)d", "%b()"}, {"THE (quick) fox", "%f[%a]%a+"},
  {"THE (quick) fox", "%f[%l]%a+"}, {"abc", "%f[%z]"}, {"aa", "(a)%1"}, {"ab", "(a)%1"}, {"x", "%1"}, {"x", "(x)%2"},
  {"0x1F", "^0[xX](%x+)$"}, {"a\0b", "a%zb"}, {"a\0b", "a\0b"}, {"é", "^[\xc3][\xa9]$"})
--## string.rep
local try = require("try")
return try(string.rep, {"ab", 3}, {"ab", 0}, {"ab", -5}, {"ab", 3, ","}, {"ab", 1, ","}, {"", 1000}, {"x", "3"}, {"x", 2.0},
  {"x", 2.5}, {"x"}, {}, {"x", "y"}, {"x", 1 << 40}, {"", 3, "-"}, {5, 2}, {"ab", math.mininteger}, {"x", 2, 3}, {"x", 2, {}})
--## string.rep of something very long
local text = string.rep("0123456789", 100000)
return {#text, text:sub(-3), text:find("9", 999990), (select(2, text:gsub("5", "")))}
--## string.rep that memory is not enough for
return string.rep("x", 1 << 30)
--## string.rep that memory is not enough for is caught
return {pcall(string.rep, "x", 1 << 30)}
--## string.reverse
local try = require("try")
return try(string.reverse, {"abc"}, {""}, {"a\0b"}, {123}, {}, {nil, n = 1}, {true})
--## string.sub
local try = require("try")
return try(string.sub, {"hello", 2, 4}, {"hello", 2}, {"hello", -3}, {"hello", -3, -2}, {"hello", 0}, {"hello", 10},
  {"hello", 3, 2}, {"hello", -100, 100}, {"hello"}, {}, {"hello", "2"}, {"hello", 2.0}, {"hello", 2.5}, {"hello", nil, 3, n = 3},
  {"hello", math.mininteger, math.maxinteger}, {"hello", math.maxinteger}, {"hello", 1, math.mininteger}, {12345, 2, 3}, {"", 1, 1})
--## methods of strings
return {("abc"):upper(), ("%d"):format(5), ("x"):rep(3), #("abc"):sub(2), ("abc"):len(), ("a,b"):find(",", 1, true)}
--## a method of a string with a wrong argument
return ("abc"):rep({})
--## a method of a string without an argument
return ("abc"):rep()
--## a method of a string that is called without self
return string.rep()
--## indexing a string
return {("x").len == string.len, ("x").y == nil, ("x")[1] == nil}
--## setting a field of a string
("x").y = 1
--## escapes in strings
return {"\a\b\f\n\r\t\v\\\"\'", "\65\066\x41\u{48}\u{20AC}\u{10FFFF}", "a\z
         b", 'a\
b', [[
first newline is dropped]], [==[a]]b]==]}
--## a utf8 escape beyond Unicode
return #"\u{7FFFFFFF}"
--## comparing strings
return {"a" < "b", "a" < "B", "" < "a", "a\0b" < "a\0c", "a" < "a\0", "10" < "9", "é" > "z", "Z" < "a", "a" <= "a",
  not ("a" > "a")}
--## comparing strings with bytes above 127
local s = {"\x7f", "\x80", "\xff", "a", "", "\0"}
table.sort(s)
return require("show")(table.unpack(s))
--## concatenation
return {"a" .. 1, 1 .. 2, 1.5 .. "", -0.0 .. "", 2^53 .. "", 1e100 .. ""}
--## concatenation of many values
local t = {}
for i = 1, 300 do t[i] = i end
local s = ""
for i = 1, 300 do s = s .. t[i] .. "," end
return {#s, s:sub(1, 20)}
