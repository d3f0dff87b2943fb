-- Writes values as a text that is the same in each state: keys are sorted, and nothing has an address. What JSON has
-- no form for has one here: nil at any place, infinity, bytes that are not UTF-8.
local one

local function number(value)
  if value ~= value then return "nan" end -- its sign is the processor's
  return ("%s"):format(value)
end

local function text(value)
  local quoted = ("%q"):format(value):gsub("\\\n", "\\n")
  if utf8.len(value) then return quoted end
  return (quoted:gsub("[\x80-\xff]", function(byte) return ("\\%d"):format(byte:byte()) end))
end

local function members(value, depth)
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  local texts = {}
  for i = 1, #keys do texts[i] = "[" .. one(keys[i], depth) .. "]=" .. one(rawget(value, keys[i]), depth) end
  table.sort(texts)
  return "{" .. table.concat(texts, ",") .. "}"
end

function one(value, depth)
  local kind = math.type(value) or type(value)
  if kind == "integer" or kind == "float" then return number(value) end
  if kind == "string" then return text(value) end
  if kind == "nil" or kind == "boolean" or value == json.null then return tostring(value) end
  if kind ~= "table" then return kind end
  if depth == 4 or getmetatable(value) == false then return "table" end
  if #value == 0 then return members(value, depth + 1) end
  local count, texts = 0, {}
  for _ in next, value do count = count + 1 end
  if count ~= #value then return members(value, depth + 1) end
  for i = 1, count do texts[i] = one(rawget(value, i), depth + 1) end
  return "{" .. table.concat(texts, ",") .. "}"
end

return function(...)
  local texts = {}
  for i = 1, select("#", ...) do texts[i] = one((select(i, ...)), 0) end
  return table.concat(texts, " ")
end
