-- A module with functions that fail.
local failing = {}

function failing.fail(x)
  return x.y.z
end

function failing.call(f, ...)
  return f(...)
end

return failing
