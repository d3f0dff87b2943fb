-- Loads the Fennel compiler, and returns a function that translates a Fennel source.
local load_fennel, libraries = ...

-- Where the modules of a package are. A macro's module is found there, and so is a file that is included.
local folders = { "tools/lib/", "tools/", "" }

local function paths(...)
  local all = {}
  for _, folder in ipairs(folders) do
    for _, name in ipairs({ ... }) do all[#all + 1] = folder .. name end
  end
  return table.concat(all, ";")
end

local package =
  { preload = {}, loaded = {}, searchers = {}, path = paths("?.lua", "?/init.lua"), cpath = "", config = "/\n;\n?\n!\n-\n" }

local function require(name)
  if package.loaded[name] == nil then
    local loader = package.preload[name]
    if loader == nil then error("module '" .. tostring(name) .. "' not found", 2) end
    local module = loader(name)
    package.loaded[name] = module == nil and true or module
  end
  return package.loaded[name]
end

-- By file name: the package's files, which are all that Fennel can open.
local texts = {}

local function open(path)
  local text = texts[path]
  if text == nil then return nil, tostring(path) .. ": the package has no such file below tools/lib" end
  return { read = function() return text end, close = function() return true end }
end

local env = { package = package, require = require, io = { open = open } }
for name, library in pairs(libraries) do env[name] = library end
env._G = env

local fennel = load_fennel(env)
package.loaded.fennel = fennel
fennel.path = paths("?.fnl", "?/init.fnl")
fennel["macro-path"] = paths("?.fnl", "?/init-macros.fnl", "?/init.fnl")

-- The files that were loaded for their macros, or by such a file.
local for_macros = {}

for i, search in ipairs(fennel["macro-searchers"]) do
  fennel["macro-searchers"][i] = function(name)
    local loader, file = search(name)
    if loader then for_macros[file] = true end
    return loader, file
  end
end

-- A module that is required is a part of the tool as well: it need not be included in each file that uses it.
getmetatable(fennel.scope().specials).__index.include = function(ast, ...)
  ast[1] = fennel.sym("require", fennel["ast-source"](ast[1]))
  return fennel.compile1(ast, ...)
end

local function add_file(file, text) texts[file] = text end

local function position(message)
  for file in pairs(texts) do
    if message:sub(1, #file + 1) == file .. ":" then
      local line, column, rest = message:sub(#file + 2):match("^(%d+):(%d*):?%s*(.*)$")
      if line then return rest, file, tonumber(line), tonumber(column) end
    end
  end
end

-- Of Fennel's text the message and its advice, once; not the source line, which the host shows, nor its own traceback.
local function clean(text)
  local message, rest = text:match("^([^\n]*)(.*)$")
  message = message:gsub('%[string "[^\n]-"%]:%d+: ', ""):gsub("unknown:[%d?]+:[%d?]+: Compile error: ", "")
  local seen = {}
  for advice in rest:gmatch("\n(%* [^\n]*)") do
    if not seen[advice] then message = message .. "\n" .. advice end
    seen[advice] = true
  end
  return message
end

-- The file, line and column in front of a message of Fennel, whose columns begin at 0. An error in a module of macros
-- has the place that uses it in front of its own; the innermost counts.
local function split(message)
  local file, line, column
  local used = ""
  message = clean(message)
  while true do
    local rest, inner, inner_line, inner_column = position(message)
    if not rest then rest, inner, inner_line, inner_column = position((message:gsub("^Compile error: ", ""))) end
    if not rest then
      local first, hints = message:match("^([^\n]*)(.*)$")
      return first .. used .. hints, file, line, column and column + 1 or 0
    end
    if file and inner ~= file then used = (" (used at %s:%d)"):format(file, line) end
    message, file, line, column = rest, inner, inner_line, inner_column
  end
end

-- Returns the Lua source; or nil, a message without position, and file, line and column if they are known.
local function compile(text, file)
  texts[file] = text
  local ok, result = pcall(fennel.compileString, text, {
    filename = file,
    correlate = true, -- a line of the Lua source is the line of the Fennel source
    allowedGlobals = false, -- which variables there are is known when a tool is called, not before
    useMetadata = false,
    ["error-pinpoint"] = false, -- no terminal colours
    ["compiler-env"] = "strict",
  })
  if ok then return result end
  local message, where, line, column = split(tostring(result))
  if for_macros[file] then return ("error(%q, 0)"):format("this module has macros alone: " .. message) end
  return nil, message, where, line, column
end

return compile, add_file
