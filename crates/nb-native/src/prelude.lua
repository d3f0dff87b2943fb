-- An error that one of our functions raises passes through Rust and is a userdata. Whatever hands a caught error to a
-- script hands over its text instead, as if Lua had raised it.
local plain = ...

-- What is written to it becomes lines of the log, in order with what other programs write there.
io.stdout:setvbuf("line")

local pcall, xpcall, type = pcall, xpcall, type
local resume, close = coroutine.resume, coroutine.close

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

function coroutine.resume(...)
  return caught(resume(...))
end

function coroutine.close(...)
  return caught(close(...))
end
