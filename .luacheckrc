-- What luacheck knows of the scripts in lua/: `make lint`.
std = "lua51"
read_globals = { "redis", "KEYS", "ARGV" }
max_line_length = 120
files["lua/fallback"] = { max_line_length = false } -- their error texts are one string each
