-- The utf8 library.

--## utf8.char
local try = require("try")
return {try(utf8.char, {}, {65}, {233}, {0x20AC}, {0x1D11E}, {0x10FFFF}, {65, 233, 0x20AC}, {0}, {"65"}, {65.0}, {-1}, {1.5}, {"x"}, {0x110000}, {0x7FFFFFFF},
  {0x80000000}, {0xD800}, {nil, n = 1})}
--## utf8.charpattern
local out = {}
for character in ("aé€𝄞"):gmatch(utf8.charpattern) do out[#out + 1] = character end
return {out, require("show")(utf8.charpattern)}
--## utf8.codepoint
local try = require("try")
return try(utf8.codepoint, {"aé€𝄞"}, {"aé€𝄞", 2}, {"aé€𝄞", 1, -1}, {"abc", 1, 3}, {"", 1}, {"", 1, 0}, {"abc", 4}, {"abc", 0}, {"abc", -1}, {"abc", 3, 2}, {"é", 2},
  {"\xff"}, {"\xed\xa0\x80"}, {"\xed\xa0\x80", 1, 1, true}, {"\xf4\x90\x80\x80"}, {"\xf4\x90\x80\x80", 1, 1, true}, {"\xc0\x80"}, {5}, {}, {"a", "x"}, {"\xe2\x82"}, {"abc", 1, 4})
--## utf8.codes
local show = require("show")
local function all(...)
  local out = {}
  for position, code in utf8.codes(...) do out[#out + 1] = position .. "=" .. code end
  return table.concat(out, " ")
end
return {all("aé€𝄞"), all(""), show(pcall(all, "a\xff")), show(pcall(all, "\xed\xa0\x80")), all("\xed\xa0\x80", true), show(pcall(all)), all(12),
  show(pcall(all, "é\xa9")), show(pcall(all, "\xe2\x82")), show(pcall(all, "a\xc3"))}
--## an uncaught error of utf8.codes
for position in utf8.codes("ab\xff") do
  print(position)
end
--## utf8.len
local try = require("try")
return try(utf8.len, {"aé€𝄞"}, {""}, {"abc", 2}, {"abc", 2, 2}, {"abc", -1}, {"abc", 4}, {"abc", 5}, {"abc", 0}, {"\xff"}, {"ab\xff"}, {"é", 2}, {"\xed\xa0\x80"},
  {"\xed\xa0\x80", 1, -1, true}, {"abc", 3, 1}, {5}, {}, {"abc", 1, 10}, {"abc", 1, -5}, {"\xf8\x88\x80\x80\x80", 1, -1, true}, {"abc", "x"})
--## utf8.offset
local try = require("try")
return try(utf8.offset, {"aé€𝄞", 1}, {"aé€𝄞", 3}, {"aé€𝄞", 5}, {"aé€𝄞", 6}, {"aé€𝄞", -1}, {"aé€𝄞", -4}, {"aé€𝄞", -5}, {"aé€𝄞", 0}, {"aé€𝄞", 0, 3}, {"aé€𝄞", 1, 3},
  {"abc", 1, 4}, {"abc", 1, 5}, {"abc", 0, 0}, {"", 1}, {"", 0}, {"", -1}, {"abc"}, {}, {"abc", "x"}, {"abc", 1.5}, {"abc", 2, -1})
--## names in many scripts
return {"Ωμέγα", #"Ωμέγα", utf8.len("日本語"), ("Ελ"):upper(), ("ÀÉ"):lower(), "👩‍👩‍👧", utf8.len("👩‍👩‍👧")}
