-- Loads the Fennel compiler, and returns a function that translates a Fennel source.
local load_fennel, libraries = ...

local package = { preload = {}, loaded = {}, searchers = {}, path = "", cpath = "", config = "/\n;\n?\n!\n-\n" }

local function require(name)
  if package.loaded[name] == nil then
    local loader = package.preload[name]
    if loader == nil then error("module '" .. tostring(name) .. "' not found", 2) end
    local module = loader(name)
    package.loaded[name] = module == nil and true or module
  end
  return package.loaded[name]
end

-- Fennel opens files to show the source line of an error, and for `include`. There are none.
local function open(path) return nil, tostring(path) .. ": a tool has no files" end

local env = { package = package, require = require, io = { open = open } }
for name, library in pairs(libraries) do env[name] = library end
env._G = env

local fennel = load_fennel(env)
package.loaded.fennel = fennel

-- Returns the Lua source; or nil, a message without position, and the line if it is known.
local function compile(source, name)
  local ok, result = pcall(fennel.compileString, source, {
    filename = name,
    correlate = true, -- a line of the Lua source is the line of the Fennel source
    allowedGlobals = false, -- which variables there are is known when a tool is called, not before
    useMetadata = false,
    ["error-pinpoint"] = false, -- no terminal colours
    ["compiler-env"] = "strict",
  })
  if ok then return result end
  local message = tostring(result)
  if message:sub(1, #name + 1) == name .. ":" then
    local line, rest = message:sub(#name + 2):match("^(%d+):%d*:?%s*(.*)$")
    if line then return nil, rest, tonumber(line) end
  end
  return nil, message
end

return compile
