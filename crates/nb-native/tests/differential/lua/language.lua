-- Statements, functions and scopes.

--## nothing is null
--## nil is null
return nil
--## the first value is the result
return 1, 2, 3
--## variables
return {parameters.name, #parameters.list, parameters.list[2] == json.null, parameters.list, parameters.empty, parameters.none}
--## arguments of a program
return select("#", ...)
--## goto
local out = {}
for i = 1, 5 do
  if i % 2 == 0 then goto continue end
  out[#out + 1] = i
  ::continue::
end
do
  local n = 0
  ::again::
  n = n + 1
  if n < 3 then goto again end
  out[#out + 1] = n
end
return out
--## goto makes fresh closures
local fs = {}
do
  local i = 0
  ::top::
  local x = i * 10
  fs[#fs + 1] = function() x = x + 1 return x end
  i = i + 1
  if i < 3 then goto top end
end
return {fs[1](), fs[1](), fs[2](), fs[3]()}
--## goto into the scope of a local
goto past
local x = 1
::past::
return x
--## a label twice
::a:: ::a::
--## no label
goto nowhere
--## break outside of a loop
break
--## numeric for
local out = {}
for i = 1, 3 do out[#out + 1] = i end
for i = 3, 1, -1 do out[#out + 1] = i end
for i = 1, 2, 0.5 do out[#out + 1] = i end
for i = 1.0, 2 do out[#out + 1] = i end
for i = 5, 1 do out[#out + 1] = "never" end
for i = math.maxinteger - 1, math.maxinteger do out[#out + 1] = i end
for i = math.mininteger + 1, math.mininteger, -1 do out[#out + 1] = i end
for i = 1, 2.9 do out[#out + 1] = i end
for i = 1, math.huge do if i > 2 then break end out[#out + 1] = i end
for i = 1, -math.huge do out[#out + 1] = "never" end
return out
--## a numeric for without a step
for i = 1, 10, 0 do end
--## a numeric for with a wrong start
for i = "a", 10 do end
--## a numeric for with a wrong limit
for i = 1, {} do end
--## a numeric for with a wrong step
for i = 1, 10, "x" do end
--## a numeric for with a text that is a number
for i = "1", 2 do end
--## generic for
local out = {}
for a, b in function(state, control) control = control + 1 if control <= state then return control, control * 2 end end, 3, 0 do out[#out + 1] = {a, b} end
return out
--## a generic for over nothing
for x in nil do end
--## a generic for over a table
for x in {1, 2} do end
--## while and repeat
local n, out = 0, {}
while true do n = n + 1 if n > 3 then break end out[#out + 1] = n end
repeat local last = n n = n - 1 until last < 3
out[#out + 1] = n
return out
--## closures in loops
local fs = {}
for i = 1, 3 do fs[i] = function() i = i + 1 return i end end
for _, v in ipairs{"a", "b"} do fs[#fs + 1] = function() return v end end
local j = 0
while j < 2 do j = j + 1 local k = j fs[#fs + 1] = function() k = k + j return k end end
local out = {}
for i, f in ipairs(fs) do out[i] = f() end
out[#out + 1] = fs[1]()
return out
--## closures share a variable
local function counter()
  local n = 0
  return function() n = n + 1 return n end, function() return n end
end
local up, get = counter()
up() up()
local other = counter()
return {get(), other(), get()}
--## varargs
local show = require("show")
local function f(...) local a, b = ... return select("#", ...), a, b, ... end
local function g(...) return (...) end
local function pack(...) return {...}, {n = select("#", ...), ...} end
return show(f(), f(1), f(1, nil, 3), g(1, 2), g(), pack(1, nil), f(nil, nil))
--## many arguments and results
local t = {}
for i = 1, 250 do t[i] = i end
local function last(...) return (select(select("#", ...), ...)) end
local function sum(...) local s = 0 for _, v in ipairs{...} do s = s + v end return s end
return {last(table.unpack(t)), sum(table.unpack(t)), select("#", table.unpack(t)), math.max(table.unpack(t))}
--## multiple assignment
local a, b, c = 1, 2
a, b = b, a
local t = {}
local i = 1
i, t[i] = i + 1, 20
local x, y, z = (function() return 1, 2, 3 end)()
local p, q = ((function() return 1, 2 end)())
return {a, b, c == nil, i, t[1], t[2] == nil, x, y, z, p, q == nil}
--## scopes and shadowing
local x = 1
do local x = x + 1 do local x = x * 10 y_global = x end end
local x = x + 100
if x then local x = "inner" end
return {x, y_global}
--## recursion
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function even(n) if n == 0 then return true end return not even(n - 1) end
local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end
return {fib(15), even(20), ackermann(2, 3)}
--## tail calls
local function loop(n) if n == 0 then return "done" end return loop(n - 1) end
return loop(100000)
--## deep recursion that is not a tail call
local function depth(n) if n == 0 then return 0 end return 1 + depth(n - 1) end
return depth(30000)
--## endless recursion of metamethods
local t = setmetatable({}, {})
getmetatable(t).__index = function(t, k) return t[k + 1] end
local ok, message = pcall(function() return t[1] end)
return {ok, message}
--## endless recursion through pcall
local function f() return pcall(f) end
local show = require("show")
return #show(f()) > 0
--## endless recursion through gsub
local function f(s) return (s:gsub(".", f)) end
local ok, message = pcall(f, "x")
return {ok, message}
--## endless recursion of tostring
local t = setmetatable({}, {__tostring = function(t) return tostring(t) end})
return {pcall(tostring, t)}
--## endless recursion of sort
local function f() table.sort({3, 2, 1}, f) end
return {pcall(f)}
--## nesting that is too deep for the parser
return load("return " .. ("("):rep(300) .. "1" .. (")"):rep(300))
--## nesting that is too deep for the parser is told
local f, message = load("return " .. ("("):rep(300) .. "1" .. (")"):rep(300), "=nested")
return {f == nil, message}
--## blocks that nest too deep
local f, message = load(("do "):rep(300) .. ("end "):rep(300), "=nested")
return {f == nil, message}
--## too many local variables
local text = {}
for i = 1, 201 do text[i] = "local v" .. i end
local f, message = load(table.concat(text, "\n"), "=many")
return {f == nil, message}
--## too many upvalues
local text = {}
for i = 1, 150 do text[#text + 1] = "local a" .. i end
text[#text + 1] = "local function outer()"
for i = 1, 150 do text[#text + 1] = "local b" .. i end
text[#text + 1] = "return function() return 0"
for i = 1, 150 do text[#text + 1] = "+ a" .. i .. " + b" .. i end
text[#text + 1] = "end end"
local f, message = load(table.concat(text, "\n"), "=upvalues")
return {f == nil, message}
--## a chunk with very many constants
local text = {"return {"}
for i = 1, 70000 do text[#text + 1] = '"k' .. i .. '",' end
text[#text + 1] = "}"
local f = assert(load(table.concat(text), "=constants"))
local t = f()
return {#t, t[1], t[70000]}
--## a syntax error
local x = = 1
--## a syntax error at the end

local function f(
--## a block that is not closed
if true then

--## a string that is not closed
return "abc
--## a long string that is not closed
return [[abc
--## a wrong escape
return "\q"
--## a decimal escape that is too large
return "\300"
--## a hexadecimal escape that is wrong
return "\xg0"
--## a code point that is too large
return "\u{FFFFFFFFF}"
--## a malformed number
return 3x
--## a character that is none
return @
--## a reserved word as a name
local end = 1
--## an assignment to a call
f() = 1
--## an expression as a statement
1 + 1
--## return in the middle
return 1
print(2)
--## varargs outside of a vararg function
local function f() return ... end
--## an end too many
end
--## an else too many
if 1 then else else end
--## comments
-- line
--[[ long
comment ]] local a = 1 --[==[ another ]] ]==] return a
--## a first line for the shell
local f = load("#!/usr/bin/lua\nreturn 1")
return f == nil
--## an empty statement
;;; local a = 1; ; return a;
--## a method definition
local account = {balance = 0}
function account:deposit(n) self.balance = self.balance + n return self end
function account.report(self) return self.balance end
return account:deposit(5):deposit(7):report()
--## nested functions with fields
local a = {b = {c = {}}}
function a.b.c.f(x) return x * 2 end
function a.b.c:g(x) return self == a.b.c, x end
return {a.b.c.f(4), a.b.c:g(1)}
--## calls without parentheses
local function f(x) return type(x) == "table" and #x or x end
return {f"text", f{1, 2, 3}, f[[long]], #f"abc"}
--## a call on the next line
local t = {f = function() return function(x) return x end end}
local r = t.f
()
return r(5)
--## _ENV
local function f() local _ENV = {x = 5} return x end
local _ENV = setmetatable({y = 7}, {__index = _ENV})
z = 9
return {f(), y, _ENV.z, _G.z == nil}
--## _ENV that is nil
local _ENV = nil
return x
--## integer keys of a loop
local t = {}
for i = 10, 1, -1 do t[i] = i * i end
local sum = 0
for i, v in ipairs(t) do sum = sum + i * v end
return {sum, #t}
--## a queue, a stack, a set
local queue, stack, set = {first = 1, last = 0}, {}, {}
for i = 1, 4 do queue.last = queue.last + 1 queue[queue.last] = i stack[#stack + 1] = i set[i % 3] = true end
local taken = queue[queue.first]
queue[queue.first], queue.first = nil, queue.first + 1
local members = {}
for k in pairs(set) do members[#members + 1] = k end
table.sort(members)
return {taken, queue.last - queue.first + 1, table.remove(stack), #stack, members}
--## the sieve
local composite, primes = {}, {}
for i = 2, 200 do
  if not composite[i] then primes[#primes + 1] = i for j = i * i, 200, i do composite[j] = true end end
end
return {#primes, primes[#primes]}
--## permutations
local out = {}
local function permute(a, n)
  if n == 1 then out[#out + 1] = table.concat(a) return end
  for i = 1, n do
    a[i], a[n] = a[n], a[i]
    permute(a, n - 1)
    a[i], a[n] = a[n], a[i]
  end
end
permute({"a", "b", "c", "d"}, 4)
table.sort(out)
return {#out, out[1], out[24]}
--## memory that is not enough
local s = "x"
while true do s = s .. s end
--## instructions that are not enough
while true do end
--## memory that is not enough is caught and given back
local ok, message = pcall(function()
  local s = "x"
  while true do s = s .. s end
end)
collectgarbage()
return {ok, message, #("y"):rep(1000000)}
