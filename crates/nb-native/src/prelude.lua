-- An error that one of our functions raises passes through Rust and is a userdata. Whatever hands a caught error to a
-- script hands over its text instead, as if Lua had raised it.
local plain = ...

-- What is written to it becomes lines of the log, in order with what other programs write there.
io.stdout:setvbuf("line")

local pcall, xpcall, type = pcall, xpcall, type
local error, select = error, select
local resume, close, status = coroutine.resume, coroutine.close, coroutine.status

local function caught(ok, ...)
  if ok then return ok, ... end
  return ok, (plain((...)))
end

function _G.pcall(...)
  return caught(pcall(...))
end

local function handled(f, handler, ...)
  return caught(xpcall(f, function(message)
    local text, ends = plain(message)
    -- Lua counts no instructions while it handles an error that comes out of counting them.
    if ends then return message end
    return handler(text)
  end, ...))
end

function _G.xpcall(...)
  local _, handler = ...
  if type(handler) ~= "function" then return caught(xpcall(...)) end
  return handled(...)
end

-- What Lua itself would say of an argument, at the line of the script.
local function check_thread(name, count, thread)
  if type(thread) == "thread" then return end
  local got = count == 0 and "no value" or type(thread)
  error(("bad argument #1 to '%s' (thread expected, got %s)"):format(name, got), 3)
end

function coroutine.resume(...)
  check_thread("resume", select("#", ...), (...))
  return caught(resume(...))
end

function coroutine.close(...)
  check_thread("close", select("#", ...), (...))
  local status = status(...)
  if status ~= "suspended" and status ~= "dead" then error("cannot close a " .. status .. " coroutine", 2) end
  return caught(close(...))
end
