-- The functions of the base library.

--## assert
local try = require("try")
return try(assert, {1}, {false}, {nil, "message", n = 2}, {}, {nil, {1}, n = 2}, {true, 1, 2}, {false, 12})
--## assert raises at its caller
assert(false, "with a message")
--## assert without a message

assert(nil)
--## assert with a table as message
assert(false, {message = "in a field"})
--## collectgarbage that both know
local try = require("try")
return {try(collectgarbage, {}, {"collect"}, {"nothing"}, {7}, {{}}), math.type(collectgarbage("count")),
  type(collectgarbage("step"))}
--## collectgarbage frees what nothing holds
local weak = setmetatable({}, {__mode = "v"})
weak[1], weak[2] = {}, "kept"
collectgarbage()
return {weak[1] == nil, weak[2]}
--## error values of each type
local show = require("show")
local out = {}
for i, value in ipairs{1, 2.5, "text", true, {1}, print, coroutine.create(print), json.null} do
  out[i] = show(pcall(error, value))
end
out[#out + 1] = show(pcall(error))
out[#out + 1] = show(pcall(error, nil))
return out
--## error levels
local show = require("show")
local function raise(level) error("told", level) end
local function middle(level)
  raise(level)
  return 1
end
local out = {}
for level = 0, 2 do out[#out + 1] = show(pcall(middle, level)) end
return out
--## an uncaught error is told with the line of its level
local function check(x)
  error("x is wrong", 2)
end
local function user()
  check(1)
  return 1
end
user()
--## an uncaught error with level 0
error("no position", 0)
--## an uncaught number
error(42)
--## an uncaught float
error(2.5)
--## an uncaught boolean
error(true)
--## an uncaught nil
error()
--## an uncaught table with a message

error({message = "from a table", code = 7})
--## an uncaught table with tostring
error(setmetatable({}, {__tostring = function() return "as text" end}))
--## an uncaught table whose tostring fails
error(setmetatable({}, {__tostring = function() error("again") end}))
--## an uncaught table whose tostring gives no string
error(setmetatable({}, {__tostring = function() return 1 end}))
--## an uncaught null
error(json.null)
--## an uncaught error of several lines
error("one\ntwo\n\nstack traceback:\nthree")
--## an uncaught error with bytes that are not UTF-8
error("a\xffb\xc3(\xed\xa0\x80)")
--## an uncaught error with a zero
error("a\0b")
--## a very long error
error(("long "):rep(5000))
--## getmetatable and setmetatable
local try = require("try")
local guarded = setmetatable({}, {__metatable = "guarded"})
return {try(getmetatable, {{}}, {}, {guarded}, {1}), getmetatable("").__index == string,
  try(setmetatable, {{}}, {{}, {}}, {{}, nil, n = 2}, {guarded, {}}, {1, {}}, {{}, 1}, {})}
--## ipairs
local try = require("try")
local out = {}
for i, value in ipairs({1, 2, nil, 4}) do out[#out + 1] = i * 10 + value end
local proxy = setmetatable({}, {__index = function(_, i) if i < 4 then return i * i end end})
for i, value in ipairs(proxy) do out[#out + 1] = i * 100 + value end
return {out, try(ipairs, {}, {nil, n = 1}), select("#", ipairs({}))}
--## ipairs of what cannot be indexed
for _ in ipairs(5) do end
--## load of a text
local try = require("try")
return try(load, {"return 1"}, {"return +"}, {"x ="}, {1}, {"return 1", "=name", "q"}, {"return 1", 5},
  {"for", "=chunk"}, {"for", "@file.lua"}, {"for x", "some\ntext"}, {"goto nowhere"}, {"break"})
--## load with wrong arguments
local try = require("try")
return try(load, {{}}, {}, {nil, n = 1}, {true})
--## load with an environment
local env = {x = 5}
local f = load("x = x + 1; return x, y", "=env", "t", env)
local a, b = f()
local g = load("return ...", "=args")
return {a, b == nil, env.x, g(7), load("return x", "=nil", "t", {})() == nil, x == nil}
--## load of pieces
local pieces = {"return ", "1 ", "+ 2", nil}
local i = 0
local f = load(function() i = i + 1 return pieces[i] end)
local show = require("show")
return {f(),
  show(pcall(load, function() error("in the reader") end))}
--## what load compiles tells its own lines
local f = load("\n\nlocal x = nil\nreturn x.y", "=loaded")
return {pcall(f)}
--## an uncaught error in what load compiled
load("\n\nerror('inner')", "=loaded")()
--## an uncaught error in what load compiled under the name of the tool
load("\n\nerror('inner')", "@test.lua")()
--## load with mode t refuses a binary chunk
local show = require("show")
return show(load("\27Lua", "=binary", "t"))
--## next
local try = require("try")
return {try(next, {{}}, {{5}}, {{5}, 1}, {{5}, 2}, {}, {1}, {{k = 1}}, {{k = 1}, "k"}, {{1, 2, 3}, 3})}
--## pairs
local show = require("show")
local sum = 0
for key, value in pairs({10, 20, x = 30}) do sum = sum + value end
local own = setmetatable({}, {__pairs = function(t) return function(_, k) if not k then return 1, 2 end end, t, nil end})
local out = {}
for k, v in pairs(own) do out[#out + 1] = {k, v} end
return {sum, out, show(pcall(pairs)), show(pcall(pairs, nil)), show(pcall(pairs, setmetatable({}, {__pairs = 1})))}
--## removing while traversing
local t = {}
for i = 1, 50 do t["k" .. i] = i end
local count = 0
for key in pairs(t) do t[key] = nil count = count + 1 end
return {count, next(t) == nil}
--## pcall
local show = require("show")
return {show(pcall(function(...) return ... end, 1, nil, 3)), show(pcall(error, "x", 0)), show(pcall(nil)),
  show(pcall(1, 2)), show(pcall(pcall)), show(pcall(pcall, error, "x")), show(pcall({}))}
--## pcall without a function raises at its caller

pcall()
--## pcall of a callable table
local callable = setmetatable({}, {__call = function(self, x) return x + 1 end})
return {pcall(callable, 1)}
--## nested pcall
local show = require("show")
return show(pcall(pcall, pcall, pcall, error, "deep"))
--## pcall keeps the identity of an error value
local value = {}
local ok, got = pcall(error, value)
return got == value
--## print
print()
print(1, 2.5, "x", nil, true)
print("a\nb", "tab\t")
print(setmetatable({}, {__tostring = function() return "own" end}))
print(setmetatable({}, {__name = "Named"}) ~= nil)
print("\xff\xfe", "é")
return print("x")
--## print of what has a wrong tostring
print(setmetatable({}, {__tostring = function() return 5 end}))
--## print of what has a failing tostring
print(setmetatable({}, {__tostring = function() error("failing") end}))
--## rawequal
local try = require("try")
local t = setmetatable({}, {__eq = function() return true end})
return {try(rawequal, {t, t}, {t, {}}, {1, 1.0}, {"1", 1}, {0.0, -0.0}, {nil, nil, n = 2}, {}, {1})}
--## rawget
local try = require("try")
local t = setmetatable({a = 1}, {__index = function() return 2 end})
return {t.b, try(rawget, {t, "a"}, {t, "b"}, {t}, {1, 2}, {})}
--## rawlen
local try = require("try")
return try(rawlen, {{1, 2}}, {"abc"}, {setmetatable({}, {__len = function() return 9 end})}, {1}, {}, {nil, n = 1})
--## rawset
local try = require("try")
local t = setmetatable({}, {__newindex = function() error("never") end})
return {try(rawset, {t, "a", 1}, {t, nil, 1, n = 3}, {t, 0 / 0, 1}, {t, 1}, {1, 2, 3}, {}), t.a}
--## select
local try = require("try")
return try(select, {"#"}, {"#", nil, nil, n = 3}, {1, "a", "b"}, {2, "a", "b"}, {-1, "a", "b"}, {-2, "a", "b"},
  {-3, "a", "b"}, {0, "a"}, {5, "a"}, {"x"}, {}, {"2", "a", "b"}, {1.5, "a"}, {2.0, "a", "b"}, {math.maxinteger, 1})
--## tonumber without a base
local try = require("try")
return try(tonumber, {1}, {1.5}, {"10"}, {"  10  "}, {"0x10"}, {"-0x10"}, {"1e1"}, {"0x1p4"}, {"1e"}, {""}, {" "},
  {"10a"}, {"1 0"}, {"0x"}, {"inf"}, {"nan"}, {"1_000"}, {".5"}, {"5."}, {"."}, {"- 1"}, {"--1"}, {"+1"}, {true},
  {nil, n = 1}, {}, {{}}, {"9223372036854775807"}, {"9223372036854775808"}, {"-9223372036854775808"},
  {"-9223372036854775809"}, {"0xffffffffffffffff"}, {"0x1ffffffffffffffff"}, {"1e308"}, {"1e309"}, {"-1e309"},
  {"0x.8"}, {"0x8."}, {"0x.8p1"}, {"\t\n\v\f\r1"}, {"1\0"}, {"٣"}, {"1e-400"}, {"0x1p-1080"}, {"infinity"}, {"0b1"})
--## tonumber with a base
local try = require("try")
return try(tonumber, {"10", 2}, {"ff", 16}, {"FF", 16}, {"zz", 36}, {"8", 8}, {"-101", 2}, {" 11 ", 3}, {"", 10},
  {"1.0", 10}, {"1", 1}, {"1", 37}, {1, 10}, {"1", "x"}, {"1", 2.5}, {"7fffffffffffffff", 16},
  {"8000000000000000", 16}, {"ffffffffffffffffff", 16}, {nil, 10, n = 2}, {"1e1", 16}, {"- 1", 10}, {"-", 10})
--## tostring
local try = require("try")
return {try(tostring, {1}, {1.0}, {-0.0}, {0.0}, {1e15}, {1e16}, {1e100}, {0.1}, {1 / 3}, {123456.789e3}, {-1e-7},
  {math.huge}, {-math.huge}, {math.mininteger}, {math.maxinteger}, {2^53}, {2^63}, {"x"}, {true}, {nil, n = 1}, {},
  {5e-324}, {1.7976931348623157e308}, {100}, {1e14}, {-1.5e300}, {3.14159265358979})}
--## tostring with metamethods
local show = require("show")
local function of(meta) return show(pcall(tostring, setmetatable({}, meta))) end
return {of{__tostring = function() return "own" end}, of{__tostring = function() return 1 end},
  of{__tostring = function() error("x", 0) end}, of{__tostring = 5}, of{__tostring = function() end},
  (tostring(setmetatable({}, {__name = "Named"})):gsub("0?x?%x+$", "address"))}
--## type
local try = require("try")
return try(type, {1}, {1.5}, {"x"}, {nil, n = 1}, {true}, {{}}, {print}, {coroutine.create(print)}, {json.null}, {})
--## xpcall
local show = require("show")
local function handler(message) return "handled: " .. tostring(message) end
return {show(xpcall(error, handler, "x")), show(xpcall(function(...) return ... end, handler, 1, nil)),
  show(xpcall(function() local x; x.y = 1 end, handler)), show(xpcall(error, function() return 1, 2 end, "x")),
  show(pcall(xpcall)), show(pcall(xpcall, print)), show(pcall(xpcall, print, nil)), show(xpcall(error, print, "seen"))}
--## xpcall without a handler raises at its caller
local f = print
xpcall(f)
--## an error in the handler of xpcall
local show = require("show")
local function of(handler) return show(xpcall(error, handler, "first")) end
local count = 0
return {of(function() error("second", 0) end), of(function(m) count = count + 1 error(m, 0) end), count > 1,
  of(function() local x = nil; return x.y end)}
--## the handler of xpcall runs where the error was raised
local depth
local function inner() error("x", 0) end
xpcall(function() inner() end, function() depth = pcall(error) end)
return depth == false
--## _G and _VERSION
_G.fresh = 5
return {_G._G == _G, _VERSION, fresh, rawget(_G, "none") == nil}
--## a global that does not exist is called
nothing()
--## a field of a global that does not exist
return nothing.at.all
--## a method that does not exist
local s = "text"
return s:nothing()
--## a global function under another name
local f = string.rep
f()
--## require of a module
local first, second = require("show"), require("show")
return {first == second, type(first)}
--## an error in a module has the position in the module
local failing = require("failing")
return failing.fail(5)
--## a caught error in a module
return {pcall(require("failing").fail, 5)}
