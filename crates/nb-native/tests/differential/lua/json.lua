-- The functions of json.

--## json.decode of values
local try = require("try")
return try(json.decode, {"1"}, {"1.0"}, {"-0"}, {"-0.0"}, {"1e2"}, {"true"}, {"false"}, {"null"}, {'"text"'}, {"[]"}, {"{}"}, {"[1,[2,[3]]]"}, {'{"a":{"b":null}}'},
  {"[null,1,null]"}, {" \t\r\n1 "}, {'"\\u00e9\\ud834\\udd1e\\/\\b\\f\\n\\r\\t\\"\\\\"'}, {'{"":1}'}, {5}, {1.5})
--## json.decode of numbers at the borders
local try = require("try")
return try(json.decode, {"9223372036854775807"}, {"9223372036854775808"}, {"-9223372036854775808"}, {"-9223372036854775809"}, {"1e308"}, {"1e309"}, {"-1e400"}, {"5e-324"}, {"1e-400"},
  {"0.1"}, {"123456789012345678901234567890"}, {"1E+2"}, {"1e-2"}, {("1"):rep(512)}, {("1"):rep(513)}, {"0." .. ("3"):rep(500)}, {"18446744073709551616"}, {"9007199254740993.0"})
--## json.decode of what is no JSON
local try = require("try")
return try(json.decode, {""}, {" "}, {"nul"}, {"nulll"}, {"01"}, {"1."}, {".5"}, {"-"}, {"+1"}, {"1e"}, {"1e+"}, {"0x10"}, {"NaN"}, {"Infinity"}, {"-Infinity"}, {"'a'"}, {'"a'}, {'"a\\'}, {'"\\x"'}, {'"\\u12"'},
  {'"\\u12g4"'}, {'"\\ud800"'}, {'"\\ud800x"'}, {'"\\ud800\\u0041"'}, {'"\\udc00"'}, {'"\1"'}, {'"\n"'}, {"[1,]"}, {"[1"}, {"[1 2]"}, {"[,]"}, {"["}, {"{"}, {"{1:2}"}, {'{"a"}'}, {'{"a":}'},
  {'{"a":1,}'}, {'{"a":1'}, {'{"a" 1}'}, {'{"a":1 "b":2}'}, {"1 2"}, {"[] []"}, {"tru"}, {"// comment"}, {"\xef\xbb\xbf1"}, {"[1,2"}, {"1\0"}, {"\0"})
--## json.decode with wrong arguments
local try = require("try")
return try(json.decode, {}, {nil, n = 1}, {{}}, {true}, {print})
--## an uncaught error of json.decode
local text = "{oops}"

