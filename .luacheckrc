-- What luacheck knows of the scripts in lua/: `make lint`. A file of an algorithm uses what lua/head.lua defines.
std = "lua51"
read_globals = { "redis", "KEYS", "ARGV" }
max_line_length = false
local of_head = { "now", "now_ms", "what", "plain", "may_correct", "fail", "divide", "milliseconds", "expiry", "shared", "decide", "reply", "request", "run" }
files["lua/*.lua"] = { globals = { "algorithms", "is_line" }, read_globals = { "struct", unpack(of_head) } }
files["lua/head.lua"] = { ignore = { "211", "221", "231" } } -- the files after it use what it defines
