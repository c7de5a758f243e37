-- Rate limiting for nginx with its Lua module: asks a server with redis-rl before a request is served.
--
--     access_by_lua_block {
--         require("rl").limit { { "TOKEN", "ip:" .. ngx.var.remote_addr, "1m", 60, "BURST", 10, "AS", "api" } }
--     }
--
-- A limit is a list of the words of its command: algorithm, key, window, limit, options. Several limits are one
-- RL.MULTI: all of them are charged, or none. These variables of nginx say how to ask (`set $rl_on_error allow;`):
--
--     $rl_server     host:port or unix:/path    127.0.0.1:6379
--     $rl_timeout    milliseconds               100
--     $rl_on_error   deny (503) or allow        deny
--     $rl_user, $rl_password                    none
--     $rl_module     optional: without the module, the Lua scripts of docs/lua.md decide, in the directory `lua` beside
--                    this file; required: then each request gets 500    optional
--
-- `lua_shared_dict rl 64k;` turns the counters of metrics() on.

-- The library has another name in OpenResty than in Debian.
local found, redis = pcall(require, "resty.redis")
if not found then
    redis = require "nginx.redis"
end

local ffi = require "ffi"
ffi.cdef [[
    volatile uintptr_t ngx_current_msec;
    unsigned char *SHA256(const unsigned char *text, size_t length, unsigned char *digest);
]]

local M = {}

-- Replies of a server that works, but cannot decide now.
local CANNOT_DECIDE = {
    BUSY = true, CLUSTERDOWN = true, LOADING = true, MASTERDOWN = true, MISCONF = true, NOREPLICAS = true, OOM = true,
    READONLY = true, TRYAGAIN = true,
}

-- A longer value is replaced: a request must not decide how long keys are. So is a longer id.
local LONGEST, LONGEST_ID, SHOWN = 256, 128, 32

-- Milliseconds of silence after which no request is sent; 0 for never.
local SILENCE = 250

-- What this worker knows of a server, by its address and user.
local states = {}

-- Milliseconds that no change of the time of day moves: ngx.now() may go back.
local function now()
    ngx.update_time()
    return tonumber(ffi.C.ngx_current_msec)
end

local function hex(bytes)
    return (bytes:gsub(".", function(char)
        return ("%02x"):format(char:byte())
    end))
end

-- SHA-256 of the OpenSSL that nginx has loaded; SHA-1 if it has none.
local has_sha256, sha256 = pcall(function()
    return ffi.C.SHA256
end)

