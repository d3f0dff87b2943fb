-- The table library.

--## table.concat
local try = require("try")
return try(table.concat, {{1, 2, 3}}, {{"a", "b"}, ","}, {{}, ","}, {{1, 2, 3}, "-", 2}, {{1, 2, 3}, "-", 2, 3}, {{1, 2, 3}, "-", 3, 2},
  {{1, {}, 3}}, {{1, nil, 3}}, {{1.5, 2.0, -0.0}, " "}, {{true}}, {{1, 2}, 5}, {{1}, nil, 1, 2, n = 4}, {{1, 2}, {}}, {}, {"x"}, {{1, 2}, ",", "1", "2"},
  {{}, ",", math.maxinteger, math.maxinteger}, {{1}, ",", math.mininteger, math.mininteger}, {setmetatable({}, {__len = function() return 2 end,
  __index = function(_, i) return "i" .. i end})})
--## table.insert
local function insert(t, ...)
  local show = require("show")
  local ok, message = pcall(table.insert, t, ...)
  return show(t, ok, message)
end
return {insert({}, 1), insert({1, 2}, 1, 0), insert({1, 2}, 3, 3), insert({1, 2}, 4, 3), insert({1, 2}, 0, 3), insert({1, 2}, -1, 3),
  insert({1}, 1, 2, 3), insert({1}), insert(nil, 1), insert({1, 2}, 2, nil), insert({1}, "x", 2), insert({1}, 1.0, 2), insert({1}, 1.5, 2), insert({1}, nil, 1),
  insert({1, 2}, math.maxinteger, 1), insert({1, 2}, "2", "x")}
