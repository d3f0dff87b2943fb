-- The math library.

--## rounding
local try = require("try")
return {try(math.floor, {1.5}, {-1.5}, {2}, {2^53}, {1e300}, {math.huge}, {-0.0}, {"2.7"}, {"x"}, {nil, n = 1}, {}, {{}}, {2^63}, {-2^63}),
  try(math.ceil, {1.5}, {-1.5}, {2}, {1e300}, {-math.huge}, {-0.5}, {"2.2"}, {}, {true}, {2^62 + 0.5}),
  try(math.modf, {3.7}, {-3.7}, {5}, {math.huge}, {-math.huge}, {0 / 0}, {"1.5"}, {}, {-0.0}, {1e300})}
--## math.abs
local try = require("try")
return try(math.abs, {-1}, {1.5}, {-1.5}, {math.mininteger}, {-0.0}, {-math.huge}, {"-3"}, {"-3.5"}, {}, {{}}, {0 / 0})
--## math.max and math.min
local try = require("try")
return {try(math.max, {1, 2}, {1, 2.5}, {2, 2.0}, {2.0, 2}, {-0.0, 0.0}, {math.huge, 1}, {}, {1}, {"1", 2}, {1, "x"}, {0 / 0, 1}, {1, 0 / 0}),
  try(math.min, {1, 2}, {1, 0.5}, {1, 1.0}, {math.mininteger, -math.huge}, {}, {nil, n = 1}, {3, 2, 1}, {math.maxinteger, 2^63})}
--## math.fmod
local try = require("try")
return try(math.fmod, {7, 3}, {-7, 3}, {7, -3}, {-7, -3}, {7.5, 2}, {-7.5, 2}, {7, 0}, {7, 0.0}, {7.0, 0}, {math.mininteger, -1}, {math.mininteger, 1},
  {1e300, 3}, {math.huge, 2}, {5, math.huge}, {5, -math.huge}, {1}, {"7", "4"}, {-6, 2}, {-6.0, 2}, {math.maxinteger, 2}, {"x", 1})
--## math.tointeger
local try = require("try")
return try(math.tointeger, {1}, {1.0}, {1.5}, {"1"}, {"1.0"}, {"x"}, {2^63}, {-2^63}, {2^53}, {math.huge}, {0 / 0}, {}, {{}}, {-0.0}, {"0x10"}, {true})
--## math.type
local try = require("try")
return try(math.type, {1}, {1.0}, {"1"}, {nil, n = 1}, {}, {{}}, {2^31}, {1e15})
--## math.ult
local try = require("try")
return try(math.ult, {1, 2}, {-1, 1}, {1, -1}, {0, 0}, {1.0, 2}, {1.5, 2}, {"1", 2}, {1}, {}, {math.maxinteger, math.mininteger})
--## roots and powers
local try = require("try")
return {try(math.sqrt, {4}, {2}, {0}, {-0.0}, {-1}, {math.huge}, {"9"}, {"x"}, {}), 2^10, 2^0.5 == math.sqrt(2), 2^-1, (-8)^(1 / 3) ~= (-8)^(1 / 3), 0^0,
  2^63 == math.maxinteger + 1.0, 10^2, "2"^"3", 1e200^2 == math.huge, (-2)^3, (-2)^2, -2^2}
