-- Rate limiting for nginx with its Lua module: asks a server with redis-rl before a request is served.
--
--     access_by_lua_block {
--         require("rl").limit { { "TOKEN", "ip:" .. ngx.var.remote_addr, "1m", 60, "BURST", 10, "AS", "api" } }
--     }
--
-- A limit is a list of the words of its command: algorithm, key, window, limit, options. Several limits are one
-- RL.MULTI: all of them are charged, or none. These variables of nginx say how to ask (`set $rl_on_error deny;`):
--
--     $rl_server     host:port or unix:/path    127.0.0.1:6379
--     $rl_timeout    milliseconds               50
--     $rl_on_error   allow or deny              allow
--     $rl_user, $rl_password                    none
--
-- `lua_shared_dict rl 64k;` turns the counters of metrics() on.

-- The library has another name in OpenResty than in Debian.
local found, redis = pcall(require, "resty.redis")
if not found then
    redis = require "nginx.redis"
end

local ffi = require "ffi"
ffi.cdef "volatile uintptr_t ngx_current_msec;"

local M = {}

-- Replies of a server that works, but cannot decide now.
local CANNOT_DECIDE = {
    BUSY = true,
    CLUSTERDOWN = true,
    LOADING = true,
    MASTERDOWN = true,
    MISCONF = true,
    NOREPLICAS = true,
    OOM = true,
    READONLY = true,
    TRYAGAIN = true,
}

-- Longer keys and ids are replaced by hashes: a request must not decide how long keys are.
local LONGEST_KEY, LONGEST_PART = 512, 128

-- The breaker: after FAILURES requests in a row without a reply, none is sent for OPEN_FOR seconds. Then one is.
local FAILURES, OPEN_FOR = 5, 1

-- What this worker knows of a server, by its address and user.
local states = {}

-- Seconds that no change of the time of day moves: ngx.now() may go back.
local function now()
    ngx.update_time()
    return tonumber(ffi.C.ngx_current_msec) / 1000
end

local function digest(text)
    return (ngx.sha1_bin(text):gsub(".", function(char)
        return ("%02x"):format(char:byte())
    end))
end

-- Keeps the hash tag: the keys of one decision share it.
local function bounded(key)
    if #key <= LONGEST_KEY then
        return key
    end
    local before, rest = key:match("^([^{]*)(.*)$")
    local tag, after = rest:match("^{([^}]*)}(.*)$")
    if not tag then
        return digest(key)
    end
    local function part(text)
        return #text <= LONGEST_PART and text or digest(text)
    end
    return part(before) .. "{" .. part(tag) .. "}" .. part(after)
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
            if position == 2 or tostring(limit[position - 1]):upper() == "ID" and position > 5 then
                word = bounded(tostring(word))
            end
            words[#words + 1] = word
        end
    end
    words[1] = "RL." .. assert(words[1], "there is no limit")
    words[#words + 1] = "HEADERS"
    return words
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

local function cannot_decide(failure, is_reply)
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

-- The reply; or nil, why there is none, and whether that is an error reply of the server.
local function ask(words, server, state, timeout)
    local user, password = setting("user", "default"), setting("password")
    local host, port = address(server)
    local finish = now() + timeout / 1000
    local connection = redis:new()
    -- Each step may take what is left of the time.
    local function remaining()
        connection:set_timeout(math.max(1, math.floor((finish - now()) * 1000)))
    end
    -- A connection that was kept open belongs to its user, and to the server that was at this address.
    local pool = { pool = ("%s@%s#%d"):format(user, server, state.generation) }
    local ok, failure
    remaining()
    if host then
        ok, failure = connection:connect(host, port, pool)
    else
        ok, failure = connection:connect(server, pool)
    end
    if not ok then
        return nil, failure, false
    end
    if password and connection:get_reused_times() == 0 then
        remaining()
        ok, failure = connection:auth(user, password)
        if not ok then
            connection:close()
            return nil, failure, ok == false
        end
    end
    local reply
    remaining()
    reply, failure = connection[words[1]](connection, unpack(words, 2))
    -- An error reply is `false`; after nil, the rest of a late reply may still arrive on this connection.
    local is_reply = reply == false
    if is_reply and failure:find("^READONLY") then
        -- After a failover the address may lead to another server, but the open connections still lead to this one.
        state.generation = state.generation + 1
        connection:close()
    elseif reply ~= nil then
        connection:set_keepalive()
    end
    return reply or nil, failure, is_reply
end

-- As `ask`, but not while the breaker is open.
local function ask_if_closed(words, server, state, timeout)
    if state.open_until > 0 then
        if now() < state.open_until then
            return nil, "circuit open", false
        end
        -- The others wait for this one to be over.
        state.open_until = now() + OPEN_FOR
    end
    local reply, failure, is_reply = ask(words, server, state, timeout)
    if reply or is_reply then
        state.failures, state.open_until = 0, 0
    elseif cannot_decide(failure, is_reply) then
        state.failures = state.failures + 1
        if state.failures >= FAILURES then
            state.open_until = now() + OPEN_FOR
        end
    end
    return reply, failure, is_reply
end

local function state_of(server)
    local name = setting("user", "default") .. "@" .. server
    states[name] = states[name] or { generation = 0, failures = 0, open_until = 0, logged = {}, left_out = {} }
    return states[name]
end

-- At most one line a second of each kind, for each worker.
local function log(state, level, outcome, what, failure)
    local name = outcome .. ": " .. what
    local time = now()
    if time - (state.logged[name] or 0) < 1 then
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
    return (ngx.hmac_sha1(secret, value):gsub(".", function(char)
        return ("%02x"):format(char:byte())
    end))
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
    return "[" .. table.concat(names, ", ") .. "]"
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
    local on_error = setting("on_error", "allow")
    assert(on_error == "allow" or on_error == "deny", "$rl_on_error is neither allow nor deny")
    local timeout = tonumber(setting("timeout", 50))
    assert(timeout and timeout >= 1, "$rl_timeout is no number of milliseconds")
    local server = setting("server", "127.0.0.1:6379")
    address(server)
    local state = state_of(server)

    local reply, failure, is_reply = ask_if_closed(words, server, state, timeout)
    if not reply then
        local what = kind(failure, is_reply)
        count("kind " .. what)
        if not cannot_decide(failure, is_reply) then
            count("outcome fault")
            log(state, ngx.CRIT, "the call was rejected, a fault of the configuration", what, failure)
            return refuse(500, '{"title": "Internal Server Error", "status": 500}\n')
        end
        log(state, ngx.ERR, "no decision, " .. on_error, what, failure)
        if on_error == "deny" then
            count("outcome failed_closed")
            return refuse(503, '{"title": "Service Unavailable", "status": 503}\n')
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
    return refuse(429, '{"type": "https://iana.org/assignments/http-problem-types#quota-exceeded", '
        .. '"title": "Too many requests", "status": 429, "violated-policies": ' .. violated(reply, policies) .. "}\n")
end

return M