--## table.insert with metamethods
local log = {}
local t = setmetatable({}, {__len = function() return 3 end, __newindex = function(t, k, v) log[#log + 1] = {k, v} end,
  __index = function(_, k) return k * 10 end})
table.insert(t, "end")
table.insert(t, 2, "middle")
return log
--## table.move
local show = require("show")
local function move(...) return show(pcall(table.move, ...)) end
return {move({1, 2, 3}, 1, 3, 2), move({1, 2, 3}, 2, 3, 1), move({1, 2, 3}, 1, 0, 5), move({1, 2, 3}, 1, 3, 1, {}), move({1, 2, 3}, 1, 2, 3, {9}),
  move({1}, 1, math.maxinteger, 2), move({1}, 0, math.maxinteger, 2), move({1}, -1, math.maxinteger, 2), move({1, 2}, 1, 2, math.maxinteger), move({1}, 1), move(1, 1, 1, 1),
  move({1}, "1", "1", "2"), move({1}, 1.5, 2, 3), move({1, 2}, 1, 2, 1, 5), move({}, 1, 3, 2), move({1, 2, 3}, 1, 3, -1)}
--## table.pack and table.unpack
local show = require("show")
return {show(table.pack()), show(table.pack(1, nil, 3)), show(table.pack(nil)), show(table.unpack({1, 2, 3})), show(table.unpack({1, 2, 3}, 2)),
  show(table.unpack({1, 2, 3}, 2, 3)), show(table.unpack({}, 1, 3)), show(table.unpack({1, 2}, 2, 1)), show(pcall(table.unpack, {}, 1, 1e7)),
  show(pcall(table.unpack)), show(pcall(table.unpack, {}, 0, math.maxinteger)), show(table.unpack({1, 2}, -1, 1)), show(pcall(table.unpack, {1}, "x")),
  show(pcall(table.unpack, {1}, math.mininteger, math.maxinteger)), show(table.unpack({1, 2}, math.maxinteger, math.maxinteger)),
  show(table.unpack("abc", 1, 2)), show(pcall(table.unpack, 1)), select("#", table.unpack({}, 1, 200))}
--## table.remove
local show = require("show")
local function remove(t, ...)
  local ok, removed = pcall(table.remove, t, ...)
  return show(t, ok, removed)
end
return {remove({1, 2, 3}), remove({1, 2, 3}, 1), remove({1, 2, 3}, 3), remove({1, 2, 3}, 4), remove({1, 2, 3}, 5), remove({}), remove({}, 0), remove({}, 1),
  remove({}, -1), remove({1, 2}, 0), remove({[0] = "zero"}, 0), remove({1, 2}, "1"), remove({1, 2}, 1.5), remove({1}, {}), remove(nil), remove({1, 2, 3}, nil)}
--## table.sort
local show = require("show")
local function sort(t, f)
  local ok, message = pcall(table.sort, t, f)
  return show(t, ok, message)
end
return {sort{3, 1, 2}, sort{}, sort{1}, sort{"b", "a", "c"}, sort({1, 3, 2}, function(a, b) return a > b end), sort{1, "x"}, sort{{}, {}}, sort{1.5, 1, -0.0},
  sort({1, 2}, 5), sort(5), sort({3, 2, 1}, function() error("no order", 0) end), sort{true, false}, sort({2, 1}, nil), sort{1, nil, 3},
  sort({"b", "a"}, function(a, b) return a .. b < b .. a end)}
--## table.sort with an order that is none
local show = require("show")
local function sort(n, f)
  local t = {}
  for i = 1, n do t[i] = i % 7 end
  local ok, message = pcall(table.sort, t, f)
  return show(ok, message)
end
return {sort(50, function() return true end), sort(50, function() return false end), sort(10, function(a, b) return a <= b end),
  sort(3, function() return true end), sort(2, function() return true end), sort(40, function(a, b) return a ~= b end)}
--## an uncaught error in a comparison
local t = {3, 1, 2}
table.sort(t, function(a, b)
  return a.x < b.x
end)
--## sorting many
local t, seed = {}, 12345
for i = 1, 90 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  t[i] = seed % 1000
end
table.sort(t)
local down = table.move(t, 1, 90, 1, {})
table.sort(down, function(a, b) return a > b end)
for i = 2, 90 do assert(t[i - 1] <= t[i] and down[i - 1] >= down[i]) end
return {t[1], t[45], t[90], down[1]}
--## sorting by several keys
local people = {{"Bo", 30}, {"Al", 30}, {"Cy", 25}, {"Di", 41}}
table.sort(people, function(a, b)
  if a[2] ~= b[2] then return a[2] < b[2] end
  return a[1] < b[1]
end)
return people
--## yielding out of a comparison
local co = coroutine.wrap(function() table.sort({2, 1}, function(a, b) coroutine.yield(1) return a < b end) end)
return {pcall(co)}
--## tables as arrays
local t = {1, 2, 3}
t[#t + 1] = 4
t[#t] = nil
t[5] = 5
return {#t >= 3, t[5], t[1.0], t["1"] == nil, t[2^53] == nil, rawlen({n = 1})}
--## float keys become integer keys
local t = {}
t[1.0], t[2.5], t[-0.0] = "one", "half", "zero"
return {t[1], t[2.5], t[0], math.type(next({[3.0] = 1}))}
--## wrong keys
local show = require("show")
local t = {}
return {show(pcall(function() t[nil] = 1 end)), show(pcall(function() t[0 / 0] = 1 end)), t[nil] == nil, t[0 / 0] == nil,
  show(pcall(function() return {[nil] = 1} end))}
--## an uncaught wrong key
local t = {}
t[nil] = 1
--## nested constructors
local show = require("show")
return show({1, 2; 3, x = {y = {z = 1}}, [10] = 5, [1] = "overwritten?", f = print, ["a b"] = 1,}, {n = nil}, {(function() return 1, 2 end)()},
  {(function() return 1, 2 end)(), 5}, {((function() return 1, 2 end)())})
--## a large table
local t = {}
for i = 1, 100000 do t[i] = i end
local sum = 0
for i = #t, 1, -1 do
  sum = sum + t[i]
  t[i] = nil
end
return {sum, #t}