local function digest(text)
    if not has_sha256 then
        return hex(ngx.sha1_bin(text))
    end
    local found = ffi.new("unsigned char[32]")
    sha256(text, #text, found)
    return hex(ffi.string(found, 32))
end

-- Whether a value ends as a replaced one does. It is replaced too, however long it is, so that it is not that of another.
local function is_replaced(text)
    local hashed = text:match("~([0-9a-f]+)$")
    return hashed and #hashed == (has_sha256 and 64 or 40)
end

-- The first bytes of a value, without the part of a character of UTF-8, and its digest.
local function replaced(text)
    local length = math.min(SHOWN, #text)
    while length > SHOWN - 3 and length < #text and math.floor(text:byte(length + 1) / 64) == 2 do
        length = length - 1
    end
    return text:sub(1, length) .. "~" .. digest(text)
end

local function bounded_value(text, longest)
    return (#text > longest or is_replaced(text)) and replaced(text) or text
end

-- A key within the bounds of vectors/keys.json. Keeps the hash tag: the keys of one decision share it.
function M.bounded(key)
    -- Reservations have such keys.
    local is_reserved = key:find(":reserved$") or key:find(":reserved:ends$")
    local before, tag, after = key:match("^([^{]*){([^}]+)}(.*)$")
    local last = after or key
    last = is_reserved and replaced(last) or bounded_value(last, LONGEST)
    return tag and bounded_value(before, LONGEST) .. "{" .. bounded_value(tag, LONGEST) .. "}" .. last or last
end

-- A number as the module reads it. Lua itself writes 10^14 as 1e+14.
local function integer(number)
    if number ~= math.floor(number) or math.abs(number) > 2 ^ 53 then
        error(("%s is no exact integer; write it as text"):format(tostring(number)), 0)
    end
    return ("%.0f"):format(number)
end

-- A nil among the words would end the list there, so it raises an error: a client that leaves out what a key is made of
-- must not change the limit.
local function command(limits)
    local words = {}
    if #limits > 1 then
        words = { "MULTI", #limits }
    end
    for number, limit in ipairs(limits) do
        for position = 1, math.max(table.maxn(limit), 4) do
            local word = limit[position]
            if word == nil then
                error(("limit %d: word %d is nil"):format(number, position), 3)
            end
            if type(word) == "number" then
                local ok, text = pcall(integer, word)
                word = ok and text or error(("limit %d: word %d: %s"):format(number, position, text), 3)
            end
            if position == 2 then
                word = M.bounded(tostring(word))
            elseif tostring(limit[position - 1]):upper() == "ID" and position > 5 then
                word = bounded_value(tostring(word), LONGEST_ID)
            end
            words[#words + 1] = word
        end
    end
    words[1] = "RL." .. assert(words[1], "there is no limit")
    words[#words + 1] = "HEADERS"
    return words
end

-- The breaker of vectors/breaker.json, where nothing runs between requests. Times are milliseconds.
local Breaker = {}
Breaker.__index = Breaker

-- When probes are due after the opening. Later ones are each second.
local PROBES, SECOND = { 0, 100, 200, 400, 800 }, 1000

function M.breaker(silence)
    local new = { state = "closed", silence = silence, read_at = -math.huge, first = 1, last = 0, waiting = {} }
    return setmetatable(new, Breaker)
end

-- When the silence began; nil if no command waits.
function Breaker:silent_since()
    while self.first <= self.last and self.waiting[self.first].over do
        self.waiting[self.first] = nil
        self.first = self.first + 1
    end
    local oldest = self.waiting[self.first]
    return oldest and math.max(self.read_at, oldest.at)
end

-- A decision is wanted: the command that is sent, or else "ping" or "connect" for a probe, or nil.
function Breaker:request(now, timeout)
    local since = self:silent_since()
    if self.state ~= "open" and self.silence > 0 and since and now - since >= math.max(self.silence, timeout) then
        self:open(now)
    end
    if self.state == "open" then
        return nil, self:probe(now, since)
    end
    if self.state == "trying" and self.trial and now < self.trial.at + SECOND then
        return nil
    end
    local command = { at = now, ends = now + timeout }
    self.last = self.last + 1
    self.waiting[self.last] = command
    if self.state == "trying" then
        self.trial = command
    end
    return command
end

function Breaker:open(now)
    self.state, self.opened_at, self.next_probe = "open", now, now
end

function Breaker:probe(now, since)
    if now < self.next_probe then
        return nil
    end
    local after, next_one = now - self.opened_at, nil
    for _, each in ipairs(PROBES) do
        next_one = next_one or each > after and each
    end
    local longest = PROBES[#PROBES]
    next_one = next_one or longest + SECOND * (math.floor((after - longest) / SECOND) + 1)
    self.next_probe = self.opened_at + next_one
    return (not since or now - since >= SECOND) and "connect" or "ping"
end

-- A command has its reply, an error too. What was given up before has none any more.
function Breaker:reply(command, now)
    command.over, self.read_at = true, now
    for number = self.first, self.last do
        if now < self.waiting[number].ends then
            break
        end
        self.waiting[number].over = true
    end
    self.state, self.doubted, self.trial = "closed", false, nil
end

-- A probe has its reply. The request that sent it asks again.
function Breaker:pong(now)
    self.read_at = now
    if self.state == "open" then
        self.state = self.doubted and "trying" or "closed"
        self.doubted = true
    end
end

-- There is no connection for a command, or for a probe, and none can be opened.
function Breaker:connect_failed(now, command)
    if command then
        command.over = true
    end
    if self.state ~= "open" and self.silence > 0 then
        self:open(now)
    end
end

-- A variable that is set in another location only is empty in this one.
local function setting(name, default)
    local value = ngx.var["rl_" .. name]
    return (value == nil or value == "") and default or value
end

-- `TYPE: text` of an error reply is its code; anything else is of the connection.
local function kind(failure, is_reply)
    if is_reply then
        return failure:match("^%u+") or "ERR"
    end
    return failure:find("timeout", 1, true) and "timeout" or failure == "circuit open" and failure or "connection"
end

-- What is wrong with $rl_server, for failures of connections: nginx lacks the directive `resolver`, the address is
-- none, or what replies there is no server.
local WRONG_SERVER = { "no resolver defined", "^failed to parse host name", "^unkn?own prefix" }

-- Whether the server cannot decide now, by vectors/errors.json if it has replied.
function M.cannot_decide(failure, is_reply)
    if not is_reply then
        for _, wrong in ipairs(WRONG_SERVER) do
            if failure:find(wrong) then
                return false
            end
        end
        return true
    end
    return CANNOT_DECIDE[failure:match("^%u+")] or failure:find("^ERR max number of clients") ~= nil
end

-- The host and the port of $rl_server; nil if it is a socket. Anything else is an error: nginx would take it for a
-- server that is away.
local function address(server)
    local host, port = server:match("^(.+):(%d+)$")
    if host and (host:find("^[%w._-]+$") or host:find("^%[[%x:.]+%]$")) then
        port = tonumber(port)
        assert(port >= 1 and port <= 65535, "$rl_server has a port that is none")
        return host, port
    end
    assert(server:find("^unix:/."), "$rl_server is neither address:port nor unix:/path")
end

-- A connection that has until `finish`; or nil, why there is none, and whether that is an error reply of the server.
local function connect(server, state, finish)
    local user, password = setting("user", "default"), setting("password")
    local host, port = address(server)
    local connection = redis:new()
    -- Each step may take what is left of the time.
    connection.remaining = function()
        connection:set_timeout(math.max(1, finish - now()))
    end
    -- A connection that was kept open belongs to its user, and to the server that was at this address.
    local pool = { pool = ("%s@%s#%d"):format(user, server, state.generation) }
    local ok, failure
    connection.remaining()
    if host then
        ok, failure = connection:connect(host, port, pool)
    else
        ok, failure = connection:connect(server, pool)
    end
    if not ok then
        return nil, failure, false
    end
    if password and connection:get_reused_times() == 0 then
        connection.remaining()
        ok, failure = connection:auth(user, password)
        if not ok then
            connection:close()
            return nil, failure, ok == false
        end
    end
    return connection
end

-- Where the scripts are: beside this file, or in a clone.
local PLACE = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
-- After how many milliseconds the module is looked for again.
local AGAIN = 5000
-- How many words follow an option of a limit.
local FOLLOW = { COST = 1, BURST = 1, ANCHOR = 1, ID = 1, BLOCK = 1, MAX = 1, AS = 1, SHADOW = 0 }
local UNITS = { [""] = 1000, ms = 1, s = 1000, m = 60000, h = 3600000, d = 86400000 }
local scripts = {}

local function script(name)
    local file = scripts[name] == nil and (io.open(PLACE .. "lua/" .. name .. ".lua") or
        io.open(PLACE .. "../../lua/generated/" .. name .. ".lua"))
    if file then
        local text = file:read("*a")
        file:close()
        scripts[name] = { text = text, sha = hex(ngx.sha1_bin(text)) }
    end
    return scripts[name]
end

-- The two windows of FIXED in which a call may be. Those of the calendar are what the server said last.
local function suffixes_of(state, window, word, length)
    if not length then
        return state.suffixes[window] or { ":" .. word .. ":0", ":" .. word .. ":0" }
    end
    local time = math.floor(ngx.now() * 1000) + state.offset
    local number = math.floor(time / length)
    local other = time % length < length / 2 and number - 1 or number + 1
    return { (":%.0f"):format(number), (":%.0f"):format(other) }
end

-- The script of a command, its keys and arguments, and the windows of its limits of FIXED: docs/lua.md.
local function scripted(words, state)
    local name, keys, args, windows, at = words[1]:sub(4):lower(), {}, {}, {}, 2
    local is_multi = name == "multi"
    for _ = 1, is_multi and words[2] or 1 do
        at = is_multi and at + 1 or 1
        local algorithm, key, window, anchor = words[at]:upper():gsub("^RL%.", ""), words[at + 1], words[at + 2], nil
        if is_multi then
            args[#args + 1] = algorithm
        end
        local last = at + 3
        while FOLLOW[tostring(words[last + 1]):upper()] do
            anchor = words[last + 1]:upper() == "ANCHOR" and words[last + 2] or anchor
            last = last + 1 + FOLLOW[words[last + 1]:upper()]
        end
        if algorithm == "FIXED" then
            local digits, unit = tostring(window):match("^(%d+)(%l*)$")
            local length = digits and UNITS[unit] and digits * UNITS[unit]
            local word = length and ("%.0fms"):format(length) or tostring(window):lower()
            windows[#windows + 1] = word .. (anchor and ":" .. anchor or "")
            for _, suffix in ipairs(suffixes_of(state, windows[#windows], word, not anchor and length)) do
                keys[#keys + 1] = key .. suffix
            end
        else
            keys[#keys + 1] = key
        end
        for word = at + 2, last do
            args[#args + 1] = words[word]
        end
        at = last
    end
    args[#args + 1] = words[#words]
    return script(name), keys, args, windows
end

-- The reply of the script of a command. What the server says of its clock is sent once more.
local function by_script(connection, words, state, again)
    local found, keys, args, windows = scripted(words, state)
    if not found then
        return false, "ERR no module, and no script beside rl.lua: docs/lua.md"
    end
    local count = #keys
    for _, arg in ipairs(args) do
        keys[#keys + 1] = arg
    end
    connection.remaining()
    local reply, failure = connection:evalsha(found.sha, count, unpack(keys))
    if reply == false and failure:find("^NOSCRIPT") then
        connection.remaining()
        reply, failure = connection:eval(found.text, count, unpack(keys))
    end
    local clock, said = (reply == false and failure or ""):match("^ERR clock (%d+)(.*)$")
    if not clock or again then
        return reply, failure
    end
    state.offset = clock - math.floor(ngx.now() * 1000)
    local each = said:gmatch("%S+")
    for _, window in ipairs(windows) do
        state.suffixes[window] = { each(), each() }
    end
    return by_script(connection, words, state, true)
end

-- The reply of the module or, where there is none, of the scripts.
local function sent(connection, words, state)
    if state.scripts_until and now() < state.scripts_until then
        return by_script(connection, words, state)
    end
    local reply, failure = connection[words[1]](connection, unpack(words, 2))
    if reply ~= false or not failure:find("^ERR unknown command ['`]?[Rr][Ll]%.") then
        if reply and words[1] ~= "ping" then
            state.scripts_until = nil
        end
        return reply, failure
    end
    if setting("module", "optional") == "required" then
        -- The server's own error has the caller in it.
        return false, "ERR no module: start the server with --loadmodule /path/to/libredis_rl.so"
    end
    if not state.scripts_until then
        ngx.log(ngx.ERR, "no module: the Lua scripts decide; docs/install.md says how to load it")
    end
    state.scripts_until = now() + AGAIN
    return by_script(connection, words, state)
end

-- The reply; or nil, why there is none, and whether that is an error reply of the server.
local function ask(words, server, state, finish)
    local connection, failure, is_reply = connect(server, state, finish)
    if not connection then
        return nil, failure, is_reply
    end
    local reply
    connection.remaining()
    reply, failure = sent(connection, words, state)
    -- An error reply is `false`; after nil, the rest of a late reply may still arrive on this connection.
    is_reply = reply == false
    if is_reply and failure:find("^READONLY") then
        -- After a failover the address may lead to another server, but the open connections still lead to this one.
        state.generation = state.generation + 1
        connection:close()
    elseif reply ~= nil then
        connection:set_keepalive()
    end
    return reply or nil, failure, is_reply
end

-- As `ask`, but nothing is sent to a server that is silent.
local function ask_if_closed(words, server, state, timeout)
    local breaker, begin = state.breaker, now()
    local finish = begin + timeout
    local function failed(failure, command)
        if not failure:find("timeout", 1, true) then
            breaker:connect_failed(now(), command)
        end
    end
    local command, probe = breaker:request(begin, timeout)
    if probe then
        if probe == "connect" then
            state.generation = state.generation + 1
        end
        local pong, failure, is_reply = ask({ "ping" }, server, state, finish)
        if not (pong or is_reply or not M.cannot_decide(failure, is_reply)) then
            failed(failure)
            return nil, failure, false
        end
        breaker:pong(now())
        command = breaker:request(now(), timeout)
    end
    if not command then
        return nil, "circuit open", false
    end
    local reply, failure, is_reply = ask(words, server, state, finish)
    if reply or is_reply or not M.cannot_decide(failure, is_reply) then
        breaker:reply(command, now())
    else
        failed(failure, command)
    end
    return reply, failure, is_reply
end

local function state_of(server)
    local name = setting("user", "default") .. "@" .. server
    states[name] = states[name] or { generation = 0, breaker = M.breaker(SILENCE), logged = {}, left_out = {}, offset = 0,
        suffixes = {} }
    return states[name]
end

-- At most one line a second of each kind, for each worker.
local function log(state, level, outcome, what, failure)
    local name = outcome .. ": " .. what
    local time = now()
    if time - (state.logged[name] or -math.huge) < SECOND then
        state.left_out[name] = (state.left_out[name] or 0) + 1
        return
    end
    local more = state.left_out[name]
    state.logged[name], state.left_out[name] = time, nil
    ngx.log(level, outcome, ": ", failure, more and (" (and %d more)"):format(more) or "")
end

local function count(name)
    local dict = ngx.shared.rl
    if dict then
        dict:incr(name, 1, 0)
    end
end

-- The counters of all workers since nginx started, as Prometheus reads them.
function M.metrics()
    local dict = ngx.shared.rl
    local lines = { "# TYPE rl_nginx_requests_total counter", "# TYPE rl_nginx_errors_total counter" }
    for _, name in ipairs(dict and dict:get_keys(0) or {}) do
        local label, value = name:match("^(%w+) (.*)$")
        local metric = label == "outcome" and "rl_nginx_requests_total" or "rl_nginx_errors_total"
        lines[#lines + 1] = ('%s{%s="%s"} %d'):format(metric, label, value, dict:get(name))
    end
    table.sort(lines)
    return table.concat(lines, "\n") .. "\n"
end

-- A part of a key for an address or a name: 40 hexadecimal digits of HMAC-SHA-1, so that nobody who sees the keys
-- learns the address, and the length is the same whatever a client sends.
function M.hashed(secret, value)
    assert(type(secret) == "string" and secret ~= "", "hashed: the secret is empty")
    assert(type(value) == "string", "hashed: the value is no text")
    return hex(ngx.hmac_sha1(secret, value))
end

-- The names of the policies that deny, as a JSON array. The characters of a name need no escapes in JSON.
local function violated(reply, policies)
    local limits = type(reply[2]) == "table" and reply[2] or { reply }
    local names, number = {}, 0
    for name in policies:gmatch('("[^"]*");q=') do
        number = number + 1
        if limits[number][1] == 0 then
            names[#names + 1] = name
        end
    end
    return "[" .. table.concat(names, ",") .. "]"
end

local function refuse(status, problem)
    ngx.status = status
    ngx.header["Content-Type"] = "application/problem+json"
    ngx.header["Content-Length"] = #problem
    ngx.print(problem)
    return ngx.exit(ngx.HTTP_OK)
end

-- Sets the headers of the limits. If they deny, ends the request with 429. Returns the reply; nil if the server cannot
-- decide and `$rl_on_error` allows. If the server rejects the call, the request ends with 500.
function M.limit(limits)
    local words = command(limits)
    local on_error = setting("on_error", "deny")
    assert(on_error == "allow" or on_error == "deny", "$rl_on_error is neither allow nor deny")
    local timeout = tonumber(setting("timeout", 100))
    assert(timeout and timeout >= 1, "$rl_timeout is no number of milliseconds")
    local server = setting("server", "127.0.0.1:6379")
    address(server)
    local state = state_of(server)

    local reply, failure, is_reply = ask_if_closed(words, server, state, timeout)
    if not reply then
        local what = kind(failure, is_reply)
        count("kind " .. what)
        if not M.cannot_decide(failure, is_reply) then
            count("outcome fault")
            log(state, ngx.CRIT, "the call was rejected, a fault of the configuration", what, failure)
            return refuse(500, '{"type":"about:blank","title":"Internal Server Error","status":500}')
        end
        log(state, ngx.ERR, "no decision, " .. on_error, what, failure)
        if on_error == "deny" then
            count("outcome failed_closed")
            ngx.header["Retry-After"] = 1
            return refuse(503, '{"type":"about:blank","title":"Service Unavailable","status":503}')
        end
        count("outcome failed_open")
        return nil
    end

    local headers, policies = reply[#reply], ""
    for i = 1, #headers, 2 do
        ngx.header[headers[i]] = headers[i + 1]
        if headers[i] == "RateLimit-Policy" then
            policies = headers[i + 1]
        end
    end
    if reply[1] > 0 then
        count("outcome allowed")
        return reply
    end
    count("outcome denied")
    -- The problem type of draft-ietf-httpapi-ratelimit-headers.
    return refuse(429, '{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",'
        .. '"title":"Quota exceeded","status":429,"violated-policies":' .. violated(reply, policies) .. "}")
end

return M
