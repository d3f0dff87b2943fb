-- Calls a function with each of the lists of arguments that follow it, and returns what came of each as a text:
-- `try(string.rep, {"a", 2}, {"a", -1}, {})`. A list with nil in it says how long it is: `{nil, 1, n = 2}`.
local show = require("show")

return function(f, ...)
  local outcomes = {}
  for i, arguments in ipairs({ ... }) do
    outcomes[i] = show(pcall(f, table.unpack(arguments, 1, arguments.n or #arguments)))
  end
  return outcomes
end
