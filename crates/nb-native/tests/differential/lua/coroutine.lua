-- The coroutine library.

--## coroutine.create and coroutine.resume
local show = require("show")
local co = coroutine.create(function(a, b)
  local c = coroutine.yield(a + b)
  local d, e = coroutine.yield(c * 2)
  return d, e
end)
return {show(coroutine.resume(co, 1, 2)), show(coroutine.resume(co, 10)), show(coroutine.resume(co, "x", nil)), show(coroutine.resume(co)),
  show(pcall(coroutine.create)), show(pcall(coroutine.create, 1))}
--## coroutine.resume without a coroutine raises at its caller
coroutine.resume(5)
--## coroutine.close without a coroutine raises at its caller

coroutine.close("x")
--## coroutine.status
local co
local inside, outer
co = coroutine.create(function()
  inside = coroutine.status(co)
  coroutine.wrap(function() outer = coroutine.status(co) end)()
  coroutine.yield()
end)
local before = coroutine.status(co)
coroutine.resume(co)
local suspended = coroutine.status(co)
coroutine.resume(co)
return {before, inside, outer, suspended, coroutine.status(co), pcall(coroutine.status), pcall(coroutine.status, 1)}
--## coroutine.wrap
local show = require("show")
local f = coroutine.wrap(function() for i = 1, 2 do coroutine.yield(i) end return "done" end)
local out = {f(), f(), f(), show(pcall(f))}
out[#out + 1] = show(pcall(coroutine.wrap))
out[#out + 1] = show(pcall(coroutine.wrap(function() error("inside") end)))
out[#out + 1] = show(pcall(coroutine.wrap(function() error({1}) end)))
return out
--## an uncaught error out of coroutine.wrap
local f = coroutine.wrap(function()
  local x = nil
  return x.y
end)
f()
--## an uncaught error out of wraps in each other
local function deeper(n)
  if n == 0 then error("at the bottom") end
  return coroutine.wrap(deeper)(n - 1)
end
deeper(3)
--## a dead wrap is called
local f = coroutine.wrap(function() end)
f()
f()
--## coroutine.isyieldable
local show = require("show")
return {coroutine.isyieldable(), coroutine.wrap(function() return coroutine.isyieldable() end)(),
  show(pcall(coroutine.isyieldable, coroutine.create(print))), show(pcall(coroutine.isyieldable, 1))}
--## coroutine.running
local main, is_main = coroutine.running()
local co = coroutine.create(function()
  local own, is_own_main = coroutine.running()
  return own ~= main, is_own_main
end)
return {type(main), is_main, coroutine.resume(co)}
--## coroutine.yield outside of a coroutine
coroutine.yield(1)
--## coroutine.yield outside of a coroutine is caught
return {pcall(coroutine.yield)}
--## yielding across pcall
local show = require("show")
local co = coroutine.create(function()
  local ok, value = pcall(function()
    local got = coroutine.yield("first")
    error("raised with " .. got, 0)
  end)
  coroutine.yield(ok, value)
  return "end"
end)
return {show(coroutine.resume(co)), show(coroutine.resume(co, "x")), show(coroutine.resume(co)), show(coroutine.resume(co))}
--## yielding across xpcall
local show = require("show")
local co = coroutine.wrap(function()
  return xpcall(function(a)
    local b = coroutine.yield(a)
    return a + b + nil
  end, function(message) return "handled " .. message end, 1)
end)
return {show(co()), show(co(2))}
--## yielding across pcall that succeeds
local co = coroutine.wrap(function() return pcall(coroutine.yield, 1, 2) end)
local show = require("show")
return {show(co()), show(co(3, nil))}
--## yielding across nested pcalls
local show = require("show")
local co = coroutine.wrap(function() return pcall(pcall, pcall, coroutine.yield, "out") end)
return {show(co()), show(co("in"))}
--## yielding in metamethods
local show = require("show")
local t = setmetatable({}, {__index = function(_, k) return coroutine.yield(k) end, __add = function(a, b) return coroutine.yield("add") end,
  __call = function(_, x) return coroutine.yield(x) end, __lt = function() return coroutine.yield("lt") end, __concat = function() return coroutine.yield("concat") end,
  __eq = function() return coroutine.yield("eq") end, __len = function() return coroutine.yield("len") end, __newindex = function(_, k) coroutine.yield(k) end})
local co = coroutine.wrap(function()
  t.set = 1
  return t.field, t + 1, t(5), t < t, t .. "x", t == setmetatable({}, getmetatable(t)), #t
end)
local out = {}
for i = 1, 8 do out[i] = show(co(i)) end
out[9] = show(co("last"))
return out
--## yielding in an iterator
local co = coroutine.wrap(function()
  for x in function(_, last) return coroutine.yield(last) end do
    if x == 3 then return "stopped" end
  end
end)
local show = require("show")
return {show(co()), show(co(1)), show(co(2)), show(co(3))}
--## yielding across a function of C
local show = require("show")
local function across(f, ...)
  local co = coroutine.wrap(f)
  return show(pcall(co, ...))
end
return {across(string.gsub, "x", ".", function() coroutine.yield() end), across(load, function() coroutine.yield() end),
  across(tostring, setmetatable({}, {__tostring = function() coroutine.yield() end})),
  across(table.concat, setmetatable({}, {__len = function() return 1 end, __index = function() coroutine.yield() end}))}
--## yielding in print
local co = coroutine.wrap(function() print(setmetatable({}, {__tostring = function() coroutine.yield() end})) end)
return {pcall(co)}
--## coroutine.close
local show = require("show")
local closed = {}
local co = coroutine.create(function()
  local a <close> = setmetatable({}, {__close = function(_, e) closed[#closed + 1] = show("a", e) end})
  local b <close> = setmetatable({}, {__close = function(_, e) closed[#closed + 1] = show("b", e) error("in b", 0) end})
  coroutine.yield(1)
end)
coroutine.resume(co)
local failed = coroutine.create(error)
coroutine.resume(failed, "x")
return {show(coroutine.close(co)), closed, coroutine.status(co), show(coroutine.close(coroutine.create(print))), show(coroutine.close(failed)),
  show(coroutine.close(failed)), show(pcall(coroutine.close, coroutine.running()))}
--## wrong arguments of coroutine.close and coroutine.resume are told at their caller
local _, close = pcall(function() coroutine.close(1) end)
local _, resume = pcall(function() coroutine.resume({}) end)
return {close, resume}
--## a coroutine that resumes itself
local co
co = coroutine.create(function() return coroutine.resume(co) end)
return {coroutine.resume(co)}
--## a wrap that calls itself
local f
f = coroutine.wrap(function() return f() end)
return {pcall(f)}
--## resuming the running coroutine's parent
local parent = coroutine.running()
return {coroutine.wrap(function() return coroutine.resume(parent) end)()}
--## errors of each type leave a coroutine
local show = require("show")
local out = {}
for i, value in ipairs{1, "text", {1}, true, print} do out[i] = show(coroutine.resume(coroutine.create(error), value)) end
out[#out + 1] = show(coroutine.resume(coroutine.create(error)))
return out
--## a generator
local function primes(n)
  return coroutine.wrap(function()
    for i = 2, n do
      local prime = true
      for j = 2, math.floor(math.sqrt(i)) do
        if i % j == 0 then prime = false break end
      end
      if prime then coroutine.yield(i) end
    end
  end)
end
local out = {}
for p in primes(50) do out[#out + 1] = p end
return out
--## producers and consumers
local function producer(items) return coroutine.create(function() for _, item in ipairs(items) do coroutine.yield(item) end end) end
local function filter(source, keep)
  return coroutine.create(function()
    while true do
      local _, item = coroutine.resume(source)
      if item == nil then return end
      if keep(item) then coroutine.yield(item) end
    end
  end)
end
local out, source = {}, filter(producer{1, 2, 3, 4, 5, 6}, function(x) return x % 2 == 0 end)
while true do
  local _, item = coroutine.resume(source)
  if item == nil then break end
  out[#out + 1] = item
end
return out
--## many coroutines
local all = {}
for i = 1, 500 do all[i] = coroutine.wrap(function() local sum = 0 while true do sum = sum + coroutine.yield(sum) end end) end
for i = 1, 500 do all[i]() end
local total = 0
for round = 1, 3 do for i = 1, 500 do total = total + all[i](i) end end
return total
--## coroutines in each other too deep
local function deeper(n) return coroutine.wrap(function() return deeper(n + 1) end)() end
local ok, message = pcall(deeper, 1)
return {ok, (message:gsub("test.lua:%d+: ", ""))}
