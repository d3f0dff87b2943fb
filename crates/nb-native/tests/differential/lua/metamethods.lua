-- Metamethods of all kinds.

--## arithmetic
local show = require("show")
local meta = {}
for _, name in ipairs{"add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "shl", "shr", "bnot", "concat"} do
  meta["__" .. name] = function(a, b) return name .. " " .. type(a) .. " " .. type(b) end
end
local v = setmetatable({}, meta)
return show(v + 1, 1 + v, v - 1, v * 1, v / 1, v % 1, v ^ 1, -v, v // 1, v & 1, v | 1, v ~ 1, v << 1, v >> 1, ~v, v .. "x", "x" .. v, v .. v, 1 .. v, "1" + v)
--## an arithmetic metamethod that is missing on one side
local show = require("show")
local a = setmetatable({}, {__add = function() return "a" end})
local b = setmetatable({}, {__add = function() return "b" end})
return show(a + b, b + a, a + {}, {} + b, pcall(function() return a - b end), pcall(function() return {} .. a end))
--## comparison
local show = require("show")
local meta = {__lt = function(a, b) return a.n < b.n end, __le = function(a, b) return a.n <= b.n end, __eq = function(a, b) return a.n == b.n end}
local function of(n) return setmetatable({n = n}, meta) end
return show(of(1) < of(2), of(1) <= of(1), of(2) > of(1), of(1) >= of(2), of(1) == of(1), of(1) ~= of(1), of(1) == 1, rawequal(of(1), of(1)),
  pcall(function() return of(1) < 1 end))
--## results of comparisons become booleans
local v = setmetatable({}, {__lt = function() return 5 end, __le = function() return nil end, __eq = function() return "x" end})
return {v < v, v <= v, v == setmetatable({}, getmetatable(v)), v < 1, 1 < v}
--## __index as function and as table
local show = require("show")
local base = {greet = function(self) return "I am " .. self.name end}
local derived = setmetatable({}, {__index = base})
local object = setmetatable({name = "x"}, {__index = derived})
local computed = setmetatable({}, {__index = function(t, k) return k .. "!" end})
return show(object:greet(), object.missing, computed.a, computed[1], rawget(computed, "a"))
--## a long chain of __index
local t = {deep = "found"}
for i = 1, 90 do t = setmetatable({}, {__index = t}) end
return {t.deep, t.nothing == nil}
--## a loop of __index
local a = {}
setmetatable(a, {__index = a})
return a.x
--## a chain of __index that is too long
local t = {}
for i = 1, 2100 do t = setmetatable({}, {__index = t}) end
return t.x
--## __newindex as function and as table
local show = require("show")
local log, store = {}, {}
local f = setmetatable({present = 1}, {__newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end})
f.a, f.present, f.a = 1, 2, 3
local g = setmetatable({}, {__newindex = store})
g.x = 5
return show(log, f, g, store)
--## a loop of __newindex
local a = {}
setmetatable(a, {__newindex = a})
a.x = 1
--## __index of a number
local t = setmetatable({}, {__index = 5})
return t.x
--## __call
local show = require("show")
local callable = setmetatable({}, {__call = function(self, ...) return select("#", ...), ... end})
local twice = setmetatable({}, {__call = callable})
return show(callable(1, nil), callable(), (twice(7)), pcall(setmetatable({}, {__call = 5})))
--## an uncaught call of a table with a wrong __call
local t = setmetatable({}, {__call = "x"})
t()
--## __len, __tostring and __name
local show = require("show")
local v = setmetatable({}, {__len = function() return 42 end, __tostring = function() return "v" end, __name = "Vector"})
return show(#v, tostring(v), pcall(string.rep, v, 1), pcall(function() return v + 1 end), pcall(math.floor, v), pcall(ipairs))
--## __name in messages
local show = require("show")
local v = setmetatable({}, {__name = "My.Type"})
return show(pcall(string.upper, v), pcall(function() return v .. "" end), pcall(function() return v() end), pcall(function() return v < v end), pcall(function() return v < 1 end),
  pcall(function() return #5 + v end), pcall(json.decode, v), pcall(setmetatable, 1, v))
--## __concat
local show = require("show")
local v = setmetatable({}, {__concat = function(a, b) return (type(a) == "table" and "V" or a) .. "+" .. (type(b) == "table" and "V" or b) end})
return show(v .. "a", "a" .. v, "a" .. "b" .. v .. "c" .. "d", v .. v, 1 .. v)
--## __eq is asked for tables alone
local asked = 0
local meta = {__eq = function() asked = asked + 1 return true end}
local a, b = setmetatable({}, meta), setmetatable({}, meta)
return {a == b, a == 1, a ~= b, a == a, asked}
--## __metatable
local show = require("show")
local guarded = setmetatable({}, {__metatable = false})
return show(getmetatable(guarded), pcall(setmetatable, guarded, {}))
--## an error in a metamethod
local v = setmetatable({}, {__add = function(a, b)
  error("no addition")
end})
return v + 1
--## __close
local show = require("show")
local log = {}
local function closing(name, fail)
  return setmetatable({}, {__close = function(_, e) log[#log + 1] = name .. ":" .. tostring(e) if fail then error(name .. " failed", 0) end end})
end
do
  local a <close> = closing("a")
  local n <close> = nil
  local b <close> = closing("b")
  log[#log + 1] = "body"
end
local function early()
  local c <close> = closing("c")
  return "result"
end
log[#log + 1] = early()
log[#log + 1] = show(pcall(function()
  local d <close> = closing("d")
  local e <close> = closing("e", true)
  error("first", 0)
end))
for i = 1, 3 do
  local f <close> = closing("f" .. i)
  if i == 2 then break end
end
return log
--## __close in a generic for
local log = {}
local function each(n)
  local i = 0
  return function() i = i + 1 if i <= n then return i end end, nil, nil, setmetatable({}, {__close = function() log[#log + 1] = "closed" end})
end
for i in each(2) do log[#log + 1] = i end
for i in each(5) do if i == 2 then break end end
return log
--## an uncaught error while closing
local a <close> = setmetatable({}, {__close = function() error("while closing") end})
return 1
--## a value that cannot be closed
local a <close> = 42
--## a constant variable
local a <const> = 5
return a + 1
--## a constant variable is not assigned to
local a <const> = 5
a = 6
--## an attribute that does not exist
local a <final> = 5
--## __gc in order
local log = {}
local function finalized(name) return setmetatable({}, {__gc = function() log[#log + 1] = name end}) end
local a, b, c = finalized("a"), finalized("b"), finalized("c")
b = nil
collectgarbage()
log[#log + 1] = "-"
a, c = nil, nil
collectgarbage()
return log
--## an error in __gc is not seen
setmetatable({}, {__gc = function() error("in gc") end})
collectgarbage()
return "fine"
--## a finalizer brings its object back
local saved
setmetatable({v = 7}, {__gc = function(o) saved = o end})
collectgarbage()
return saved.v
--## __mode
local keys, values = setmetatable({}, {__mode = "k"}), setmetatable({}, {__mode = "v"})
local kept = {}
keys[{}], keys[kept], values.gone, values.kept = 1, 2, {}, kept
collectgarbage()
local count = 0
for _ in pairs(keys) do count = count + 1 end
return {count, keys[kept], values.gone == nil, values.kept == kept}
--## inheritance
local Animal = {}
Animal.__index = Animal
function Animal.new(name) return setmetatable({name = name}, Animal) end
function Animal:speak() return self.name .. " makes a sound" end
local Dog = setmetatable({}, {__index = Animal})
Dog.__index = Dog
function Dog.new(name) return setmetatable(Animal.new(name), Dog) end
function Dog:speak() return Animal.speak(self) .. ": woof" end
return {Animal.new("it"):speak(), Dog.new("Rex"):speak()}
--## strict globals
setmetatable(_G, {__index = function(_, name) error("no variable " .. name, 2) end, __newindex = function(_, name) error("cannot set " .. name, 2) end})
local a = undefined_name
--## the metatable of strings
local meta = getmetatable("")
meta.__add = function(a, b) return "added" end
meta.__index = function(s, k) return k end
return {"a" + "b", ("x").anything, "1" + 1}
