-- Patterns of all kinds.

--## classes
local out = {}
for _, class in ipairs{"a", "c", "d", "g", "l", "p", "s", "u", "w", "x", "z", "A", "D", "S", "W"} do
  local count, first = 0, nil
  for byte = 0, 255 do
    if string.char(byte):find("^%" .. class .. "$") then count, first = count + 1, first or byte end
  end
  out[#out + 1] = class .. " " .. count .. " " .. first
end
return out
--## sets
local try = require("try")
return try(string.match, {"abc]", "[]]"}, {"a-z", "[a-]+"}, {"a-z", "[-a]+"}, {"x^", "[x^]+"}, {"abc", "[^a]+"}, {"123abc", "[%d%a]+"},
  {"abc", "[a-b]+"}, {"abc", "[b-a]"}, {"a]", "[^]]"}, {"abc", "["}, {"abc", "[a"}, {"abc", "[^"}, {"abc", "[%"}, {"abc", "[%a"},
  {"é", "[é]+"}, {"a.b", "[.]"}, {"a%b", "[%%]"}, {"\0", "[\0-\1]"}, {"]", "[]"}, {"a-", "[%a-]+"}, {"5", "[0-9a-f]"}, {"x", "[a-z-]"})
--## repetitions
local try = require("try")
return try(string.match, {"aaa", "a*"}, {"aaa", "a+"}, {"aaa", "a-"}, {"aaa", "a?"}, {"aaa", "^a-$"}, {"aaab", "a-b"}, {"<a><b>", "<.->"},
  {"<a><b>", "<.*>"}, {"b", "a*"}, {"b", "a+"}, {"", "a?"}, {"a*", "a%*"}, {"**", "*"}, {"++", "+"}, {"--", "-"}, {"??", "?"},
  {"aaa", "a**"}, {"aaa", "a+*"}, {"ab", "(a*)(b?)(c-)"}, {"aXb", "%u?b"}, {"xyz", ".-z"}, {"  x", "%s-x"})
--## anchors
local try = require("try")
return try(string.find, {"abc", "^abc$"}, {"abc", "^b"}, {"a^b", "a^b"}, {"a$b", "a$b"}, {"abc", "c$"}, {"abc$", "c$$"}, {"", "^$"},
  {"x", "^"}, {"x", "$"}, {"^x", "^^x"}, {"x$", "%$$"}, {"a\n", "a$"})
--## captures
local try = require("try")
return try(string.find, {"abc", "(a)(b)(c)"}, {"abc", "(a(b(c)))"}, {"abc", "()a()b()c()"}, {"abc", "(x?)"}, {"abc", "(a"}, {"abc", "a)"},
  {"abc", ")"}, {"abc", "%1(a)"}, {"abab", "(ab)%1"}, {"abcabc", "(a)(b)(c)%1%2%3"}, {"a", "(%1)"}, {"x", "(())"}, {"", "()"},
  {("a"):rep(32), ("(a)"):rep(32)}, {("a"):rep(33), ("(a)"):rep(33)}, {"x", "%0"}, {"(x)", "%((.)%)"})
--## balanced text
local try = require("try")
return try(string.match, {"a(b(c)d)e", "%b()"}, {"((x)", "%b()"}, {"(x", "%b()"}, {"xaxbx", "%bxx"}, {"<<>>", "%b<>"}, {"x", "%b"},
  {"x", "%b("}, {"begin a end", "%bbd"}, {"{a{b}c}{d}", "^%b{}(.*)$"}, {"\0a\1", "%b\0\1"})
--## frontiers
local try = require("try")
return try(string.gsub, {"THE (quick) fox", "%f[%a]%a+", "<%0>"}, {"THE (quick) fox", "%f[%A]", "|"}, {"aBcD", "%f[%u]", "_"},
  {"x", "%f[%z]", "$"}, {"", "%f[^%z]", "$"}, {"x", "%f", ""}, {"x", "%fa", ""}, {"x", "%f[", ""}, {"a1b2", "%f[%d]%d", "#"})
--## escapes
local try = require("try")
return try(string.match, {"a.b", "a%.b"}, {"a%b", "%%"}, {"a", "%"}, {"a", "a%"}, {"[]", "%[%]"}, {"a\\b", "\\"}, {"\0x", "%zx"},
  {"é", "%é"}, {"(", "%("}, {"_", "%_"}, {"a", "%a%"})
--## every replacement
local try = require("try")
return try(string.gsub, {"abc", "(a)(b)(c)", "%3%2%1%0"}, {"abc", "b", "%%%0%%"}, {"abc", "(b)", "%2"}, {"a", ".", "%9"},
  {"abc", "()", "%1"}, {"x", "x", "a%"}, {"x", "x", "\0%0\0"}, {"x", "x", ("y"):rep(50)}, {"abc", "%w", {a = 1, b = 2.5}},
  {"abc", "(%w)(%w)", {a = "first"}}, {"abc", "()", {"x", "y"}}, {"$name is $x", "%$(%w+)", {name = "N"}})
--## a pattern that is too complex
local show = require("show")
local long = ("a"):rep(300000)
return {show(pcall(string.find, long, (".?"):rep(250) .. "b")), show(pcall(string.match, long, ("(a"):rep(10)))}
--## matching recursion is limited
local show = require("show")
local nested = ("("):rep(300) .. (")"):rep(300)
return {#nested:match("%b()"), show(pcall(string.match, ("x"):rep(1000), ("x?"):rep(300)))}
--## a long subject
local text = ("word "):rep(20000)
local count = 0
for _ in text:gmatch("%a+") do count = count + 1 end
return {count, #text:gsub("%s", ""), (text:find("x", 1, true)) == nil, select(2, text:gsub("o", "0"))}
--## a template
local values = {name = "Ada", n = 3}
return (("Dear {name}, {n} of {total}"):gsub("{(%w+)}", function(key) return values[key] and tostring(values[key]) end))
--## splitting and trimming
local function split(text, separator)
  local parts = {}
  for part in (text .. separator):gmatch("(.-)" .. separator:gsub("%p", "%%%0")) do parts[#parts + 1] = part end
  return parts
end
return {split("a.b..c", "."), split("", ","), split("one", "::"), (("  x y "):gsub("^%s+", ""):gsub("%s+$", ""))}
--## a CSV line
local fields = {}
for quoted, plain in ('"a ""b""",c,,"d"'):gsub('""', "\1"):gmatch('"?([^",]*)"?,?()') do fields[#fields + 1] = quoted end
return fields