return json.decode(text)
--## json.decode without an argument
return json.decode()
--## json.decode of bytes that are not UTF-8
local show = require("show")
return show(pcall(json.decode, '"\xff"'))
--## json.decode of deep nesting
local show = require("show")
local function nested(n) return ("["):rep(n) .. ("]"):rep(n) end
local function objects(n) return ('{"a":'):rep(n) .. "1" .. ("}"):rep(n) end
return show(#json.decode(nested(127)), #json.decode(nested(128)), pcall(json.decode, nested(129)), pcall(json.decode, objects(127)) , pcall(json.decode, objects(128)), pcall(json.decode, nested(100000)))
--## json.decode of a key twice
return json.decode('{"a":1,"a":2}')
--## json.decode of a key twice, then null
return json.decode('{"a":1,"a":null}')
--## json.encode of values
local try = require("try")
return try(json.encode, {nil, n = 1}, {true}, {false}, {1}, {-1}, {1.0}, {-0.0}, {0.1}, {1e15}, {1e16}, {1e100}, {2^53}, {1 / 3}, {5e-324}, {1.7976931348623157e308}, {math.maxinteger}, {math.mininteger}, {"text"},
  {"\"\\/\b\f\n\r\t\0\31\127"}, {"é𝄞\u{2028}"}, {{}}, {{1, 2}}, {{{}, {1}}}, {{a = 1}}, {{[3] = 1}}, {{[-1] = 1}}, {json.null}, {{json.null}}, {{a = json.null}}, {123456.789}, {1e-7}, {100000000000000.5})
--## json.encode of what has no JSON form
local try = require("try")
return try(json.encode, {print}, {coroutine.create(print)}, {0 / 0}, {1 / 0}, {-1 / 0}, {{1, {print}}}, {{a = {b = print}}}, {{a = {1, 2, 0 / 0}}}, {"\xff"}, {{"\xed\xa0\x80"}}, {{["\xff"] = 1}}, {{[1.5] = 1}}, {{[true] = 1}},
  {{[{}] = 1}}, {}, {{[print] = 1}}, {{x = {[1.5] = 1}}}, {{["a\0b"] = {print}}}, {{["é"] = print}}, {{[7] = print}})
--## an uncaught error of json.encode
local value = {list = {1, 2, print}}
return json.encode(value)
--## json.encode without an argument
return json.encode()
--## json.encode of a table in itself
local t = {}
t.t = t
return {pcall(json.encode, t)}
--## json.encode of deep nesting
local function nested(n) local t = {} for _ = 2, n do t = {t} end return t end
local show = require("show")
return show(#json.encode(nested(128)), pcall(json.encode, nested(129)))
--## a result that nests too deep
local t = {}
for _ = 1, 200 do t = {t} end
return t
--## a result that is a function
return print
--## a result with a function in it
return {a = {1, 2, {b = print}}}
--## a result that is not a number
return 0 / 0
--## a result that is infinite
return {1 / 0}
--## a result that is not UTF-8
return "\xff"
--## a result with a wrong key
return {[1.5] = 1}
--## a result with a key that is not UTF-8
return {["\xff"] = 1}
--## a result that is a coroutine
return coroutine.create(print)
--## a result with holes
return {1, nil, 3, nil}
--## a result with metamethods
return setmetatable({1, 2}, {__index = function() error("never") end, __len = function() return 10 end, __pairs = function() error("never") end})
--## json.encode and metamethods
return {json.encode(setmetatable({}, {__index = {1, 2}})), json.encode(setmetatable({a = 1}, {__tostring = function() return "x" end}))}
--## json.array
local try = require("try")
local marked = json.array({})
return {json.encode(json.array()), json.encode(marked), json.encode({}), try(json.array, {{1}}, {1}, {"x"}, {nil, n = 1}, {}), rawequal(json.array(marked), marked), json.encode(json.array({1, 2})),
  json.encode(json.array({a = 1})), json.encode(json.array({1, 2, a = 3})):len()}
--## json.array with a wrong argument raises at its caller

return json.array("x")
--## an array stays an array when it is emptied
local t = json.decode("[1,2]")
t[1], t[2] = nil, nil
local u = json.decode("[]")
u[1] = "x"
return {json.encode(t), json.encode(u), json.encode(json.decode("[]"))}
--## an array that gets a key is no array any more
local t = json.decode("[1]")
t.x = 2
return json.decode(json.encode(t))
--## an array that is emptied and gets a key is an object
local t = json.decode("[]")
t.x = 2
return json.encode(t)
--## json.encode of a table that is neither array nor object
local try = require("try")
return try(json.encode, {{1, nil, 3}}, {{[10] = 1}}, {{[0] = 1, 2}}, {{[-3] = 1}}, {{1, b = 2, a = 3}}, {{[4] = 1, [5] = 2}}, {{x = {1, y = 2}}}, {{x = {{[2] = 1}}}}, {{1, [1.5] = 2}}, {{1, ["a\0b"] = 2}}, {{1, ["\xff\n"] = 2}},
  {{1, 2, [4] = 4, [6] = 6}}, {{[math.maxinteger] = 1}}, {{[math.mininteger] = 1}}, {{[true] = 1, 1}}, {{a = 1, [3] = 2}}, {{1, ab = 2, a = 3}})
--## json.array of a table that is not a list
local try = require("try")
return try(json.array, {{a = 1}}, {{1, nil, 3}}, {{[2] = 1}}, {{1, a = 2}}, {{[1.5] = 1}}, {{[0] = 1}})
--## a result that is neither array nor object
return {list = {1, nil, 3}}
--## json.decode of a number that is too large, not alone
local try = require("try")
return try(json.decode, {"[1e400]"}, {'{"a": -1e999}'}, {("9"):rep(400)}, {"1.7976931348623159e308"}, {"1.7976931348623157e308"})
--## json.decode of bytes that are not UTF-8, somewhere
local try = require("try")
return try(json.decode, {"\xff"}, {'["a\xe9"]'}, {'"\xed\xa0\x80"'}, {'"é\xc0\x80"'}, {'"\xf4\x90\x80\x80"'}, {'"\xc3"'})
--## an error value that is a table
error({code = 3})
--## an error value that is a list
error({{1, "two"}, json.null})
--## an error value with a message that is no text
error({message = {1, 2}})
--## json.null
local show = require("show")
return {tostring(json.null), type(json.null), json.null == json.decode("[null]")[1], json.null == nil, show(getmetatable(json.null)), show(pcall(function() return json.null.x end)), show(pcall(function() return json.null + 1 end)),
  show(pcall(function() json.null.x = 1 end)), json.encode({json.null, 1}), not json.null, show(pcall(json.null)), show(pcall(string.rep, json.null)), show(pcall(function() return #json.null end))}
--## an uncaught index of json.null
return json.null.x
--## round trips
local out = {}
for i, text in ipairs{"[]", "{}", "[[],{}]", "[1,2.5,-3,1e+300,0.1]", "9007199254740993", "-9223372036854775808", "1.0", '"a\\"\\\\\\n\\u0000é𝄞"', "[null,1,null]", "true", '{"a":{"b":[{}]}}', "null", '{"1":"x"}'} do
  out[i] = json.encode(json.decode(text))
end
return out
--## a long text
local items = {}
for i = 1, 2000 do items[i] = {id = i} end
local text = json.encode(items)
return {#text, #json.decode(text), json.decode(text)[2000].id}
--## a long array
local t = {}
for i = 1, 20000 do t[i] = i / 4 end
local text = json.encode(t)
return {#text, json.decode(text)[20000]}
--## keys that no JSON has
local try = require("try")
return try(json.encode, {{[true] = 1}}, {{[false] = 1, [true] = 2, x = 3}}, {{[1.5] = 1, [-0.5] = 2, [1e300] = 3}}, {{[1 / 0] = 1}}, {{[print] = 1}}, {{[{}] = 1, [coroutine.create(print)] = 2}}, {{[json.null] = 1}},
  {{a = {{["\xff\n"] = 1}}}}, {{1, 2, [0.5] = 3}})
--## a key that no JSON has in the result
return {list = {{[2.5] = 1}}}
