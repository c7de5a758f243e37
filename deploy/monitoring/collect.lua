#!lua flags=no-writes,allow-stale
-- The -script of redis_exporter: the figures of `INFO rl` and the first keys of RL.TOP.
-- The exporter exports each pair as redis_script_values{key="<name>"} <value>. The relabelling in prometheus.yml makes
-- a metric with labels of a name such as `rl_requests_total algorithm=token outcome=near`.

-- At most this many keys of RL.TOP are exported at a time. 0 exports none.
local TOP = 20

local OUTCOMES = { allowed = true, near = true, denied = true, shadow_denied = true, errors = true }
local CALLS = { peeks = true, refunds = true, settlements = true }

local metrics = {}
local function add(name, value)
  metrics[#metrics + 1] = name
  metrics[#metrics + 1] = value
end

local info = {}
for field, value in redis.call('INFO', 'rl'):gmatch('rl_([%w_]+):([^\r\n]*)') do
  local group, outcome = field:match('^(%l+)_([%l_]+)$')
  if group == 'oom' then
    add('rl_oom_total outcome=' .. outcome, value)
  elseif group == 'multi' or group == 'share' then
    add('rl_' .. group .. '_total outcome=' .. outcome, value)
  elseif group == 'reservations' then
    add('rl_reservations_total outcome=' .. outcome, value)
  elseif OUTCOMES[outcome] then
    add('rl_requests_total algorithm=' .. group .. ' outcome=' .. outcome, value)
  elseif CALLS[field] then
    add('rl_' .. field .. '_total', value)
  elseif tonumber(value) then
    add('rl_' .. field, value)
  else
    info[field] = value
  end
end

-- Figures of the server that the exporter does not export, or only with CONFIG GET, which has passwords.
local SERVER = {
  maxclients = 'rl_server_maxclients',
  evicted_clients = 'rl_server_evicted_clients_total',
  server_time_usec = 'rl_server_time_seconds',
}
local flushes = 0

for command, calls in redis.call('INFO', 'commandstats'):gmatch('cmdstat_(flush%l+):calls=(%d+)') do
  if command ~= 'flushslots' then flushes = flushes + calls end
end

-- Without the module there are no figures, which the alert RlModuleMissing reports.
if not info.version then return metrics end
add('rl_server_flushes_total', ('%.0f'):format(flushes))
add('rl_info version=' .. info.version .. ' missing_api=' .. info.missing_api, '1')

for _, section in ipairs({ 'server', 'clients', 'stats' }) do
  for field, value in redis.call('INFO', section):gmatch('([%w_]+):([^\r\n]*)') do
    -- Seconds from microseconds, with every digit.
    if SERVER[field] then add(SERVER[field], (value:gsub('^(%d+)(%d%d%d%d%d%d)$', field:match('usec$') and '%1.%2' or '%0'))) end
  end
end

-- RL.TOP replies an error if it is off (rl.top-keys 0) or if the user may not call it. The figures are exported anyway.
local top = TOP > 0 and redis.pcall('RL.TOP', TOP) or { err = '' }
if top.err then return metrics end

-- A label is UTF-8 and a key may be any bytes. Bytes other than printable ASCII, and \, are written as \xhh.
local function printable(key)
  return (key:gsub('[%c\\\127-\255]', function(byte) return ('\\x%02x'):format(byte:byte()) end))
end

add('rl_top_error_bound', ('%.0f'):format(top[2]))
for _, entry in ipairs(top[4]) do
  local key, algorithm, denied = entry[2], entry[4], entry[6]
  add('rl_top_denied algorithm=' .. algorithm:lower() .. ' key=' .. printable(key), ('%.0f'):format(denied))
end
return metrics
