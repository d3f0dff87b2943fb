-- The functions of nb. The host answers with its arguments.

--## nb.call
local show = require("show")
return show(nb.call("echo", {a = 1}), nb.call("echo"), nb.call("echo", {}), nb.call("echo", nil), nb.call("echo", {1, 2.5, {x = json.null}}), nb.call("echo", json.array()))
--## nb.call with an empty array keeps it
return {json.encode(nb.call("echo", json.array())), json.encode(nb.call("echo", {list = json.array()}))}
--## nb.call with wrong arguments
local try = require("try")
return try(nb.call, {}, {nil, n = 1}, {{}}, {"echo", 1}, {"echo", "text"}, {"echo", {print}}, {"\xff", {}}, {5, {}}, {"echo", {x = 0 / 0}}, {"echo", {}, "more"}, {"echo", false}, {true})
--## nb.call that is refused
return {pcall(nb.call, "refuse", {x = 1})}
--## nb.call that is refused is caught by its caller
local ok, message = pcall(function()
  return nb.call("refuse")
end)
return {ok, message}
--## nb.call that is refused and not caught
local function ask()

  return nb.call("refuse") .. ""
end
return ask()
--## nb.call whose answer is not JSON
local x = nb.call("broken")
--## nb.call whose answer is not JSON is caught
return {pcall(nb.call, "broken")}
--## an uncaught wrong argument of nb.call
nb.call("echo", 5)
--## nb.call with what has no JSON form
local t = {a = {print}}
nb.call("echo", t)
--## nb.call without anything
nb.call()
--## nb.call as a method
nb:call("echo")
--## nb.call in a coroutine
local f = coroutine.wrap(function(x)
  while true do x = coroutine.yield(nb.call("echo", {x}).x or nb.call("echo", {x})[1]) end
end)
return {f(1), f("two"), f(3.5)}
--## nb.call in a module
return {pcall(require("failing").call, nb.call, "refuse")}
--## nb.kv
local show = require("show")
return show(nb.kv.get("k"), nb.kv.set("k", {1, 2}), nb.kv.set("k", nil), nb.kv.delete("k"), nb.kv.list(), nb.kv.list("p"), nb.kv.increment("k"), nb.kv.increment("k", 2.5), nb.kv.increment("k", "3"),
  nb.kv.compare_and_set("k", nil, 1), nb.kv.compare_and_set("k", 1, json.null), nb.kv.get(5))
--## nb.kv with wrong arguments
local try = require("try")
return {try(nb.kv.get, {}, {{}}, {nil, n = 1}, {"\xff"}), try(nb.kv.set, {}, {"k"}, {1}, {{}, 1}, {"k", print}), try(nb.kv.delete, {}, {true}), try(nb.kv.list, {{}}, {1}), try(nb.kv.increment, {{}}, {"k", "x"}, {"k", {}}, {"k", 0 / 0}),
  try(nb.kv.compare_and_set, {}, {"k"}, {"k", 1}, {{}, 1, 2}, {"k", print, 1})}
--## nb.kv.increment without a key
return {pcall(nb.kv.increment)}
--## an uncaught wrong argument of nb.kv.set
nb.kv.set("k")
--## an uncaught wrong argument of nb.kv.get
nb.kv.get({})
--## an uncaught wrong argument of nb.kv.increment
nb.kv.increment("k", "many")
--## nb.http.fetch
local show = require("show")
local try = require("try")
return {show(nb.http.fetch("http://a.test/")), show(nb.http.fetch{url = "http://a.test/", method = "POST", headers = {a = "b"}, body = "x"}), try(nb.http.fetch, {}, {nil, n = 1}, {5}, {true}, {{}}, {{body = print}})}
--## nb.log
local show = require("show")
local try = require("try")
return {show(nb.log.info("message"), nb.log.error(5), nb.log.info(true), nb.log.info(setmetatable({}, {__tostring = function() return "own" end}))), try(nb.log.info, {}, {nil, n = 1}, {"\xff"}),
  try(nb.log.error, {}, {setmetatable({}, {__tostring = function() error("no text", 0) end})})}
--## nb.notify
local show = require("show")
local try = require("try")
return {show(nb.notify("t"), nb.notify("t", "b"), nb.notify("t", "b", "high"), nb.notify("t", nil, "low"), nb.notify{title = "t", body = 5}, nb.notify(5)), try(nb.notify, {}, {{}}, {nil, n = 1}, {"t", {}}, {{title = {}}}, {"t", "b", true}, {{body = "b"}})}
--## nb.notify with any fields
local try = require("try")
return try(nb.notify, {{}}, {{body = "b"}}, {{message = "m"}}, {{title = true}}, {{foo = {}}}, {{priority = print}}, {{title = "t"}, "b"}, {"t", "b", "high", "more"})
--## an uncaught wrong argument of nb.notify
nb.notify({title = print})
--## arguments that a function of nb would lose
local try = require("try")
return {try(nb.http.fetch, {"u", {method = "POST"}}, {{url = "u"}, 1}, {"u", nil}), try(nb.log.info, {"a", "b"}, {"a", nil, "b"}, {nil, nil}), try(nb.event.publish, {"n", 1, 2}),
  try(nb.kv.get, {"k", 1}), try(nb.kv.list, {"p", 1}), try(nb.kv.set, {"k", 1, 2}), try(nb.kv.delete, {"k", 1}), try(nb.kv.increment, {"k", 1, 2}, {1, {}, 2}), try(nb.kv.compare_and_set, {"k", 1, 2, 3}),
  try(nb.call, {"echo", {}, 1}, {"echo", nil, 1}), try(nb.time, {1})}
--## an uncaught argument too many
local x = nb.kv.get("k", 1)
--## a function of nb as a method
local x = nb.log:info("message")
--## a function of nb as a method that has one argument to spare
local x = nb.kv:get("k")
--## a table is logged as JSON
local try = require("try")
return try(nb.log.info, {{}}, {{1, {a = 2}}}, {{print}}, {json.array()}, {setmetatable({}, {})}, {setmetatable({}, {__tostring = function() return "own" end})})
--## nb.event.publish
local show = require("show")
local try = require("try")
return {show(nb.event.publish("n"), nb.event.publish("n", {1}), nb.event.publish("n", "x"), nb.event.publish("n", false)), try(nb.event.publish, {}, {{}}, {"n", print})}
--## nb.time
return {("%.6f"):format(nb.time()), math.type(nb.time())}
--## the functions of nb
local names = {}
local function add(prefix, t)
  for key, value in pairs(t) do
    if type(value) == "table" then add(prefix .. key .. ".", value) else names[#names + 1] = prefix .. key .. " " .. type(value) end
  end
end
add("", nb)
add("json.", json)
table.sort(names)
return names
