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

-- The library has another name in OpenResty than in Debian.
local found, redis = pcall(require, "resty.redis")
if not found then
    redis = require "nginx.redis"
end

local M = {}

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

-- The reply, or nil and why there is none.
local function ask(words)
    local server = setting("server", "127.0.0.1:6379")
    local user, password = setting("user", "default"), setting("password")
    local host, port = server:match("^(.*):(%d+)$")
    local connection = redis:new()
    connection:set_timeout(tonumber(setting("timeout", 50)))
    -- A connection that was kept open belongs to its user.
    local pool = { pool = user .. "@" .. server }
    local ok, failure
    if host then
        ok, failure = connection:connect(host, tonumber(port), pool)
    else
        ok, failure = connection:connect(server, pool)
    end
    if not ok then
        return nil, failure
    end
    if password and connection:get_reused_times() == 0 then
        ok, failure = connection:auth(user, password)
        if not ok then
            return nil, failure
        end
    end
    local reply
    reply, failure = connection[words[1]](connection, unpack(words, 2))
    -- An error of the command is `false`; after nil, the rest of a late reply may still arrive on this connection.
    if reply ~= nil then
        connection:set_keepalive()
    end
    return reply or nil, failure
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

-- Sets the headers of the limits. If they deny, ends the request with 429. Returns the reply; nil if there is none and
-- `$rl_on_error` allows.
function M.limit(limits)
    local words = command(limits)
    local on_error = setting("on_error", "allow")
    assert(on_error == "allow" or on_error == "deny", "$rl_on_error is neither allow nor deny")

    local reply, failure = ask(words)
    if not reply then
        ngx.log(ngx.ERR, "no decision, ", on_error, ": ", failure)
        if on_error == "deny" then
            return refuse(503, '{"title": "Service Unavailable", "status": 503}\n')
        end
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
        return reply
    end
    -- The problem type of draft-ietf-httpapi-ratelimit-headers.
    return refuse(429, '{"type": "https://iana.org/assignments/http-problem-types#quota-exceeded", '
        .. '"title": "Too many requests", "status": 429, "violated-policies": ' .. violated(reply, policies) .. "}\n")
end

return M
