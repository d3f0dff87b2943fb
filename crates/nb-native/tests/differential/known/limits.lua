-- How deep calls nest.

--## a recursion that native Lua has room for
-- why: the guest's stack has 200,000 slots, so that it fits into its memory; native Lua's has a million
-- guest: runtime error: test.lua:6: stack overflow
-- native: 150000
local function depth(n)
  if n == 0 then return 0 end
  return 1 + depth(n - 1)
end
return depth(150000)
--## endless recursion
-- why: a million slots and the calls in them are more than the memory of a call
-- guest: runtime error: test.lua:4: stack overflow
-- native: limit: out of memory
local function f() return 1 + f() end
f()
--## endless recursion is caught
-- why: a million slots and the calls in them are more than the memory of a call
-- guest: [false,"test.lua:4: stack overflow"]
-- native: [false,"not enough memory"]
local function f() return 1 + f() end
return {pcall(f)}
