-- What luacheck knows of the scripts in lua/: `make lint`. The parts are checked as what is put together from them.
std = "lua51"
read_globals = { "redis", "KEYS", "ARGV" }
max_line_length = false
exclude_files = { "lua/parts" }
files["lua/generated"] = { unused = false, redefined = false, ignore = { "5" } } -- an algorithm does not need all of a part