--## exponentials to ten digits
local function round(x) return ("%.10g"):format(x) end
local out = {}
for _, x in ipairs{0, 1, -1, 0.5, 10, -10, 100, 700, 1e-10} do out[#out + 1] = round(math.exp(x)) end
for _, x in ipairs{1, 2, 0.5, 10, 1e10, 1e300, 5e-324, math.exp(1)} do
  out[#out + 1] = round(math.log(x)) .. " " .. round(math.log(x, 2)) .. " " .. round(math.log(x, 10)) .. " " .. round(math.log(x, 3))
end
return out
--## math.exp and math.log of what is special
local try = require("try")
return {try(math.exp, {0}, {math.huge}, {-math.huge}, {1000}, {-1000}, {"0"}, {"x"}, {}), try(math.log, {1}, {0}, {math.huge}, {8, 2}, {1000, 10}, {1, 1},
  {-1}, {0 / 0}, {"1"}, {}, {8, "2"}, {8, {}}, {8, 0}, {-0.0})}
--## trigonometry to ten digits
local out = {}
for _, name in ipairs{"sin", "cos", "tan", "asin", "acos", "atan"} do
  for _, x in ipairs{0, 0.5, -0.5, 1, -1, 0.1, 1e-5} do out[#out + 1] = name .. (" %g %.10g"):format(x, math[name](x)) end
end
for _, x in ipairs{10, 100, 1e6, -1e10} do out[#out + 1] = ("%.10g %.10g %.8g"):format(math.sin(x), math.cos(x), math.tan(x)) end
return out
--## trigonometry of what is special
local try = require("try")
return {try(math.sin, {0}, {-0.0}, {math.huge}, {"x"}, {}), try(math.cos, {0}, {-math.huge}, {nil, n = 1}), try(math.tan, {0}, {math.huge}, {}),
  try(math.asin, {2}, {1}, {}), try(math.acos, {2}, {1}, {}), try(math.atan, {1, 1}, {1, -1}, {-1, -1}, {0, -1}, {-0.0, -1}, {0, 0}, {math.huge, math.huge},
  {1}, {math.huge}, {"1", "1"}), pcall(function() return math.atan() end), pcall(function() return math.atan(1, "x") end)}
--## angles
return {("%.10f"):format(math.deg(math.pi)), ("%.10f"):format(math.rad(180)), math.deg(0), math.rad(0.0), pcall(math.deg), pcall(math.rad, "x"),
  ("%.14f"):format(math.pi), math.huge > 1e308}
--## math.random with a seed
math.randomseed(42)
local out = {}
for i = 1, 5 do out[#out + 1] = math.random(1, 100) end
for i = 1, 3 do out[#out + 1] = ("%.14g"):format(math.random()) end
out[#out + 1] = math.random(0)
out[#out + 1] = math.random(5)
out[#out + 1] = math.random(math.mininteger, math.maxinteger)
math.randomseed(42, 7)
out[#out + 1] = math.random(1000000)
math.randomseed(1.0)
out[#out + 1] = math.random(1000000)
math.randomseed("5")
out[#out + 1] = math.random(1000000)
math.randomseed(1.5)
out[#out + 1] = math.random(1000000)
return out
--## math.random seeded by the run
return {math.random(1, 1000000), math.random(1, 1000000), ("%.14g"):format(math.random())}
--## math.randomseed without a seed asks the run
math.randomseed()
return math.random(1, 1000000)
--## math.random with wrong arguments
local try = require("try")
return try(math.random, {0.5}, {2, 1}, {"x"}, {1, 2, 3}, {1, "x"}, {{}}, {-1}, {1, 1}, {3.0, 3}, {1e300}, {math.maxinteger, math.mininteger}, {nil, n = 1})
--## math.randomseed with wrong arguments
local try = require("try")
return try(math.randomseed, {"x"}, {{}}, {1, "x"}, {1, {}})
--## an uncaught wrong argument of math.random
local n = 0

return math.random(n - 5)
--## an uncaught wrong argument of math.randomseed
math.randomseed({})
--## math.maxinteger and math.mininteger
return {math.maxinteger, math.mininteger, math.maxinteger + 1 == math.mininteger, math.mininteger // -1, math.mininteger % -1, math.maxinteger * 2,
  -math.mininteger, math.abs(math.mininteger), math.maxinteger + 1.0, math.maxinteger // 1 | 0}
--## wrong arguments of math.random
local try = require("try")
return {try(math.random, {"a"}, {2, 1}, {1, 2, 3}, {{}}, {1.5}), try(math.randomseed, {{}}, {1, "x"}, {nil, 2})}
--## an uncaught wrong argument of math.random
local x = math.random("a")
--## an uncaught wrong argument of math.randomseed
math.randomseed(1, {})
--## too many arguments of math.random
local x = math.random(1, 2, 3)
--## math.random as a method
local x = math:random()
--## math.random as a method with an argument that is wrong
local x = math.random
local t = {random = x}
local y = (5 .. ""):rep(1) and t.random(3, "b")
--## math.random in a tail call
return math.random("a")
