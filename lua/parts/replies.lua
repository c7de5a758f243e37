-- Replies.

--@cold
-- With PARTIAL, the first integer of the reply to a request that is allowed: how much of it is.
local function part_allowed(r)
  return r.open and r.open.cost or r.shadowed and r.cost or r.decided_cost
end

--@hot
-- The first integer of a reply: whether the request is allowed or, with PARTIAL, how much of it.
local function first_integer(r)
  if not r.allowed then
    return 0
  end
  return r.PARTIAL and part_allowed(r) or 1
end

-- The units that a decision charges. FIXED counts denials too, which is no charge.
local function charged_by(r)
  local algorithm = r.algorithm
--@if RESERVE
  if r.open then
    return r.open.cost
  end
--@end
  if r.change ~= 'charge' then
    return 0
  elseif r.ALWAYS then
    return r.decided_cost
  elseif not r.allowed or (r.shadowed and not r.PARTIAL) then
    return 0
  end
--@if units_charged
  if algorithm.units_charged then
    return algorithm.units_charged(r)
  end
--@end
  return r.decided_cost
end

--@cold
-- The figures of FULL, names and values alternating. `charged` is the units that the call charges.
local function full(r, charged)
  local remaining, retry_after_ms, next_ms, reset_ms, delay_ms = figures(r)
  return {
    'allowed', first_integer(r),
    'count', r.count,
    'ttl', r.ttl,
    'limit', r.capacity,
    'remaining', remaining,
    'retry_after_ms', retry_after_ms,
    'next_ms', next_ms,
    'reset_ms', reset_ms,
    'delay_ms', delay_ms,
    'now_ms', r.now_ms,
    'shadow', r.shadowed and 1 or 0,
    'charged', charged,
  }
end

--@hot
-- The figures of FULL without their names, in one string.
local function line(r, charged)
  local remaining, retry, next_ms, reset, delay = figures(r)
  local shadow = r.shadowed and 1 or 0
  return format(
    '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
    r.allowed and (r.PARTIAL and part_allowed(r) or 1) or 0, r.count, r.ttl, r.capacity, remaining, retry, next_ms, reset,
    delay, r.now_ms, shadow, charged
  )
end

--@cold
local MAX_HEADER_INTEGER = 999999999999999 -- RFC 9651, section 3.3.1

local function header_integer(n)
  return format('%.0f', min(n, MAX_HEADER_INTEGER))
end

-- The policy in RateLimit-Policy. Its window is a whole number of seconds, so the limit of another window is given for
-- the smallest whole multiple that is: 10 in 500 ms are 20 in 1 s.
local function policy_item(r)
  local algorithm = r.algorithm
--@if quota_unit
  if algorithm.quota_unit then
    local quota, window = header_integer(r.limit), header_integer(seconds_of(r.window_ms))
    return format('"%s";q=%s;w=%s;qu="%s"', r.name, quota, window, algorithm.quota_unit)
  end
--@end
  local window_ms = algorithm.window_at and algorithm.window_at(r) or r.window_ms
  local divisor, rest = 1000, window_ms % 1000
  while rest > 0 do
    divisor, rest = rest, divisor % rest
  end
  local windows = 1000 / divisor
  local window = divide(mul(window_ms, windows), 1000)
  return format('"%s";q=%s;w=%s', r.name, header_integer(mul(r.limit, windows)), header_integer(window))
end

-- Whether one limit is stricter than another: denied before allowed, then the longest wait, then the least remaining.
local function is_stricter(one, other)
  if one.allowed ~= other.allowed then
    return not one.allowed
  end
  local wait, other_wait = one.retry_after_ms, other.retry_after_ms
  if wait ~= other_wait then
    return wait < 0 or (other_wait >= 0 and wait > other_wait)
  end
  return one.remaining < other.remaining
end

-- Gives every policy of a call its own name: the second of a name becomes `name-2`, and so on.
local function name_policies(requests)
  local taken = {}
  for _, r in ipairs(requests) do
    local algorithm = r.algorithm
    local first, number = r.AS or algorithm.word:lower(), 2
    r.name = first
    while taken[r.name] do
      r.name = format('%s-%d', first, number)
      number = number + 1
    end
    taken[r.name] = true
  end
end

-- HTTP headers, names and values alternating. With several limits, all policies are listed, and the other figures are
-- those of the strictest limit.
local function headers(requests)
  local strictest, policies = requests[1], {}
  name_policies(requests)
  for n, r in ipairs(requests) do
    policies[n] = policy_item(r)
    r.remaining, r.retry_after_ms, r.next_ms, r.reset_ms = figures(r)
    if is_stricter(r, strictest) then
      strictest = r
    end
  end
  local r = strictest
  local texts = {
    'X-RateLimit-Limit',
    format('%.0f', r.capacity),
    'X-RateLimit-Remaining',
    format('%.0f', r.remaining),
  }
  local function header(name, value)
    texts[#texts + 1] = name
    texts[#texts + 1] = value
  end
  if r.reset_ms >= 0 then
    header('X-RateLimit-Reset', format('%.0f', seconds_of(r.now_ms + r.reset_ms)))
  end
  header('RateLimit-Policy', table.concat(policies, ', '))
  local more = r.next_ms >= 0 and ';t=' .. header_integer(seconds_of(r.next_ms)) or ''
  header('RateLimit', format('"%s";r=%s%s', r.name, header_integer(r.remaining), more))
  if not r.allowed and r.retry_after_ms >= 0 then
    header('Retry-After', format('%.0f', seconds_of(r.retry_after_ms)))
  end
  return texts
end

-- A reply in another form than LINE.
local function other_reply(r, charged)
  if r.form == 'FULL' then
    return full(r, charged)
  end
  return { first_integer(r), r.count, r.ttl, headers({ r }) }
end

--@hot
-- The reply of a command with one limit, which has charged `charged` units.
local function reply(r, charged)
  local form = r.form
  if form == 'LINE' then
    return line(r, charged)
  elseif form then
    return other_reply(r, charged)
  end
  return { r.allowed and (r.PARTIAL and part_allowed(r) or 1) or 0, r.count, r.ttl }
end
