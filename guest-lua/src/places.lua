-- Gives the forms a place that Fennel compiles without one: what they become would be counted to the form before them,
-- and an error in it be told at that form's line.
local fennel = ...

local place_of = fennel["ast-source"]
local specials = getmetatable(fennel.scope().specials).__index

local fields = { "filename", "line", "col", "endline", "bytestart", "byteend" }

-- `(x:method …)` is compiled as `(: x :method …)`, a new list whose first symbol alone has the place.
local function take_place(ast)
  local place = place_of(ast[1])
  if ast.line or not place.line then return end
  for _, field in ipairs(fields) do ast[field] = place[field] end
end

-- What a literal is assigned to is written without a place.
local function place_lines(chunk, first, ast)
  for i = first, #chunk do
    local line = chunk[i]
    if line.leaf and not place_of(line.ast).line then line.ast = ast end
  end
end

for _, name in ipairs({ ":", "set" }) do
  local special = specials[name]
  specials[name] = function(ast, scope, chunk, options)
    local first = #chunk + 1
    take_place(ast)
    local compiled = special(ast, scope, chunk, options)
    place_lines(chunk, first, ast)
    return compiled
  end
end
