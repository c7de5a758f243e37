-- LEASE: each holder is a member of a sorted set, scored with the ms in which its lease ends.

-- A client can write a score with a fraction, or infinity.
local function end_of_score(score)
  return score < 2 ^ 64 and math.max(0, math.ceil(score)) or NEVER
end

-- The ms in which the lease of a holder ends; nil if it has ended: it may still be there.
local function end_of(r, id)
  local score = r.len > 0 and call('ZSCORE', r.key, id)
  local ends = score and end_of_score(tonumber(score))
  return ends and ends > r.now_ms and ends or nil
end

-- The ms in which the holder's lease ends is in `own`; how many leases others hold, in `others`.
local function load(r, purpose)
  load_set(r, '-inf', r.now_ms, purpose)
  r.own = r.ID and end_of(r, r.ID)
  r.others = r.own and r.len - 1 or r.len
end

-- The ms in which the n-th lease ends, earliest first, from 0.
local function end_of_lease(r, n)
  local score = score_at(r.key, n + r.expired)
  return score and end_of_score(score) or NEVER
end

local function end_of_other(r, n)
  local ends = end_of_lease(r, n)
  -- From its own place on, the holder's lease is left out.
  return r.own and ends >= r.own and end_of_lease(r, n + 1) or ends
end

-- The end of the n-th lease if the holder's own ends in `own_end`.
local function end_with_own(r, n, own_end)
  if n < r.others then
    local ends = end_of_other(r, n)
    if ends <= own_end then
      return ends
    end
  end
  return n > 0 and math.max(end_of_other(r, n - 1), own_end) or own_end
end

local function leaves_at(r, n)
  local ends = r.hold and end_with_own(r, n, r.hold) or end_of_lease(r, n)
  return ends ~= NEVER and ends or nil
end

local function forecast(r, change, after)
  r.hold = change == 'charge' and after.hold or nil
  r.held = r.hold and r.others + 1 or r.len
  r.remaining = math.max(0, r.limit - r.held)
end

local function wait(r, cost)
  return wait_in_order(r, cost, r.held, leaves_at, nil)
end

-- A holder that has a lease renews it, whatever the others hold.
local function decide(r)
  local now_ms, limit, own, others = r.now_ms, r.limit, r.own, r.others
  local allowed = limit > 0 and (own ~= nil or others < limit)
  local ends = now_ms + r.window_ms
  r.allowed, r.count, r.change = allowed, others, 'keep'
  if allowed and own ~= ends then
    r.change, r.after = 'charge', { hold = ends }
  end
  if allowed then
    r.ttl = exact(divide_up(sub(mul(ends, 1000), r.now), 1000000))
  else
    forecast(r, 'keep')
    r.ttl = ttl_of_denial(r, 1)
  end
end

-- Lets the key, which expires at `held`, expire when its last lease ends: later than before, or earlier.
local function expire_with_the_last(key, last, held)
  if last >= EXACT or held ~= last then
    call('PEXPIREAT', key, last < 2 ^ 63 and format('%.0f', last) or MAX_COUNT_DIGITS)
  end
end

local function last_end(key)
  local score = score_at(key, -1)
  return score and end_of_score(score)
end

--@cold
local function move_ends(key, ends, holders, now_ms)
  local held = expiry_of(key, now_ms)
  rescore(key, format('%.0f', ends), holders)
  expire_with_the_last(key, last_end(key), held)
end

--@hot
local function commit(r, change, after)
  local key, now_ms = r.key, r.now_ms
  if change == 'delete' then
    call('UNLINK', key)
  elseif change == 'keep' then
    if r.len > 0 then
      expire_with_the_last(key, last_end(key), expiry_of(key, now_ms))
    end
  elseif r.ID then
    local held = r.exists and expiry_of(key, now_ms) or nil
    if r.own then
      call('ZADD', key, 'XX', format('%.0f', after.hold), r.ID)
    else
      call('ZADD', key, format('%.0f', after.hold), r.ID)
    end
    expire_with_the_last(key, r.others + r.expired == 0 and after.hold or last_end(key), held)
  end
end

-- A renewal charges nothing.
local function units_charged(r)
  return r.own and 0 or 1
end

--@cold
-- The holders of which the leases have not ended.
local function holding(r, ids)
  load_set(r, '-inf', r.now_ms, 'write')
  local held = {}
  for _, id in ipairs(ids) do
    held[#held + 1] = end_of(r, id) and id
  end
  return held
end

-- Ends the leases of holders; returns how many had not ended before.
local function release(r, ids)
  local released = call_in_parts({ 'ZREM', r.key }, holding(r, ids))
  local last = r.len > 0 and last_end(r.key)
  if last then
    expire_with_the_last(r.key, last, expiry_of(r.key, r.now_ms))
  end
  return released
end

-- Renews the leases of holders that have not ended; returns how many.
local function renew(r, ids)
  local holders = holding(r, ids)
  if #holders > 0 then
    move_ends(r.key, r.now_ms + r.window_ms, holders, r.now_ms)
  end
  return #holders
end

return {
  word = 'LEASE',
  takes = ' ID ',
  no_correction = 'LEASE_CORRECTION',
  quota_unit = 'concurrent-requests',
  units_charged = units_charged,
  load = load,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit,
  release = release,
  renew = renew,
}
