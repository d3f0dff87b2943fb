-- Translates Fennel, and finds the modules of the package for `require`, for macros, and for Fennel's `include`.
local fennel, modules, load_lua, load_fennel = ...

-- The folders that may stand in front of a module's name.
local folders = { "", "lib.", "tools.lib." }

local by_name = {}
for _, module in ipairs(modules) do by_name[module.name] = module end

local function find(name)
  for _, folder in ipairs(folders) do
    if name:sub(1, #folder) == folder then
      local module = by_name[name:sub(#folder + 1)]
      if module then return module end
    end
  end
end

local function options(file)
  return {
    filename = file,
    correlate = true, -- a line of the Lua source is the line of the Fennel source
    allowedGlobals = false, -- which variables there are is known when a tool is called, not before
    useMetadata = false,
    ["error-pinpoint"] = false, -- no terminal colours
    ["compiler-env"] = "strict", -- as in the sandbox
  }
end

local require, error, loading = require, error, {}

-- Before Lua's own searchers. A module is loaded by its own name; its other names are those of its folders.
table.insert(package.searchers, 1, function(name)
  local module = find(name)
  if not module then return "\n\tno module '" .. name .. "' in this package" end
  if module.name ~= name then return function() return (require(module.name)) end, module.file end
  if loading[name] then
    error("module '" .. name .. "' requires itself, or failed when it was required before", 3)
  end
  local chunk = (module.fennel and load_fennel or load_lua)(module.text, module.file)
  return function(...)
    loading[name] = true
    local value = chunk(...)
    loading[name] = nil
    return value
  end, module.file
end)

-- Where the macros of a Lua file run: the functions that Fennel gives to macros.
local function macro_env()
  return fennel.eval("(let [env {}] (each [k v (pairs _G)] (tset env k v)) env)", { env = "_COMPILER" })
end

table.insert(fennel["macro-searchers"], 1, function(name)
  local module = find(name) or find(name .. ".init-macros")
  if not module then return nil end
  if not module.fennel then return load_lua(module.text, module.file, macro_env()), module.file end
  return function(...)
    local chosen = options(module.file)
    chosen.env, chosen["module-name"], chosen.allowedGlobals = "_COMPILER", name, nil
    return fennel.eval(module.text, chosen, ...)
  end, module.file
end)

-- A module of the package is required, so that it need not be included in each file that uses it.
local specials = getmetatable(fennel.scope().specials).__index
local include = specials.include
function specials.include(ast, ...)
  if type(ast[2]) ~= "string" or not find(ast[2]) then return include(ast, ...) end
  ast[1] = fennel.sym("require", fennel["ast-source"](ast[1]))
  return fennel.compile1(ast, ...)
end

local function translate(text, file)
  return fennel.compileString(text, options(file))
end

-- Whether a file that is not a program of its own is one that defines macros.
local function translate_macros(text, file)
  local chosen = options(file)
  chosen.scope = fennel.scope(fennel.eval("_SCOPE", { env = "_COMPILER" }))
  return fennel.compileString(text, chosen)
end

return translate, translate_macros
