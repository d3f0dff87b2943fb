-- What messages call a function, or an argument.

--## the argument that is missed first
-- why: C does not say in which order the arguments of a call are worked out
-- guest: [false,"bad argument #1 to 'math.fmod' (number expected, got no value)"]
-- native: [false,"bad argument #2 to 'math.fmod' (number expected, got no value)"]
return {pcall(math.fmod)}
--## functions that hand over caught errors
-- why: natively a function of Lua stands in for them, which calls them by their short name
-- guest: [false,"bad argument #1 to 'coroutine.close' (thread expected, got no value)","bad argument #1 to 'coroutine.resume' (thread expected, got no value)"]
-- native: [false,"bad argument #1 to 'close' (thread expected, got no value)","bad argument #1 to 'resume' (thread expected, got no value)"]
local _, resume = pcall(coroutine.resume)
local ok, close = pcall(coroutine.close)
return {ok, close, resume}
