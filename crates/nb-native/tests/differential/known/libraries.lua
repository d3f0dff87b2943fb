-- What native Lua has and the guest does not.

--## the collector cannot be tuned in the guest
-- why: the guest knows no option that changes how its collector works
-- guest: [false,"bad argument #1 to 'collectgarbage' (invalid option 'stop')"]
-- native: [true,0]
return {pcall(collectgarbage, "stop")}
--## libraries that are native alone
-- why: nothing of the guest reaches outside, and native Lua has everything
-- guest: ["nil","nil","nil","nil","nil","nil","nil","nil"]
-- native: ["table","table","table","table","function","function","function","function"]
return {type(os), type(io), type(package), type(debug), type(dofile), type(loadfile), type(warn), type(string.dump)}
--## the guest has the view of Fennel alone
-- why: in the guest a script cannot compile Fennel
-- guest: ["nil","function"]
-- native: ["function","function"]
return {type(fennel.eval), type(fennel.view)}
--## a binary chunk is refused by the guest
-- why: a made-up binary chunk can read and write any memory, which is harmless only outside of the sandbox
-- guest: [false,"attempt to load a binary chunk (mode is 't')"]
-- native: [false,"x: bad binary format (truncated chunk)"]
return {load("\27Lua", "=x", "b") ~= nil, (select(2, load("\27Lua", "=x", "b")))}
--## a module that is not there
-- why: native Lua looks for it in the files of the machine as well
-- guest: [false,"module 'nowhere' not found; tools/lib has failing, macros, show, try"]
-- native: [false,"module 'nowhere' not found:"]
local ok, message = pcall(require, "nowhere")
return {ok, (message:gsub("\n.*", ""))}
--## deprecated functions of math
-- why: native Lua is built with what Lua 5.3 still had
-- guest: ["nil","nil","nil"]
-- native: ["function","function","function"]
return {type(math.pow), type(math.atan2), type(math.ldexp)}
--## a reader that gives no text
-- why: in the guest a function of ours stands between the script and Lua's own `load`
-- guest: [false,"reader function must return a string"]
-- native: [false,"test.lua:4: reader function must return a string"]
local f, message = load(function() return {} end)
return {f ~= nil, message}
