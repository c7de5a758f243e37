-- Counters that INCR could have written: FIXED and WINDOW. The state is { value, expires_at }.

--@cold
-- A counter that is not a small number above 0.
local function value_of(text)
  local sign, digits = match(text, '^(%-?)(%d+)$')
  local negative = sign == '-'
  digits = digits and digits_up_to(digits, negative and '9223372036854775808' or MAX_COUNT_DIGITS)
  if not digits or (negative and digits == '0') then
    fail_with_foreign_value(text, nil, 'NOT_A_COUNTER')
  end
  local value = from_text(digits)
  if value - value ~= 0 then
    fail('INEXACT_STATE')
  end
  return negative and -value or value
end

--@hot
local function load_counter(r)
  local key = r.key
  local text = call('GET', key)
  if text then
    local value = #text < 16 and find(text, '^[1-9]%d*$') and text + 0 or value_of(text)
    -- As `expiry_of` says it.
    local expires_at = redis.REDIS_VERSION_NUM and call('PEXPIRETIME', key) or expiry_by_ttl(key, r.now_ms) or -1
    if expires_at < 0 then
      --@rare
      expires_at = nil
    elseif expires_at >= EXACT then
      fail('INEXACT_STATE')
    end
    r.state = { value = value, expires_at = expires_at }
  end
end
