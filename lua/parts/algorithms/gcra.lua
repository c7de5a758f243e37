-- GCRA: a token bucket whose whole state is one time, the theoretical arrival time (TAT). The state is { micros, nanos }:
-- the TAT in nanoseconds does not fit a double, so its last three digits are apart.

--@cold
local function require_tolerance(r)
  if less(MAX_TOLERANCE, r.tolerance) then
    fail('SPAN')
  end
end

-- A TAT of few or of very many digits.
local function decode_rare(text)
  local digits = digits_up_to(text, MAX_UNSIGNED_DIGITS)
  if not digits then
    return nil
  end
  return { micros = #digits > 3 and from_text(digits:sub(1, -4)) or 0, nanos = digits:sub(-3) + 0 }
end

local function encode_rare(tat)
  return tat.micros == 0 and format('%d', tat.nanos) or text_of(tat.micros) .. format('%03d', tat.nanos)
end

--@hot
local function prepare(r)
  r.interval, r.tolerance = 0, 0
  if r.limit > 0 then
    local window_ns = mul(r.window, 1000)
    if less(window_ns, r.limit) then
      fail('SPAN')
    end
    r.interval = divide_up(window_ns, r.limit)
    r.tolerance = mul(r.capacity, r.interval)
    if r.tolerance - r.tolerance ~= 0 then
      require_tolerance(r)
    end
  end
end

local function decode(text)
  local micros, nanos = match(text, '^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$')
  if not micros or micros:byte() > 56 then
    return decode_rare(text)
  end
  return { micros = micros + 0, nanos = nanos + 0 }
end

local function encode(tat)
  local micros = tat.micros
  if micros - micros ~= 0 or micros < 1000000 then
    return encode_rare(tat)
  end
  return format('%.0f%03d', micros, tat.nanos)
end

local function expires_at(_, tat)
  return divide_up(tat.nanos == 0 and tat.micros or add(tat.micros, 1), 1000)
end

local function tat_of(r, ahead)
  local micros, nanos = divide(ahead, 1000)
  return { micros = add(r.now, micros), nanos = nanos }
end

-- How far the TAT is ahead of now, up to the tolerance, and whether it is further ahead.
local function ahead_of(r, tat)
  local ahead, tolerance = 0, r.tolerance
  if tat and not less(tat.micros, r.now) then
    ahead = add(mul(sub(tat.micros, r.now), 1000), tat.nanos)
    if less(tolerance, ahead) then
      return tolerance, true
    end
  end
  return ahead, false
end

local function used_of(r, ahead)
  return r.interval == 0 and 0 or divide_up(ahead, r.interval)
end

local function set_forecast(r, ahead)
  r.ahead = ahead
  r.remaining = r.interval == 0 and 0 or sub(r.capacity, used_of(r, ahead))
end

local function forecast(r, _, tat)
  set_forecast(r, (ahead_of(r, tat)))
end

local function wait(r, cost)
  local interval = r.interval
  if interval == 0 or cost > r.capacity then
    return nil
  end
  return divide_up(sub(r.ahead, sub(r.tolerance, mul(cost, interval))), 1000000)
end

local function decide(r, cost)
  local ahead, beyond = ahead_of(r, r.state)
  local interval = r.interval
  local after = add(ahead, mul(cost == 0 and 1 or cost, interval))
  local allowed = interval ~= 0 and not less(r.tolerance, after)
  r.allowed, r.count, r.change = allowed, exact(used_of(r, ahead)), 'keep'
  if allowed and cost == 0 then
    r.ttl = exact(divide_up(ahead, 1000000000))
  elseif allowed then
    r.change, r.after = 'charge', tat_of(r, after)
    r.ttl = exact(divide_up(after, 1000000000))
  else
    if beyond and interval ~= 0 then
      --@rare
      r.change, r.after = 'rebase', tat_of(r, ahead)
    end
    set_forecast(r, ahead)
    r.ttl = ttl_of_denial(r, cost)
  end
end

--@cold
local function refund(r, _, cost)
  local ahead = ahead_of(r, r.state)
  local refunded = mul(cost, r.interval)
  if ahead == 0 or refunded == 0 then
    return 'keep'
  elseif not less(refunded, ahead) then
    return 'delete'
  end
  return 'refund', tat_of(r, sub(ahead, refunded))
end

-- Charges up to full. A TAT cannot represent more, so the rest is forgotten.
local function overcharge(r, _, cost)
  if cost == 0 or r.interval == 0 then
    return 'keep'
  end
  local ahead = ahead_of(r, r.state)
  return 'charge', tat_of(r, min(add(ahead, mul(cost, r.interval)), r.tolerance))
end

return {
  word = 'GCRA',
  takes = ' COST PARTIAL BURST ',
  prepare = prepare,
  decode = decode,
  encode = encode,
  expires_at = expires_at,
  expiry_after = expiry_after,
  load = load_record,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit_record,
  refund = refund,
  overcharge = overcharge,
}
