-- The caller's parameters stand in the global `parameters`; what is returned is the tool's result.
return "Hello, " .. parameters.name .. "!"
