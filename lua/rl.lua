-- redis-rl as a Lua library, for servers that cannot load the module. Keys, replies and errors are those of the module.
--
-- Two forms of the same text:
--   Function  FUNCTION LOAD of the line `#!lua name=rl` and this file; then FCALL rl 1 key TOKEN 60 5 FULL
--   Script    SCRIPT LOAD of this file; then EVALSHA <sha> 1 key rl TOKEN 60 5 FULL
--
--   rl         1 key        <ALGO> window limit [options] [FULL | LINE | HEADERS]
--   rl_multi   n key [key]  <ALGO> window limit [options] [<ALGO> window limit [options] ...] [FULL | LINE | HEADERS]
--   rl_peek    1 key        <ALGO> window limit [options] [FULL | LINE | HEADERS]
--   rl_refund  1 key        <ALGO> window limit [COST n] [AT ms] [BURST n] [ANCHOR t] [FULL | LINE | HEADERS]
--   rl_settle  1 key        <ALGO> window limit RESERVED n ACTUAL m [AT ms] [BURST n] [ANCHOR t]
--                           [FULL | LINE | HEADERS]
--   rl_settle  1 key        <ALGO> window limit RESERVATION id ACTUAL m [ANCHOR t] [FULL | LINE | HEADERS]
--   rl_reset   1 key        <ALGO> window [ANCHOR t]
--   rl_release 1 key        id [id ...]
--   rl_renew   1 key        window id [id ...]
--
-- An algorithm is a set of pure functions, as in the module: they get the state, the time and the cost, and return what
-- to reply and what to write. A reply is computed before anything is written, so that an error changes nothing. (Two
-- exceptions: entries that no longer count are removed before, and the reply to a refund or a settlement of SLIDING is
-- read from the key afterwards.)
--
-- Times are Unix times. `now` is in microseconds, and names that end in `_ms` are in milliseconds.
--
-- While a library is loaded, Redis 7.0 has no global but `redis`: outside of functions, nothing here uses another.

-- Errors --------------------------------------------------------------------------------------------------------------

-- The text of an error. (As a function: a script runs this file at each call, and few calls end with an error.)
local function error_text(name)
  local texts = {
    ARITY = 'ERR wrong number of arguments',
    FOREIGN_VALUE = 'ERR the key holds a value that this algorithm did not write',
    NOT_A_COUNTER = 'ERR value is not an integer or out of range',
    WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
      .. '10^12 seconds',
    CALENDAR_WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
      .. 'd, up to 10^12 seconds; or day, week, month or year',
    ANCHOR = 'ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799',
    AS = 'ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -',
    ID = 'ERR invalid ID: expected 1 to 512 bytes',
    IDS = 'ERR invalid id: expected 1 to 512 bytes',
    TOO_MANY_IDS = 'ERR invalid id: expected at most 1000 ids a call',
    AT = 'ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807',
    PARTIAL_AND_ALWAYS = 'ERR syntax error: PARTIAL and ALWAYS exclude each other',
    ID_MISSING = 'ERR syntax error: LEASE needs ID id, the holder of the lease',
    LEASE_CORRECTION = 'ERR invalid algorithm: a lease has no cost to correct; RL.RELEASE ends it',
    FORM_TWICE = 'ERR syntax error: FULL, LINE or HEADERS comes at most once',
    TWO_FORMS = 'ERR syntax error: FULL, LINE and HEADERS exclude each other',
    AFTER_FORM = 'ERR syntax error: FULL, LINE or HEADERS comes last',
    RESERVE = 'ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
      .. 'with a unit ms, s, m, h or d, up to 10^12 seconds',
    RESERVATION = 'ERR invalid RESERVATION: expected an id of 1 to 128 bytes',
    RESERVE_AND_ALWAYS = 'ERR syntax error: RESERVE and ALWAYS exclude each other',
    RESERVATION_AND_RESERVED = 'ERR syntax error: RESERVED and RESERVATION exclude each other',
    RESERVATION_AND_AT = 'ERR syntax error: RESERVATION and AT exclude each other',
    FOREIGN_RESERVATION = 'ERR the hash of the reservations holds a value that the module did not write',
    SETTLEMENT = 'ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id',
    NUM_LIMITS = 'ERR invalid numlimits: expected an integer from 1 to 64',
    FEWER_LIMITS = 'ERR invalid numlimits: fewer limits follow than it says',
    MORE_LIMITS = 'ERR invalid numlimits: more limits follow than it says',
    LIMIT_ARITY = 'ERR syntax error: expected the word of an algorithm, a key, a window and a limit',
    RESERVED_KEY = 'ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
      .. 'reservations',
    SAME_KEY = 'ERR invalid key: two limits would keep their state in one key; give each its own key',
    SPAN = 'ERR invalid window, limit or BURST: together they describe a rate that cannot be represented',
    LOG_COST = 'ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
      .. 'COUNTER, TOKEN, LEAKY or GCRA for more',
    LOG_DIFFERENCE = 'ERR invalid ACTUAL: RL.SLIDING is corrected by at most 1000 units a call; use ROLLING, '
      .. 'COUNTER, TOKEN, LEAKY or GCRA for more',
    OVERFLOW = 'ERR increment or decrement would overflow',
    CLUSTER_KEY = 'ERR invalid key: in a cluster FIXED needs a key that is not empty and has no brace outside a hash '
      .. 'tag',
    CLUSTER_RESERVE = 'ERR invalid key: in a cluster RESERVE needs a key that is not empty and has no brace outside a '
      .. 'hash tag',
    ALGORITHM = 'ERR invalid algorithm: expected one of FIXED, WINDOW, SLIDING, COUNTER, TOKEN, LEAKY, GCRA, '
      .. 'ROLLING, LEASE, LOCKOUT',
    -- The module has no such errors.
    ROLLING = 'ERR invalid algorithm: ROLLING needs the module, the Lua library has all others',
    INEXACT_STATE = 'ERR the key holds a number above 9007199254740991, which needs the module',
    INEXACT_REPLY = 'ERR the reply has a number above 9007199254740991, which needs the module',
    FUNCTION = 'ERR invalid function: expected one of rl, rl_multi, rl_peek, rl_refund, rl_settle, rl_reset, '
      .. 'rl_release, rl_renew',
  }
  return texts[name]
end

-- Ends the call with an error reply. `run` catches it.
local function fail_with(text)
  error({ text = text }, 0)
end

local function fail(name)
  fail_with(error_text(name))
end

-- The error for a STRING that this algorithm did not write. Names the one that did, where that can be told.
local function fail_with_foreign_value(text, word, otherwise)
  local writers = { C = 'COUNTER', L = 'LEAKY', R = 'ROLLING', T = 'TOKEN' }
  local writer = writers[text:match('^(%u):')]
  if not writer or writer == word then
    fail(otherwise)
  end
  fail_with('ERR the key holds a state of ' .. writer .. ': use another key for each algorithm')
end

-- Integers ------------------------------------------------------------------------------------------------------------
--
-- All integers here are 0 or more, and exact. One below 2^53 is a Lua number. A larger one is a list of digits in base
-- 2^24, lowest first. The functions take and return both forms. Almost all integers are numbers; the other form is for
-- products, for GCRA's nanoseconds and for what a key may hold.
--
-- `n - n == 0` tells a number from the other form. A call of `type` takes the server some 500 instructions.

local EXACT = 2 ^ 53 -- from here on, doubles skip integers
local NEVER = 1 / 0 -- a time that is later than any other
local BASE = 2 ^ 24

local LARGE = {
  __sub = function()
    return 1
  end,
}

local function digits_of(n)
  if n - n ~= 0 then
    return n
  end
  local digits, count = {}, 0
  while n > 0 do
    local digit = math.fmod(n, BASE)
    count = count + 1
    digits[count] = digit
    n = (n - digit) / BASE
  end
  return digits
end

local function from_digits(digits)
  local count = #digits
  while count > 0 and digits[count] == 0 do
    digits[count] = nil
    count = count - 1
  end
  if count > 3 or (count == 3 and digits[3] >= EXACT / BASE / BASE) then
    return setmetatable(digits, LARGE)
  end
  return (digits[1] or 0) + (digits[2] or 0) * BASE + (digits[3] or 0) * BASE * BASE
end

local function less(a, b)
  local a_is_number, b_is_number = a - a == 0, b - b == 0
  if a_is_number and b_is_number then
    return a < b
  elseif a_is_number or b_is_number then
    return a_is_number
  elseif #a ~= #b then
    return #a < #b
  end
  for n = #a, 1, -1 do
    if a[n] ~= b[n] then
      return a[n] < b[n]
    end
  end
  return false
end

local function min(a, b)
  return less(b, a) and b or a
end

local function add(a, b)
  if a - a == 0 and b - b == 0 and a + b < EXACT then
    return a + b
  end
  a, b = digits_of(a), digits_of(b)
  local sum, carry = {}, 0
  for n = 1, math.max(#a, #b) + 1 do
    local digit = (a[n] or 0) + (b[n] or 0) + carry
    carry = digit >= BASE and 1 or 0
    sum[n] = digit - carry * BASE
  end
  return from_digits(sum)
end

-- a − b, or 0 if b is larger.
local function sub(a, b)
  if not less(b, a) then
    return 0
  elseif a - a == 0 then
    return a - b
  end
  b = digits_of(b)
  local difference, borrow = {}, 0
  for n = 1, #a do
    local digit = a[n] - (b[n] or 0) - borrow
    borrow = digit < 0 and 1 or 0
    difference[n] = digit + borrow * BASE
  end
  return from_digits(difference)
end

local function mul(a, b)
  if a - a == 0 and b - b == 0 and a * b < EXACT then
    return a * b
  end
  a, b = digits_of(a), digits_of(b)
  local product = {}
  for n = 1, #a + #b do
    product[n] = 0
  end
  for n = 1, #a do
    local carry = 0
    for m = 1, #b do
      -- At most (2^24 − 1)² + 2 × 2^24: exact.
      local digit = product[n + m - 1] + a[n] * b[m] + carry
      carry = math.floor(digit / BASE)
      product[n + m - 1] = digit - carry * BASE
    end
    product[n + #b] = carry
  end
  return from_digits(product)
end

-- The nearest double, almost: with a relative error below 2^-50.
local function approximately(n)
  if n - n == 0 then
    return n
  end
  local sum = 0
  for index = #n, 1, -1 do
    sum = sum * BASE + n[index]
  end
  return sum
end

-- Quotient and remainder. b is not 0.
local function divide(a, b)
  if a - a == 0 then
    if b - b ~= 0 then
      return 0, a
    end
    -- fmod is exact, and so is the division of a multiple. a / b alone could be rounded up to the next integer.
    local rest = math.fmod(a, b)
    return (a - rest) / b, rest
  end
  local quotient = 0
  while not less(a, b) do
    -- Too small by a little, never too large. Each round leaves a 2^-40th of `a` at most, so there are few.
    local part = math.max(1, math.floor(approximately(a) / approximately(b) * (1 - 2 ^ -45)))
    part = from_digits(digits_of(part))
    quotient = add(quotient, part)
    a = sub(a, mul(part, b))
  end
  return quotient, a
end

local function divide_up(a, b)
  local quotient, rest = divide(a, b)
  return rest == 0 and quotient or add(quotient, 1)
end

local function text_of(n)
  local tail = ''
  while n - n ~= 0 do
    local rest
    n, rest = divide(n, 10000000)
    tail = string.format('%07.0f', rest) .. tail
  end
  return string.format(n < 2147483648 and '%d' or '%.0f', n) .. tail
end

-- Whether a text comes before another in the order of their bytes. `<` uses the order of the server's locale.
local function bytes_before(a, b)
  for at = 1, math.min(#a, #b) do
    local x, y = a:byte(at), b:byte(at)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

-- The integer of decimal digits.
local function from_text(digits)
  if #digits <= 15 or (#digits == 16 and bytes_before(digits, '9007199254740992')) then
    return tonumber(digits)
  end
  local head = #digits % 7
  local n = head > 0 and tonumber(digits:sub(1, head)) or 0
  for at = head + 1, #digits, 7 do
    n = add(mul(n, 10000000), tonumber(digits:sub(at, at + 6)))
  end
  return n
end

local MAX_COUNT_DIGITS = '9223372036854775807' -- 2^63 − 1
local MAX_UNSIGNED_DIGITS = '18446744073709551615' -- 2^64 − 1: the module's times end there
local MAX_COUNT, MAX_UNSIGNED, MAX_SPAN, MAX_TOLERANCE

-- Sets the large constants, when the first call runs.
local function set_constants()
  MAX_COUNT = setmetatable({ BASE - 1, BASE - 1, 2 ^ 15 - 1 }, LARGE)
  MAX_UNSIGNED = setmetatable({ BASE - 1, BASE - 1, 2 ^ 16 - 1 }, LARGE)
  MAX_SPAN = setmetatable({ 6553600, 11973543, 3552 }, LARGE) -- 10^18 microseconds
  MAX_TOLERANCE = setmetatable({ 9437184, 14339741, 14210 }, LARGE) -- 4 × 10^18 nanoseconds
end

-- The text, if it is an integer in the form that Redis requires and at most `most`; else nil.
local function digits_up_to(text, most)
  if text ~= '0' and not text:find('^[1-9]%d*$') then
    return nil
  end
  return (#text < #most or (#text == #most and not bytes_before(most, text))) and text or nil
end

-- The integer of decimal digits; nil if there is a leading zero or if they are more than 64 bits.
local function parse_digits(digits)
  if #digits > 1 and digits:byte() == 48 then
    return nil
  elseif #digits < 20 or (#digits == 20 and not bytes_before(MAX_UNSIGNED_DIGITS, digits)) then
    return from_text(digits)
  end
end

-- A number that is part of a reply, below 2^53.
local function exact(n)
  if n - n ~= 0 or n >= EXACT then
    fail('INEXACT_REPLY')
  end
  return n
end

-- Milliseconds as seconds, rounded up. −1, never, stays −1.
local function seconds_of(ms)
  return ms < 0 and -1 or math.ceil(ms / 1000)
end

-- The server ----------------------------------------------------------------------------------------------------------

-- Calls a command. Its error ends this call with the same error.
local function call(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    fail_with(reply.err)
  end
  return reply
end

-- The server's clock. A call reads it once.
local function clock()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function millis(now)
  return math.floor(now / 1000)
end

-- The expiry of a key as a double, which is not exact from 2^53 on; nil if it has none. Servers before 7.0 have no
-- PEXPIRETIME.
local function expiry_of(key, now_ms)
  local at = redis.pcall('PEXPIRETIME', key)
  if type(at) == 'table' then
    local left = call('PTTL', key)
    at = left >= 0 and now_ms + left or -1
  end
  return at >= 0 and at or nil
end

local function set_expiry(key, at_ms)
  if at_ms then
    call('PEXPIREAT', key, text_of(at_ms))
  end
end

-- Whether this is a server of a cluster. That does not change while it runs.
local cluster

local function in_cluster()
  if cluster == nil then
    local info = redis.pcall('INFO', 'cluster')
    cluster = type(info) == 'string' and info:find('cluster_enabled:1', 1, true) ~= nil
  end
  return cluster
end

-- The part of a key that a cluster hashes instead of the whole, or nil.
local function hash_tag(key)
  local open = key:find('{', 1, true)
  local close = open and key:find('}', open + 1, true)
  return close and close > open + 1 and key:sub(open + 1, close - 1) or nil
end

-- `<key><suffix>`, in the slot of `key`: in a cluster a key without a hash tag becomes one. nil if it cannot be one.
local function key_in_slot(key, suffix)
  if hash_tag(key) or not in_cluster() then
    return key .. suffix
  elseif key == '' or key:find('}', 1, true) then
    return nil
  end
  return '{' .. key .. '}' .. suffix
end

-- Calls a command with some arguments and then with many, of which a call takes 1,000. Returns the sum of the replies.
local function call_in_parts(arguments, many)
  local sum = 0
  for first = 1, #many, 1000 do
    local part = { unpack(arguments) }
    for n = first, math.min(first + 999, #many) do
      part[#part + 1] = many[n]
    end
    sum = sum + call(unpack(part))
  end
  return sum
end

-- Decisions and forecasts ---------------------------------------------------------------------------------------------
--
-- A decision is { allowed, count, ttl, change, state, delay }. `change` is what happens to the state:
--   keep    nothing
--   charge  counts the request; RL.MULTI drops it if another limit denies
--   rebase  restates the same as of now
--   refund  gives units back
--   delete  removes the state
--
-- A forecast is { capacity, remaining, wait }. `wait(cost)` is the time in ms until the cost fits; nil means never.

-- An algorithm is a table with its word, the options that it takes, and these functions:
--   prepare(policy)                                      checks a policy, and completes it
--   key_of_state(policy, key, now)                       the key of the state, if it is not the one of the call
--   load(policy, key, now, purpose, id)                  what the key holds, for `read`, `write` or `delete`: `loaded`
--   decide(policy, loaded, now, cost)                    a decision
--   refund, overcharge(policy, loaded, now, at_ms, cost) a change and a state
--   forecast(policy, loaded, decided, now)               the forecast of the state after a decision
--   remaining(policy, loaded)                            its `remaining`, where that is known for less
--   commit(policy, loaded, change, state, now)           writes the change, and extends the expiry where that is needed
--   window_at(policy, now)                               the length of the window in ms, if it is not the policy's
-- It is built when it is first named: a script runs this file at each call, and pays for every function in it.

local function decision(allowed, count, ttl, change, state)
  return { allowed = allowed, count = count, ttl = ttl, change = change, state = state, delay = 0 }
end

-- The state that a key holds after a change.
local function state_after(change, after, before)
  if change == 'delete' then
    return nil
  end
  return change == 'keep' and before or after
end

-- The units that must be available for a cost.
local function needed_for(cost)
  return cost == 0 and 1 or cost
end

-- The `ttl` of a denial in seconds: at least 1; −1 for never.
local function ttl_of_denial(forecast, cost)
  local wait = forecast.wait(needed_for(cost))
  return wait and math.max(1, seconds_of(exact(wait))) or -1
end

-- The forecast of units that each leave at a known time. `leaves_at(n)` is the ms in which the n-th leaves, from 0; nil
-- for never. All are gone at `gone_at`, if it is not nil.
local function leaving_in_order(capacity, charged, leaves_at, gone_at, now_ms)
  return {
    capacity = capacity,
    remaining = math.max(0, capacity - charged),
    wait = function(cost)
      local room = capacity - cost
      if room < 0 then
        return nil
      elseif charged <= room then
        return 0
      end
      local left = leaves_at(charged - room - 1)
      if gone_at and (not left or gone_at < left) then
        left = gone_at
      end
      -- A time that is not exact makes the reply an error.
      return left and (left >= EXACT and NEVER or math.max(0, left - now_ms))
    end,
  }
end

-- The units that must be available for the same request to be allowed. A cost of 0 needs one, but with ALWAYS none.
local function needed_by(decided, cost)
  return decided.needed or needed_for(cost)
end

-- The figures of FULL and of the headers.
local function figures_of(forecast, decided, cost)
  local function until_fits(units)
    local wait = forecast.wait(units)
    return wait and exact(wait) or -1
  end
  local full = forecast.remaining >= forecast.capacity
  return {
    limit = forecast.capacity,
    remaining = forecast.remaining,
    retry_after_ms = decided.allowed and 0 or until_fits(needed_by(decided, cost)),
    next_ms = full and 0 or until_fits(forecast.remaining + 1),
    reset_ms = full and 0 or until_fits(forecast.capacity),
    delay_ms = exact(divide_up(decided.delay, 1000)),
  }
end

-- FIXED: time is divided into windows, and each has its own counter ---------------------------------------------------
--
-- The state is { value, expires_at }: a counter that INCR could have written, and its expiry.

local DAY = 86400000
local LONGEST = { DAY = DAY, WEEK = 7 * DAY, MONTH = 31 * DAY, YEAR = 366 * DAY }

-- Loads a counter that INCR could have written: its state is { value, expires_at }.
local function load_counter(_, key, now)
  local text = call('GET', key)
  if not text then
    return { key = key }
  end
  local sign, digits = text:match('^(%-?)(%d+)$')
  local negative = sign == '-'
  digits = digits and digits_up_to(digits, negative and '9223372036854775808' or MAX_COUNT_DIGITS)
  if not digits or (negative and digits == '0') then
    fail_with_foreign_value(text, nil, 'NOT_A_COUNTER')
  end
  local value, expires_at = from_text(digits), expiry_of(key, millis(now))
  if value - value ~= 0 or (expires_at and expires_at >= EXACT) then
    fail('INEXACT_STATE')
  end
  local counter = { value = negative and -value or value, expires_at = expires_at }
  return { key = key, state = counter }
end

-- What a counter allows: all of its units come back together. `ends_in()` is the time until then in ms.
local function counter_forecast(limit, units, ends_in)
  return {
    capacity = limit,
    remaining = math.max(0, limit - units),
    wait = function(cost)
      if cost > limit then
        return nil
      end
      return units + cost <= limit and 0 or ends_in()
    end,
  }
end

local function build_fixed()
  -- Days from 1 January 1970 to the first day of a month, 0 to 11, of the Gregorian calendar. The year starts in March
  -- here, so that the leap day is its last.
  local function days_before(year, month)
    if month < 2 then
      year = year - 1
    end
    local of_march = (month + 10) % 12
    local leap_days = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
    return 365 * year + leap_days + math.floor((153 * of_march + 2) / 5) - 719468
  end

  -- The months since the year 0, and the day of the month from 0, of a day since 1 January 1970.
  local function month_of(day)
    -- From the mean length of a month, and one month more, so that it is not too small.
    local months = 1970 * 12 + math.floor(day / 30.436875) + 1
    local function first(n)
      return days_before(math.floor(n / 12), n % 12)
    end
    while first(months) > day do
      months = months - 1
    end
    return months, day - first(months)
  end

  -- The ms at which the period starts that is `months` after the anchor: on the same day of the month, or on the last
  -- one of a shorter month.
  local function start_after(anchor, months)
    local at = anchor.months + months
    local first = days_before(math.floor(at / 12), at % 12)
    local days = days_before(math.floor((at + 1) / 12), (at + 1) % 12) - first
    return (first + math.min(anchor.day, days - 1)) * DAY + anchor.time
  end

  -- Start, end and length of the window of `length` that contains now, where one window starts at the anchor.
  local function plain_period(length, anchor_ms, now_ms)
    local ago = math.fmod(now_ms, length) - math.fmod(anchor_ms, length)
    if ago < 0 then
      ago = ago + length
    end
    return now_ms - ago, now_ms - ago + length, length
  end

  local function calendar_period(step, anchor_ms, now_ms)
    local time = math.fmod(anchor_ms, DAY)
    local months, day = month_of((anchor_ms - time) / DAY)
    local anchor = { months = months, day = day, time = time }
    local apart = month_of(math.floor(now_ms / DAY)) - months
    local latest = apart - apart % step
    local first, last = start_after(anchor, latest), start_after(anchor, latest + step)
    if first > now_ms then
      first, last = start_after(anchor, latest - step), first
    end
    return first, last, last - first
  end

  -- The period that contains now: start, end and length in ms. A start before 1970 is 0.
  local function period(policy, now_ms)
    local unit, anchor_ms = policy.unit, policy.anchor_ms
    local first, last, length
    if unit == 'MONTH' or unit == 'YEAR' then
      first, last, length = calendar_period(unit == 'YEAR' and 12 or 1, anchor_ms or 0, now_ms)
    else
      -- 5 January 1970 was a Monday.
      anchor_ms = anchor_ms or (unit == 'WEEK' and 4 * DAY) or 0
      first, last, length = plain_period(policy.window_ms, anchor_ms, now_ms)
    end
    return math.max(0, first), last, length
  end

  -- The key of the counter. In a cluster it must be in the slot of `key`, so a key without a hash tag becomes one.
  local function counter_key(policy, key, now)
    local now_ms = millis(now)
    local suffix = string.format(':%.0f', (divide(now_ms, policy.window_ms)))
    if policy.unit or policy.anchor_ms then
      local window = policy.unit and policy.unit:lower() or string.format('%.0fms', policy.window_ms)
      suffix = string.format(':%s:%.0f', window, (period(policy, now_ms)))
    end
    return key_in_slot(key, suffix) or fail('CLUSTER_KEY')
  end

  local FIXED = {
    word = 'FIXED',
    takes = { COST = true, PARTIAL = true, ALWAYS = true, ANCHOR = true, RESERVE = true, RESERVATION = true },
    ttl_of_script = true,
  }

  FIXED.key_of_state = counter_key

  function FIXED.window_at(policy, now)
    local _, _, length = period(policy, millis(now))
    return length
  end

  -- A window from now, as the script sets it. A window of the calendar or with an anchor expires at its end.
  local function new_counter_expiry(policy, now_ms)
    if policy.unit or policy.anchor_ms then
      local _, last = period(policy, now_ms)
      return last
    end
    return now_ms + policy.window_ms
  end

  FIXED.load = load_counter

  -- What TTL replies: seconds, rounded to the nearest; −2 if there is no key.
  local function ttl_of_script(expires_at, now_ms)
    return expires_at and math.floor((math.max(0, expires_at - now_ms) + 500) / 1000) or -2
  end

  -- `count` and `ttl` of a request with ALWAYS.
  function FIXED.verdict_after(counter, now)
    return counter and counter.value or 0, exact(ttl_of_script(counter and counter.expires_at, millis(now)))
  end

  function FIXED.decide(policy, loaded, now, cost)
    local counter, now_ms = loaded.state, millis(now)
    local before, needed = counter and counter.value or 0, needed_for(cost)
    local allowed = needed <= policy.limit and before + needed <= policy.limit
    local counted = (allowed or before >= policy.limit) and cost > 0
    local after = counted and before + cost or before
    if after >= EXACT then
      fail('INEXACT_REPLY')
    end
    local expires_at
    if counter and counter.expires_at and not (counted and before == 0) then
      expires_at = counter.expires_at
    elseif counter or counted then
      -- As in the script, a counter that becomes 1 gets a new expiry. A counter without one gets one as well.
      expires_at = new_counter_expiry(policy, now_ms)
    end
    local ttl = ttl_of_script(expires_at, now_ms)
    local changed = counted or (counter and not counter.expires_at)
    local state = changed and { value = after, expires_at = expires_at } or nil
    return decision(allowed, after, exact(ttl), changed and 'charge' or 'keep', state)
  end

  -- A denied request with RESERVE is not counted.
  function FIXED.decide_reserving(policy, loaded, now, cost)
    local before = loaded.state and loaded.state.value or 0
    local fits = needed_for(cost) <= policy.limit and before + needed_for(cost) <= policy.limit
    local decided = FIXED.decide(policy, loaded, now, fits and cost or 0)
    decided.allowed, decided.needed = fits, needed_for(cost)
    return decided
  end

  -- What tells the windows of a key apart in the name of the HASH of reservations.
  function FIXED.infix(policy)
    local window = policy.unit and policy.unit:lower() or string.format('%.0fms', policy.window_ms)
    return ':' .. window .. (policy.anchor_ms and string.format(':%.0f', policy.anchor_ms / 1000) or '')
  end

  function FIXED.counts_until(policy, _, now)
    local _, last = period(policy, millis(now))
    return last
  end

  -- Corrects the counter itself, which may be above the limit, if the charge was in the current window.
  function FIXED.settle_reserved(policy, loaded, now, charge, actual)
    local counter, reserved = loaded.state, charge.cost or 0
    if charge.counts_until ~= FIXED.counts_until(policy, nil, now) then
      return 'keep'
    elseif actual >= reserved then
      return FIXED.overcharge(policy, loaded, now, nil, actual - reserved)
    elseif not counter or counter.value <= 0 then
      return 'keep'
    end
    local value = math.max(0, counter.value - (reserved - actual))
    return 'refund', { value = value, expires_at = counter.expires_at or new_counter_expiry(policy, millis(now)) }
  end

  local function is_current_period(policy, now, at_ms)
    return not at_ms or not less(at_ms, (period(policy, millis(now))))
  end

  -- Gives back from min(counter, limit): what is above the limit was never available.
  function FIXED.refund(policy, loaded, now, at_ms, cost)
    local counter = loaded.state
    if not counter or not is_current_period(policy, now, at_ms) then
      return 'keep'
    end
    local value = counter.value
    if value > 0 and cost > 0 then
      value = math.max(0, math.min(value, policy.limit) - cost)
    end
    if value == counter.value and counter.expires_at then
      return 'keep'
    end
    return 'refund', { value = value, expires_at = counter.expires_at or new_counter_expiry(policy, millis(now)) }
  end

  function FIXED.overcharge(policy, loaded, now, at_ms, cost)
    local counter = loaded.state
    if cost == 0 or not is_current_period(policy, now, at_ms) then
      return 'keep'
    end
    local before = counter and counter.value or 0
    -- The reply is that of a request of one unit more.
    if before + cost + 1 >= EXACT then
      fail('INEXACT_REPLY')
    end
    local held = before ~= 0 and counter.expires_at
    return 'charge', { value = before + cost, expires_at = held or new_counter_expiry(policy, millis(now)) }
  end

  function FIXED.forecast(policy, loaded, decided, now)
    local counter = state_after(decided.change, decided.state, loaded.state)
    return counter_forecast(policy.limit, math.max(0, counter and counter.value or 0), function()
      local now_ms = millis(now)
      local _, last = period(policy, now_ms)
      return last - now_ms
    end)
  end

  function FIXED.commit(_, loaded, change, after)
    local key, before = loaded.key, loaded.state
    if change == 'delete' then
      call('UNLINK', key)
    elseif change ~= 'keep' then
      local delta = after.value - (before and before.value or 0)
      if delta ~= 0 then
        call('INCRBY', key, string.format('%.0f', delta))
      end
      if after.expires_at ~= (before and before.expires_at) then
        set_expiry(key, after.expires_at)
      end
    end
  end

  return FIXED
end

-- WINDOW: one counter, whose window starts with the first request -----------------------------------------------------

local function build_window()
  local WINDOW = {
    word = 'WINDOW',
    takes = { COST = true, PARTIAL = true, ALWAYS = true, RESERVE = true, RESERVATION = true },
  }

  WINDOW.load = load_counter

  -- The window that runs now: { units, ends, is_right }. nil if there is no counter, or if its expiry is now or
  -- earlier: Redis keeps a key through the millisecond in which it expires. A counter without an expiry gets one,
  -- and one with more than a window left gets another. `is_right`: the key has that expiry already.
  local function running(policy, counter, now)
    local now_ms = millis(now)
    if not counter or (counter.expires_at and counter.expires_at <= now_ms) then
      return nil
    end
    local latest = now_ms + policy.window_ms
    local ends = math.min(counter.expires_at or latest, latest)
    return { units = math.max(0, counter.value), ends = ends, is_right = ends == counter.expires_at }
  end

  -- The ms in which the window ends that a charge counts in. A negative counter counts as none.
  local function end_of_charged(policy, counter, found, now)
    return found and counter.value >= 0 and found.ends or millis(now) + policy.window_ms
  end

  -- What a call does that counts nothing: sets an expiry that is missing or too late.
  local function uncharged(counter, found)
    if found and not found.is_right then
      return 'rebase', { value = counter.value, expires_at = found.ends }
    end
    return 'keep'
  end

  function WINDOW.forecast(policy, loaded, decided, now)
    local found = running(policy, state_after(decided.change, decided.state, loaded.state), now)
    return counter_forecast(policy.limit, found and found.units or 0, function()
      return divide_up(sub(mul(found.ends, 1000), now), 1000)
    end)
  end

  function WINDOW.decide(policy, loaded, now, cost)
    local counter = loaded.state
    local found = running(policy, counter, now)
    local units = found and found.units or 0
    local allowed = units + needed_for(cost) <= policy.limit
    local decided = decision(allowed, exact(units), nil, 'keep')
    if allowed and cost > 0 then
      local ends = end_of_charged(policy, counter, found, now)
      decided.change, decided.state = 'charge', { value = units + cost, expires_at = ends }
    else
      decided.change, decided.state = uncharged(counter, found)
    end
    local forecast = WINDOW.forecast(policy, loaded, decided, now)
    if allowed then
      decided.ttl = seconds_of(exact(forecast.wait(policy.limit)))
    else
      decided.ttl = ttl_of_denial(forecast, cost)
    end
    return decided
  end

  -- From the counter that is written: its expiry, which shadow mode leaves as it is.
  function WINDOW.counts_until(policy, counter, now)
    local expires_at = counter and counter.expires_at
    return expires_at and expires_at > millis(now) and expires_at or millis(now) + policy.window_ms
  end

  -- Gives back only if the window of the charge runs. What comes on top counts in the running window; if none runs,
  -- until the window of the charge ends.
  function WINDOW.settle_reserved(policy, loaded, now, charge, actual)
    local counter, reserved = loaded.state, charge.cost or 0
    if charge.counts_until <= millis(now) then
      return 'keep'
    elseif actual >= reserved then
      local change, state = WINDOW.overcharge(policy, loaded, now, nil, actual - reserved)
      if change == 'charge' and not running(policy, counter, now) then
        state.expires_at = math.min(charge.counts_until, millis(now) + policy.window_ms)
      end
      return change, state
    elseif not counter or counter.value <= 0 or counter.expires_at ~= charge.counts_until then
      return 'keep'
    end
    local value = counter.value - (reserved - actual)
    if value <= 0 then
      return 'delete'
    end
    return 'refund', { value = value, expires_at = counter.expires_at }
  end

  function WINDOW.refund(policy, loaded, now, at_ms, cost)
    local counter = loaded.state
    local found = running(policy, counter, now)
    local is_earlier = found and at_ms and less(add(at_ms, policy.window_ms), found.ends)
    if not found or found.units == 0 or is_earlier or cost == 0 then
      return uncharged(counter, found)
    elseif cost >= found.units then
      return 'delete'
    end
    return 'refund', { value = found.units - cost, expires_at = found.ends }
  end

  function WINDOW.overcharge(policy, loaded, now, at_ms, cost)
    if cost == 0 or (at_ms and not less(millis(now), add(at_ms, policy.window_ms))) then
      return 'keep'
    end
    local found = running(policy, loaded.state, now)
    local value = (found and found.units or 0) + cost
    if value >= EXACT then
      fail('INEXACT_REPLY')
    end
    return 'charge', { value = value, expires_at = end_of_charged(policy, loaded.state, found, now) }
  end

  -- What a request in shadow mode commits: it sets no other expiry for a window that runs.
  function WINDOW.in_shadow(policy, loaded, now, change, after)
    local counter = loaded.state
    if change == 'rebase' then
      return 'keep'
    elseif change == 'charge' and counter and counter.value >= 0 and running(policy, counter, now) then
      return 'charge', { value = after.value, expires_at = counter.expires_at }
    end
    return change, after
  end

  function WINDOW.commit(_, loaded, change, after)
    local key, before = loaded.key, loaded.state
    if change == 'delete' then
      call('UNLINK', key)
    elseif change == 'keep' then
      return
    elseif before and before.expires_at == after.expires_at then
      call('INCRBY', key, string.format('%.0f', after.value - before.value))
    elseif before and before.value == after.value then
      set_expiry(key, after.expires_at)
    else
      call('SET', key, string.format('%.0f', after.value), 'PXAT', text_of(after.expires_at))
    end
  end

  return WINDOW
end

-- Sorted sets: the log of SLIDING and the leases of LEASE -------------------------------------------------------------

-- What a call may still remove, over all its limits, of what no longer counts: entries of logs and leases, and
-- reservations that have ended; and how many reservations it may look at that have no order, and entries of a log that
-- are ahead of the clock it may move. It leaves the rest to later calls.
local MAX_EXPIRED, MAX_ENDED, MAX_STEP, MAX_MOVED = 4000, 1000, 500, 500
local budget

-- Loads a sorted set: { key, expired, len, exists }. Members with a score from `lowest` to `through` no longer count.
-- They are removed, lowest score first, as far as the budget of the call reaches. The others are counted.
local function load_set(key, lowest, through, purpose)
  local members, expired = call('ZCARD', key), 0
  if members > 0 and through and purpose ~= 'delete' then
    local last = string.format('%.0f', through)
    local most = purpose == 'read' and 0 or budget.expired
    if members <= most then
      local removed = call('ZREMRANGEBYSCORE', key, lowest, last)
      members, budget.expired = members - removed, most - removed
    else
      expired = call('ZCOUNT', key, lowest, last)
      local removed = math.min(expired, most)
      if removed > 0 then
        local first = lowest == '0' and call('ZCOUNT', key, '-inf', '(0') or 0
        call('ZREMRANGEBYRANK', key, string.format('%.0f', first), string.format('%.0f', first + removed - 1))
        members, expired, budget.expired = members - removed, expired - removed, most - removed
      end
    end
  end
  return { key = key, expired = expired, len = members - expired, exists = members > 0 }
end

local function score_at(key, rank)
  return tonumber(call('ZRANGE', key, string.format('%.0f', rank), string.format('%.0f', rank), 'WITHSCORES')[2])
end

-- Gives members another score.
local function rescore(key, score, members)
  local pairs_of_it = {}
  for _, member in ipairs(members) do
    pairs_of_it[#pairs_of_it + 1] = score
    pairs_of_it[#pairs_of_it + 1] = member
  end
  call_in_parts({ 'ZADD', key, 'XX' }, pairs_of_it)
end

-- SLIDING: each unit is a member of a sorted set, scored with its millisecond -----------------------------------------

local function build_sliding()
  local SLIDING = {
    word = 'SLIDING',
    takes = { COST = true, PARTIAL = true },
    ttl_of_script = true,
    adds_members = true,
  }

  function SLIDING.load(policy, key, now, purpose)
    local through = millis(now) - policy.window_ms
    local loaded = load_set(key, '0', through >= 0 and through or nil, purpose)
    -- The first log of a call may move half of the budget, each other one half of that before it.
    loaded.may_move = MAX_MOVED
    if purpose == 'write' then
      budget.moved = math.floor(budget.moved / 2)
      loaded.may_move = budget.moved
    end
    return loaded
  end

  function SLIDING.decide(policy, loaded, now, cost)
    local len, ttl = loaded.len, seconds_of(policy.window_ms)
    local allowed = len + needed_for(cost) <= policy.limit
    if allowed and cost > 0 then
      return decision(true, len, ttl, 'charge', { add = cost })
    end
    local now_ms = string.format('%.0f', millis(now))
    if not allowed and len > 0 and call('ZCOUNT', loaded.key, '(' .. now_ms, '+inf') > 0 then
      -- Members from before the clock stepped back count as of now. Else they would block the key until it catches up.
      return decision(false, len, ttl, 'rebase', { to_now = true })
    end
    return decision(allowed, len, ttl, 'keep')
  end

  -- Removes the newest members; with `at_ms`, those of that time, then the nearest older ones.
  function SLIDING.refund(_, loaded, _, at_ms, cost)
    local count = math.min(loaded.len, cost)
    if count == 0 then
      return 'keep'
    end
    return 'refund', { remove = count, up_to = at_ms }
  end

  function SLIDING.overcharge(policy, _, now, at_ms, cost)
    local now_ms = millis(now)
    if cost == 0 then
      return 'keep'
    elseif not at_ms or not less(at_ms, now_ms) then
      return 'charge', { add = cost }
    elseif at_ms <= now_ms - policy.window_ms then
      return 'keep'
    end
    return 'charge', { add = cost, earlier = at_ms }
  end

  -- At least 1.5 windows are left after every call. A call that finds less sets 2 windows.
  local function new_log_expiry(policy, held, now_ms)
    if held and 2 * math.max(0, held - now_ms) >= 3 * policy.window_ms then
      return nil
    end
    return now_ms + 2 * policy.window_ms
  end

  function SLIDING.remaining(policy, loaded)
    return math.max(0, policy.limit - loaded.len)
  end

  function SLIDING.forecast(policy, loaded, decided, now)
    local key, now_ms = loaded.key, millis(now)
    local added = decided.change == 'charge' and decided.state.add or 0
    -- Neither the scripts nor the module remove scores below 0. Such members never leave the window, but go with the
    -- key.
    local function never_leaving()
      local lowest = loaded.exists and score_at(key, 0)
      return lowest and lowest < 0 and call('ZCOUNT', key, '-inf', '(0') or 0
    end
    local never, moved
    -- The ms of the n-th entry to leave, with those of this request among the others.
    local function entry(n)
      never = never or never_leaving()
      if n >= loaded.len + added - never then
        return nil
      end
      local function score(rank)
        local found = rank >= 0 and score_at(key, rank)
        return found and math.max(0, math.ceil(found))
      end
      local rank = n + never + loaded.expired
      local at = score(rank)
      if at and added > 0 and at > now_ms then
        at = nil
      end
      if not at then
        local later = score(rank - added)
        at = later and later > now_ms and later or now_ms
      end
      if decided.change == 'rebase' then
        moved = moved or call('ZCOUNT', key, '-inf', text_of(now_ms)) + loaded.may_move
        return rank < moved and math.min(at, now_ms) or at
      end
      return at
    end
    local function leaves_at(n)
      local at = entry(n)
      return at and at + policy.window_ms
    end
    local held = loaded.exists and expiry_of(key, now_ms) or nil
    -- The key still exists in the millisecond of its expiry.
    local gone_at = (new_log_expiry(policy, held, now_ms) or held) + 1
    return leaving_in_order(policy.limit, loaded.len + added, leaves_at, gone_at, now_ms)
  end

  -- Adds members of one millisecond, named `<ms>-0.<n>`. A name can be taken: by a unit of the same time, or by a
  -- client.
  local function add_members(key, ms, count)
    local score = string.format('%.0f', ms)
    local n = call('ZCOUNT', key, score, score)
    while count > 0 do
      local part = {}
      for _ = 1, math.min(count, 1000) do
        part[#part + 1] = score
        part[#part + 1] = string.format('%s-0.%.0f', score, n)
        n = n + 1
      end
      count = count - call('ZADD', key, 'NX', unpack(part))
    end
  end

  function SLIDING.commit(policy, loaded, change, after, now)
    local key, now_ms = loaded.key, millis(now)
    if change == 'delete' then
      call('UNLINK', key)
      return
    elseif change == 'keep' and not loaded.exists then
      return
    end
    local expires_at = new_log_expiry(policy, loaded.exists and expiry_of(key, now_ms) or nil, now_ms)
    if change == 'keep' then
      set_expiry(key, expires_at)
    elseif after.add then
      add_members(key, after.earlier or now_ms, after.add)
      set_expiry(key, expires_at)
    elseif after.to_now then
      local score = string.format('%.0f', now_ms)
      rescore(key, score, call('ZRANGEBYSCORE', key, '(' .. score, '+inf', 'LIMIT', '0', text_of(loaded.may_move)))
      set_expiry(key, expires_at)
    else
      -- From the first to the last rank. The expiry comes first, since the key may go with its last member.
      local first, last = loaded.len + loaded.expired - after.remove, loaded.len + loaded.expired - 1
      if after.up_to then
        last = call('ZCOUNT', key, '-inf', text_of(after.up_to)) - 1
        first = math.max(0, last + 1 - after.remove)
      end
      if last < 0 or first > 0 or last + 1 < loaded.len + loaded.expired then
        set_expiry(key, expires_at)
      end
      if last >= 0 then
        call('ZREMRANGEBYRANK', key, string.format('%.0f', first), string.format('%.0f', last))
      end
    end
  end

  return SLIDING
end

-- LEASE: each holder is a member of a sorted set, scored with the ms in which its lease ends --------------------------

local function build_lease()
  -- A client can write a score with a fraction, or infinity.
  local function end_of_score(score)
    return score < 2 ^ 64 and math.max(0, math.ceil(score)) or NEVER
  end

  local LEASE = {
    word = 'LEASE',
    takes = { ID = true },
    no_correction = 'LEASE_CORRECTION',
    quota_unit = 'concurrent-requests',
    -- A renewal charges nothing.
    units_charged = function(loaded)
      return loaded.own and 0 or 1
    end,
  }

  local function load_leases(key, now, purpose)
    return load_set(key, '-inf', millis(now), purpose)
  end

  -- The ms in which the lease of a holder ends; nil if it has ended: it may still be there.
  local function end_of(loaded, id, now)
    local score = loaded.len > 0 and call('ZSCORE', loaded.key, id)
    local ends = score and end_of_score(tonumber(score))
    return ends and ends > millis(now) and ends or nil
  end

  function LEASE.load(_, key, now, purpose, id)
    local loaded = load_leases(key, now, purpose)
    loaded.own = id and end_of(loaded, id, now)
    loaded.id = id
    return loaded
  end

  -- The ms in which the n-th lease ends, earliest first, from 0.
  local function end_of_lease(loaded, n)
    local score = score_at(loaded.key, n + loaded.expired)
    return score and end_of_score(score) or NEVER
  end

  local function others(loaded)
    return loaded.len - (loaded.own and 1 or 0)
  end

  local function end_of_other(loaded, n)
    local ends = end_of_lease(loaded, n)
    -- From its own place on, the holder's lease is left out.
    return loaded.own and ends >= loaded.own and end_of_lease(loaded, n + 1) or ends
  end

  -- The end of the n-th lease if the holder's own ends in `own_end`.
  local function end_with_own(loaded, n, own_end)
    if n < others(loaded) then
      local ends = end_of_other(loaded, n)
      if ends <= own_end then
        return ends
      end
    end
    return n > 0 and math.max(end_of_other(loaded, n - 1), own_end) or own_end
  end

  function LEASE.forecast(policy, loaded, decided, now)
    local state = decided.state or {}
    local function leaves_at(n)
      local ends = state.hold and end_with_own(loaded, n, state.hold) or end_of_lease(loaded, n)
      return ends ~= NEVER and ends or nil
    end
    local charged = state.hold and others(loaded) + 1 or loaded.len
    return leaving_in_order(policy.limit, charged, leaves_at, nil, millis(now))
  end

  function LEASE.remaining(policy, loaded)
    return math.max(0, policy.limit - loaded.len)
  end

  -- A holder that has a lease renews it, whatever the others hold.
  function LEASE.decide(policy, loaded, now)
    local now_ms = millis(now)
    local allowed = policy.limit > 0 and (loaded.own ~= nil or others(loaded) < policy.limit)
    local ends = now_ms + policy.window_ms
    local decided = decision(allowed, others(loaded), nil, 'keep')
    if allowed and loaded.own ~= ends then
      decided.change, decided.state = 'charge', { hold = ends }
    end
    if allowed then
      decided.ttl = exact(divide_up(sub(mul(ends, 1000), now), 1000000))
    else
      decided.ttl = ttl_of_denial(LEASE.forecast(policy, loaded, decided, now), 1)
    end
    return decided
  end

  -- Lets the key expire when its last lease ends: later than before, or earlier.
  local function expire_with_the_last(key, last, now_ms)
    if last >= EXACT or expiry_of(key, now_ms) ~= last then
      call('PEXPIREAT', key, last < 2 ^ 63 and string.format('%.0f', last) or MAX_COUNT_DIGITS)
    end
  end

  local function last_end(key)
    local score = score_at(key, -1)
    return score and end_of_score(score)
  end

  local function move_ends(key, ends, holders, now_ms)
    rescore(key, string.format('%.0f', ends), holders)
    expire_with_the_last(key, last_end(key), now_ms)
  end

  function LEASE.commit(_, loaded, change, after, now)
    local key, now_ms = loaded.key, millis(now)
    if change == 'delete' then
      call('UNLINK', key)
    elseif change == 'keep' then
      if loaded.len > 0 then
        expire_with_the_last(key, last_end(key), now_ms)
      end
    elseif loaded.id and loaded.own then
      move_ends(key, after.hold, { loaded.id }, now_ms)
    elseif loaded.id then
      call('ZADD', key, string.format('%.0f', after.hold), loaded.id)
      expire_with_the_last(key, last_end(key), now_ms)
    end
  end

  -- Ends the leases of holders; returns how many had not ended before.
  function LEASE.release(key, ids, now)
    local loaded, held = load_leases(key, now, 'write'), {}
    if loaded.len == 0 then
      return 0
    end
    for _, id in ipairs(ids) do
      held[#held + 1] = end_of(loaded, id, now) and id
    end
    local released = call_in_parts({ 'ZREM', key }, held)
    local last = last_end(key)
    if last then
      expire_with_the_last(key, last, millis(now))
    end
    return released
  end

  -- Renews the leases of holders that have not ended; returns how many.
  function LEASE.renew(policy, key, ids, now)
    local loaded, holders = load_leases(key, now, 'write'), {}
    for _, id in ipairs(ids) do
      holders[#holders + 1] = end_of(loaded, id, now) and id
    end
    if #holders > 0 then
      move_ends(key, millis(now) + policy.window_ms, holders, millis(now))
    end
    return #holders
  end

  return LEASE
end

-- Records: the algorithms whose state is a text of a few integers -----------------------------------------------------
--
-- They have `decode`, `encode`, `expires_at` (in ms), and the pure functions `decide_record`, `refund_record`,
-- `overcharge_record` and `forecast_record`.

local SLACK_MS = 5000 -- how much later than needed the expiry of a record may be

-- The integers of a record; nil if the text is no such record. The pattern finds their digits and what follows them.
local function words_of(text, pattern)
  local a, b, c, d, rest = text:match(pattern)
  if not a then
    return nil
  end
  return parse_digits(a), parse_digits(b), parse_digits(c), parse_digits(d), rest
end

local function is_window(ms)
  return ms and ms - ms == 0 and ms >= 1 and ms <= 1e15
end

-- Adds what every algorithm of this kind does in the same way.
local function record_algorithm(algorithm)
  function algorithm.load(_, key)
    local text = call('GET', key)
    if not text then
      return { key = key }
    end
    local state = algorithm.decode(text)
    if not state then
      fail_with_foreign_value(text, algorithm.word, 'FOREIGN_VALUE')
    end
    return { key = key, state = state }
  end

  function algorithm.decide(policy, loaded, now, cost)
    return algorithm.decide_record(policy, loaded.state, now, cost)
  end

  function algorithm.refund(policy, loaded, now, at_ms, cost)
    return algorithm.refund_record(policy, loaded.state, now, at_ms, cost)
  end

  function algorithm.overcharge(policy, loaded, now, at_ms, cost)
    return algorithm.overcharge_record(policy, loaded.state, now, at_ms, cost)
  end

  function algorithm.forecast(policy, loaded, decided, now)
    return algorithm.forecast_record(policy, state_after(decided.change, decided.state, loaded.state), now)
  end

  -- The expiry to set with a change, in ms; nil leaves it as it is. It may be a little later than needed, so that it is
  -- not written each time. How long a state is needed can depend on arguments that it does not hold. A denied call then
  -- extends the expiry if it needs the state for longer, and a write keeps a later expiry if that is for a call with
  -- other arguments.
  function algorithm.expiry_after(policy, loaded, change, after, now)
    local before, depends = loaded.state, algorithm.expiry_depends_on_policy
    if change == 'keep' and (not before or not depends) then
      return nil
    end
    local held = before and expiry_of(loaded.key, millis(now))
    held = held and from_digits(digits_of(held))
    if change == 'keep' then
      local needed = algorithm.expires_at(policy, before)
      return held and less(held, needed) and add(needed, SLACK_MS) or nil
    end
    local needed = algorithm.expires_at(policy, after)
    local latest = add(needed, SLACK_MS)
    if not held then
      return latest
    end
    local needed_before = depends and algorithm.expires_at(policy, before)
    if depends and change == 'rebase' then
      -- Every expiry moves back with the state, also one that other arguments need.
      if held - held ~= 0 then
        fail('INEXACT_STATE')
      end
      local moved = sub(held, sub(needed_before, needed))
      moved = less(moved, needed) and needed or moved
      return moved ~= held and moved or nil
    elseif less(held, needed) then
      return latest
    elseif not less(latest, held) or (depends and less(add(needed_before, SLACK_MS), held)) then
      return nil
    end
    return latest
  end

  function algorithm.commit(policy, loaded, change, after, now)
    if change == 'delete' then
      call('UNLINK', loaded.key)
      return
    end
    local expires_at = algorithm.expiry_after(policy, loaded, change, after, now)
    if change == 'keep' then
      set_expiry(loaded.key, expires_at)
    elseif expires_at then
      -- SET takes no expiry of 0. Either is over.
      call('SET', loaded.key, algorithm.encode(after), 'PXAT', text_of(expires_at == 0 and 1 or expires_at))
    else
      call('SET', loaded.key, algorithm.encode(after), 'KEEPTTL')
    end
  end

  return algorithm
end

-- COUNTER: two aligned windows, of which the previous one counts in proportion ----------------------------------------
--
-- The state is { window_ms, start_ms, current, previous }.

local function build_counter()
  local COUNTER = record_algorithm({
    word = 'COUNTER',
    takes = { COST = true, PARTIAL = true, ALWAYS = true, RESERVE = true, RESERVATION = true },
  })

  function COUNTER.decode(text)
    local window_ms, number, current, previous, rest = words_of(text, '^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
    if not is_window(window_ms) or not number or not current or not previous or rest ~= '' then
      return nil
    end
    local start_ms = mul(number, window_ms)
    if less(MAX_COUNT, mul(start_ms, 1000)) or less(MAX_COUNT, current) or less(MAX_COUNT, previous) then
      return nil
    elseif start_ms == 0 and previous ~= 0 then
      return nil
    end
    return { window_ms = window_ms, start_ms = start_ms, current = current, previous = previous }
  end

  function COUNTER.encode(counts)
    local number = divide(counts.start_ms, counts.window_ms)
    local words = { text_of(counts.window_ms), text_of(number), text_of(counts.current), text_of(counts.previous) }
    return 'C:' .. table.concat(words, ':')
  end

  function COUNTER.expires_at(_, counts)
    local windows = counts.current ~= 0 and 2 or counts.previous ~= 0 and 1 or 0
    return add(counts.start_ms, counts.window_ms * windows)
  end

  -- The counts in windows of this length, aligned to the window of now. Each old count goes to the window of the latest
  -- moment at which it can have been charged. Counts ahead of the clock are reduced to the limit, so that a clock that
  -- stepped back does not block for longer than the limit itself does.
  local function align(policy, old, now)
    local now_ms, window_ms = millis(now), policy.window_ms
    local start_ms = now_ms - math.fmod(now_ms, window_ms)
    local aligned = { window_ms = window_ms, start_ms = start_ms, current = 0, previous = 0 }
    if not old then
      return aligned
    elseif less(now_ms, old.start_ms) then
      aligned.current = min(add(old.current, old.previous), policy.limit)
      return aligned
    elseif old.window_ms == window_ms and now_ms - old.start_ms < window_ms then
      return old
    end
    local function place(count, end_ms)
      if end_ms > aligned.start_ms then
        aligned.current = min(add(aligned.current, count), MAX_COUNT)
      elseif end_ms + window_ms > aligned.start_ms then
        aligned.previous = min(add(aligned.previous, count), MAX_COUNT)
      end
    end
    place(old.current, old.start_ms + old.window_ms)
    place(old.previous, old.start_ms)
    return aligned
  end

  -- The same windows with other counts.
  local function with_counts(counts, current, previous)
    return { window_ms = counts.window_ms, start_ms = counts.start_ms, current = current, previous = previous }
  end

  -- The weighted count of the previous window, in parts of 1/window.
  local function weighted_previous(policy, counts, now)
    return mul(counts.previous, sub(policy.window, now - counts.start_ms * 1000))
  end

  local function counts_forecast(policy, counts, now)
    local weighted = divide_up(weighted_previous(policy, counts, now), policy.window)
    -- How far into the window after its own `count` weighs no more than `room`.
    local function time_until_weight_is(room, count)
      return count == 0 and 0 or sub(policy.window, (divide(mul(room, policy.window), count)))
    end
    return {
      capacity = policy.limit,
      remaining = sub(sub(policy.limit, counts.current), weighted),
      wait = function(cost)
        local room, at = policy.limit - cost
        local start = mul(counts.start_ms, 1000)
        if room < 0 then
          return nil
        elseif not less(room, counts.current) then
          at = add(start, time_until_weight_is(room - counts.current, counts.previous))
        else
          at = add(add(start, policy.window), time_until_weight_is(room, counts.current))
        end
        return divide_up(sub(at, now), 1000)
      end,
    }
  end

  function COUNTER.forecast_record(policy, old, now)
    return counts_forecast(policy, align(policy, old, now), now)
  end

  function COUNTER.decide_record(policy, old, now, cost)
    local counts = align(policy, old, now)
    local previous = weighted_previous(policy, counts, now)
    -- In parts of 1/window, so nothing is rounded.
    local needed = mul(add(counts.current, needed_for(cost)), policy.window)
    local allowed = not less(mul(policy.limit, policy.window), add(needed, previous))
    local decided = decision(allowed, exact(add(counts.current, (divide(previous, policy.window)))), nil, 'keep')
    if allowed and cost > 0 then
      decided.change = 'charge'
      decided.state = with_counts(counts, add(counts.current, cost), counts.previous)
    elseif old and policy.limit > 0 and (less(millis(now), old.start_ms) or old.window_ms ~= policy.window_ms) then
      -- Else every call would align the stored counts anew, each time to a later window, and they would never lose
      -- their effect. An empty record is not written.
      if counts.current ~= 0 or counts.previous ~= 0 then
        decided.change, decided.state = 'rebase', counts
      end
    end
    if allowed then
      local expires_at = COUNTER.expires_at(policy, decided.change == 'charge' and decided.state or counts)
      decided.ttl = exact(divide_up(sub(mul(expires_at, 1000), now), 1000000))
    else
      decided.ttl = ttl_of_denial(counts_forecast(policy, counts, now), cost)
    end
    return decided
  end

  -- The window that a time is in. The future is the current window.
  local function place_of(counts, at_ms)
    if not at_ms or not less(at_ms, counts.start_ms) then
      return 'current'
    end
    return at_ms + counts.window_ms >= counts.start_ms and 'previous' or nil
  end

  -- Takes the units that were charged last; with `at_ms`, from the window of that time alone.
  function COUNTER.refund_record(policy, old, now, at_ms, cost)
    local counts = align(policy, old, now)
    local place = place_of(counts, at_ms)
    local from_current = place == 'current' and cost or 0
    local from_previous = place == 'previous' and cost or 0
    if not at_ms then
      from_previous = sub(cost, counts.current)
    end
    local refunded = with_counts(counts, sub(counts.current, from_current), sub(counts.previous, from_previous))
    if not less(refunded.current, counts.current) and not less(refunded.previous, counts.previous) then
      return 'keep'
    elseif refunded.current == 0 and refunded.previous == 0 then
      return 'delete'
    end
    return 'refund', refunded
  end

  function COUNTER.overcharge_record(policy, old, now, at_ms, cost)
    local counts = align(policy, old, now)
    local place = place_of(counts, at_ms)
    if cost == 0 or not place then
      return 'keep'
    end
    local charged = with_counts(counts, counts.current, counts.previous)
    charged[place] = add(charged[place], cost)
    local weighted = add(mul(charged.current, policy.window), weighted_previous(policy, charged, now))
    if less(MAX_COUNT, charged[place]) or less(mul(MAX_COUNT, policy.window), weighted) then
      fail('OVERFLOW')
    end
    return 'charge', charged
  end

  -- The end of the next window.
  function COUNTER.counts_until(policy, _, now)
    local now_ms = millis(now)
    return now_ms - math.fmod(now_ms, policy.window_ms) + 2 * policy.window_ms
  end

  function COUNTER.settle_reserved(policy, loaded, now, charge, actual)
    local reserved = charge.cost or 0
    if charge.counts_until <= millis(now) then
      return 'keep'
    elseif actual < reserved then
      return COUNTER.refund(policy, loaded, now, charge.charged_at, reserved - actual)
    end
    return COUNTER.overcharge(policy, loaded, now, charge.charged_at, actual - reserved)
  end

  return COUNTER
end

-- TOKEN and LEAKY: a level that rises by what is charged and drains at a steady rate ----------------------------------
--
-- The state is { used, part, window_ms, at, debt }: whole units, a fraction in parts of 1/window, the time, and whole
-- units beyond the capacity. A unit has `window` parts (the window in microseconds), so `limit` parts drain in each
-- microsecond: whole numbers, and nothing is lost from call to call.

local function build_level(word)
  local tag, delays = word == 'TOKEN' and 'T:' or 'L:', word == 'LEAKY'

  -- The level at the time it was written. An amount above the capacity counts as a full bucket since that time. Debt
  -- counts in addition.
  local function parts_when_written(policy, level)
    local part = level.part
    if level.window_ms ~= policy.window_ms and part ~= 0 then
      part = divide_up(mul(part, policy.window), mul(level.window_ms, 1000))
    end
    local used = min(add(mul(level.used, policy.window), part), policy.full)
    return level.debt == 0 and used or add(used, mul(level.debt, policy.window))
  end

  -- The level at now. If it was written ahead of the clock, nothing has drained yet.
  local function parts_at(policy, level, now)
    if not level then
      return 0
    end
    return sub(parts_when_written(policy, level), mul(sub(now, level.at), policy.limit))
  end

  local function time_to_drain(policy, parts)
    return policy.limit == 0 and MAX_UNSIGNED or min(divide_up(parts, policy.limit), MAX_UNSIGNED)
  end

  local function level_forecast(policy, parts, now)
    return {
      capacity = policy.capacity,
      remaining = policy.limit == 0 and 0 or sub(policy.capacity, divide_up(parts, policy.window)),
      wait = function(cost)
        if policy.limit == 0 or cost > policy.capacity then
          return nil
        end
        local time = divide_up(sub(parts, mul(policy.capacity - cost, policy.window)), policy.limit)
        -- Only debt can take longer to drain than a time can represent.
        return not less(MAX_UNSIGNED, add(time, now)) and divide_up(time, 1000) or nil
      end,
    }
  end

  local algorithm = record_algorithm({
    word = word,
    takes = { COST = true, PARTIAL = true, ALWAYS = word == 'TOKEN', BURST = true },
    expiry_depends_on_policy = true,
  })

  function algorithm.prepare(policy)
    policy.full = mul(policy.capacity, policy.window)
    -- With a limit of 0 nothing is ever charged, so nothing has to drain. No number is too large.
    if policy.limit > 0 and policy.full - policy.full ~= 0 and less(mul(policy.limit, MAX_SPAN), policy.full) then
      fail('SPAN')
    end
  end

  local pattern = '^' .. tag .. '(%d+):(%d+):(%d+):(%d+)(.*)$'

  function algorithm.decode(text)
    local used, part, window_ms, at, rest = words_of(text, pattern)
    if not is_window(window_ms) or not used or not part or not at then
      return nil
    end
    local debt = 0
    if rest ~= '' then
      -- The last integer is only there while it is not 0.
      rest = rest:match('^:(%d+)$')
      debt = rest and parse_digits(rest)
      if not debt or debt == 0 then
        return nil
      end
    end
    local too_high = less(MAX_COUNT, used) or (not less(used, MAX_COUNT) and part ~= 0)
    if too_high or less(MAX_COUNT, at) or less(MAX_COUNT, debt) or not less(part, mul(window_ms, 1000)) then
      return nil
    end
    return { used = used, part = part, window_ms = window_ms, at = at, debt = debt }
  end

  function algorithm.encode(level)
    local text = tag .. text_of(level.used) .. ':' .. text_of(level.part) .. ':' .. text_of(level.window_ms)
    text = text .. ':' .. text_of(level.at)
    return level.debt == 0 and text or text .. ':' .. text_of(level.debt)
  end

  -- With a limit of 0 the state has no effect, so it is not needed.
  function algorithm.expires_at(policy, level)
    local at = level.at
    if policy.limit > 0 then
      at = min(add(at, time_to_drain(policy, parts_when_written(policy, level))), MAX_UNSIGNED)
    end
    return divide_up(at, 1000)
  end

  function algorithm.decide_record(policy, level, now, cost)
    local before = parts_at(policy, level, now)
    local needed = add(before, mul(needed_for(cost), policy.window))
    local allowed = policy.limit > 0 and not less(policy.full, needed)
    local whole, part = divide(before, policy.window)
    local decided = decision(allowed, exact(part == 0 and whole or add(whole, 1)), nil, 'keep')
    if allowed and cost > 0 then
      decided.change = 'charge'
      decided.state = { used = add(whole, cost), part = part, window_ms = policy.window_ms, at = now, debt = 0 }
      decided.ttl = exact(divide_up(time_to_drain(policy, needed), 1000000))
    else
      if level and policy.limit > 0 and less(now, level.at) then
        -- Not reduced to the capacity: another call may name a larger one.
        decided.change = 'rebase'
        decided.state =
          { used = level.used, part = level.part, window_ms = level.window_ms, at = now, debt = level.debt }
      end
      if allowed then
        decided.ttl = exact(divide_up(time_to_drain(policy, before), 1000000))
      else
        decided.ttl = ttl_of_denial(level_forecast(policy, before, now), cost)
      end
    end
    if delays and allowed then
      decided.delay = time_to_drain(policy, before)
    end
    return decided
  end

  -- Reduces the level as it was written, and leaves the time of writing.
  function algorithm.refund_record(policy, level, now, _, cost)
    if not level or cost == 0 or parts_at(policy, level, now) == 0 then
      return 'keep'
    end
    local used, part = level.used, level.part
    if not less(used, policy.capacity) then
      used, part = policy.capacity, 0
    end
    local rest = sub(cost, level.debt)
    -- A fraction below a refunded unit goes with it: the level does not become negative.
    if less(used, rest) then
      used, part = 0, 0
    else
      used = sub(used, rest)
    end
    local refunded =
      { used = used, part = part, window_ms = level.window_ms, at = level.at, debt = sub(level.debt, cost) }
    if parts_at(policy, refunded, now) == 0 then
      return 'delete'
    end
    return 'refund', refunded
  end

  -- What does not fit becomes debt, which drains before anything else is allowed.
  function algorithm.overcharge_record(policy, level, now, _, cost)
    if cost == 0 or policy.limit == 0 then
      return 'keep'
    end
    local parts = add(parts_at(policy, level, now), mul(cost, policy.window))
    if less(mul(MAX_COUNT, policy.window), parts) then
      fail('OVERFLOW')
    end
    local whole, part = divide(parts, policy.window)
    -- The fraction stays below the capacity, so debt is a number of whole units.
    local most = part == 0 and policy.capacity or policy.capacity - 1
    local used, debt = min(whole, most), sub(whole, most)
    return 'charge', { used = used, part = part, window_ms = policy.window_ms, at = now, debt = debt }
  end

  function algorithm.forecast_record(policy, level, now)
    return level_forecast(policy, parts_at(policy, level, now), now)
  end

  return algorithm
end

-- GCRA: a token bucket whose whole state is one time, the theoretical arrival time (TAT) ------------------------------
--
-- The state is { micros, nanos }: the TAT in nanoseconds does not fit a double, so its last three digits are apart.

local function build_gcra()
  local GCRA = record_algorithm({ word = 'GCRA', takes = { COST = true, PARTIAL = true, BURST = true } })

  function GCRA.prepare(policy)
    policy.interval, policy.tolerance = 0, 0
    if policy.limit > 0 then
      local window_ns = mul(policy.window, 1000)
      if less(window_ns, policy.limit) then
        fail('SPAN')
      end
      policy.interval = divide_up(window_ns, policy.limit)
      policy.tolerance = mul(policy.capacity, policy.interval)
      if less(MAX_TOLERANCE, policy.tolerance) then
        fail('SPAN')
      end
    end
  end

  function GCRA.decode(text)
    local digits = digits_up_to(text, MAX_UNSIGNED_DIGITS)
    if not digits then
      return nil
    end
    return { micros = #digits > 3 and from_text(digits:sub(1, -4)) or 0, nanos = tonumber(digits:sub(-3)) }
  end

  function GCRA.encode(tat)
    return tat.micros == 0 and string.format('%d', tat.nanos) or text_of(tat.micros) .. string.format('%03d', tat.nanos)
  end

  function GCRA.expires_at(_, tat)
    return divide_up(tat.nanos == 0 and tat.micros or add(tat.micros, 1), 1000)
  end

  local function tat_of(now, ahead)
    local micros, nanos = divide(ahead, 1000)
    return { micros = add(now, micros), nanos = nanos }
  end

  -- How far the TAT is ahead of now, up to the tolerance, and whether it is further ahead.
  local function ahead_of(policy, tat, now)
    local ahead = 0
    if tat and not less(tat.micros, now) then
      ahead = add(mul(sub(tat.micros, now), 1000), tat.nanos)
    end
    return min(ahead, policy.tolerance), less(policy.tolerance, ahead)
  end

  local function used_of(policy, ahead)
    return policy.interval == 0 and 0 or divide_up(ahead, policy.interval)
  end

  local function tat_forecast(policy, ahead)
    return {
      capacity = policy.capacity,
      remaining = policy.interval == 0 and 0 or sub(policy.capacity, used_of(policy, ahead)),
      wait = function(cost)
        if policy.interval == 0 or cost > policy.capacity then
          return nil
        end
        local room = sub(policy.tolerance, mul(cost, policy.interval))
        return divide_up(sub(ahead, room), 1000000)
      end,
    }
  end

  function GCRA.decide_record(policy, tat, now, cost)
    local ahead, beyond = ahead_of(policy, tat, now)
    local after = add(ahead, mul(needed_for(cost), policy.interval))
    local allowed = policy.interval ~= 0 and not less(policy.tolerance, after)
    local decided = decision(allowed, exact(used_of(policy, ahead)), nil, 'keep')
    if allowed and cost == 0 then
      decided.ttl = exact(divide_up(ahead, 1000000000))
    elseif allowed then
      decided.change, decided.state = 'charge', tat_of(now, after)
      decided.ttl = exact(divide_up(after, 1000000000))
    else
      if beyond and policy.interval ~= 0 then
        decided.change, decided.state = 'rebase', tat_of(now, ahead)
      end
      decided.ttl = ttl_of_denial(tat_forecast(policy, ahead), cost)
    end
    return decided
  end

  function GCRA.refund_record(policy, tat, now, _, cost)
    local ahead = ahead_of(policy, tat, now)
    local refunded = mul(cost, policy.interval)
    if ahead == 0 or refunded == 0 then
      return 'keep'
    elseif not less(refunded, ahead) then
      return 'delete'
    end
    return 'refund', tat_of(now, sub(ahead, refunded))
  end

  -- Charges up to full. A TAT cannot represent more, so the rest is forgotten.
  function GCRA.overcharge_record(policy, tat, now, _, cost)
    if cost == 0 or policy.interval == 0 then
      return 'keep'
    end
    local ahead = ahead_of(policy, tat, now)
    return 'charge', tat_of(now, min(add(ahead, mul(cost, policy.interval)), policy.tolerance))
  end

  function GCRA.forecast_record(policy, tat, now)
    return tat_forecast(policy, (ahead_of(policy, tat, now)))
  end

  return GCRA
end

-- Arguments -----------------------------------------------------------------------------------------------------------
--
-- The words of a call are { list, at, last }: `at` is the index of the next word.

-- Each algorithm is built when it is first named.
local BUILDERS = {
  FIXED = build_fixed,
  WINDOW = build_window,
  SLIDING = build_sliding,
  COUNTER = build_counter,
  TOKEN = build_level,
  LEAKY = build_level,
  GCRA = build_gcra,
  LEASE = build_lease,
}
local ALGORITHMS = {}

local function next_word(words)
  local word = words.list[words.at]
  words.at = words.at + 1
  return word
end

local function left(words)
  return #words.list - words.at + 1
end

local function select_algorithm(word)
  word = word:upper()
  if not ALGORITHMS[word] then
    if word == 'ROLLING' then
      fail('ROLLING')
    end
    local build = BUILDERS[word] or fail('ALGORITHM')
    ALGORITHMS[word] = build(word)
  end
  return ALGORITHMS[word]
end

-- A count: limit, COST, BURST, RESERVED or ACTUAL. The module takes more than a double holds.
local function parse_count(name, text, least)
  local digits = text and digits_up_to(text, MAX_COUNT_DIGITS)
  local n = digits and from_text(digits)
  if not n or n == 0 and least > 0 then
    fail_with(string.format('ERR invalid %s: expected an integer from %d to 9223372036854775807', name, least))
  elseif n - n ~= 0 then
    fail_with(string.format('ERR invalid %s: the Lua library takes integers up to 9007199254740991', name))
  end
  return n
end

-- The options, in the order of the usage texts: the word, the word with its value, and the commands that take it.
local function option_rows()
  return {
    { 'COST', 'COST n', 'RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take' },
    { 'PARTIAL', 'PARTIAL', 'RL.<ALGO> and RL.PEEK take' },
    { 'ALWAYS', 'ALWAYS', 'RL.<ALGO> and RL.PEEK take' },
    { 'RESERVED', 'RESERVED n', 'RL.SETTLE takes' },
    { 'ACTUAL', 'ACTUAL m', 'RL.SETTLE takes' },
    { 'AT', 'AT ms', 'RL.REFUND and RL.SETTLE take' },
    { 'BURST', 'BURST n', 'RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take' },
    { 'ANCHOR', 'ANCHOR t', 'RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take' },
    { 'ID', 'ID id', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
    { 'AS', 'AS name', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
    { 'SHADOW', 'SHADOW', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
    { 'RESERVE', 'RESERVE id ttl', 'RL.<ALGO> and RL.MULTI take' },
    { 'RESERVATION', 'RESERVATION id', 'RL.SETTLE takes' },
  }
end

local UNITS = { ms = 1, [''] = 1000, s = 1000, m = 60000, h = 3600000, d = 86400000 }

-- A window of a fixed length in ms; nil if the text is none.
local function parse_window(text)
  local number, unit = text:match('^(%d+)(%l*)$')
  local ms = number and UNITS[unit] and digits_up_to(number, MAX_UNSIGNED_DIGITS) and tonumber(number) * UNITS[unit]
  return ms and ms >= 1 and ms <= 1e15 and ms or nil
end

local function parse_id(text)
  return text and #text >= 1 and #text <= 512 and text
end

local function parse_reservation_id(text)
  return text and #text >= 1 and #text <= 128 and text
end

local function parse_value(option, text, second)
  if option == 'RESERVE' then
    local ttl = second and parse_window(second)
    return parse_reservation_id(text) and ttl and { id = text, ttl = ttl } or fail('RESERVE')
  elseif option == 'RESERVATION' then
    return parse_reservation_id(text) or fail('RESERVATION')
  elseif option == 'ID' then
    return parse_id(text) or fail('ID')
  elseif option == 'AS' then
    return text and #text >= 1 and #text <= 64 and not text:find('[^%w._-]') and text or fail('AS')
  elseif option == 'ANCHOR' then
    local digits = text and digits_up_to(text, '253402300799')
    return digits and tonumber(digits) or fail('ANCHOR')
  elseif option == 'AT' then
    local digits = text and digits_up_to(text, MAX_COUNT_DIGITS)
    -- The module counts microseconds, up to 2^64.
    return digits and min(from_text(digits), (divide(MAX_UNSIGNED, 1000))) or fail('AT')
  end
  return parse_count(option, text, option == 'BURST' and 1 or 0)
end

local FLAGS = ' PARTIAL ALWAYS SHADOW '
local FORMS = { FULL = true, LINE = true, HEADERS = true }

-- The options of each command, for any algorithm. `form`: the form of the reply is among them.
local ACCEPTED = {
  CHECK = ' form COST PARTIAL ALWAYS BURST ANCHOR ID AS SHADOW RESERVE ',
  PEEK = ' form COST PARTIAL ALWAYS BURST ANCHOR ID AS SHADOW ',
  LIMIT = ' COST BURST ANCHOR ID AS SHADOW RESERVE ',
  REFUND = ' form COST AT BURST ANCHOR ',
  SETTLEMENT = ' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ',
  RESET = ' ANCHOR ',
}

-- Every option, and those that only some algorithms take.
local OPTIONS = ' COST PARTIAL ALWAYS RESERVED ACTUAL AT BURST ANCHOR ID AS SHADOW RESERVE RESERVATION '
local OF_ALGORITHMS = ' COST PARTIAL ALWAYS BURST ANCHOR ID RESERVE RESERVATION '

-- Whether a word is one of a list, which has a blank before and after each.
local function is_in(list, word)
  return not word:find(' ', 1, true) and list:find(' ' .. word .. ' ', 1, true) ~= nil
end

local function takes(algorithm, option)
  return not is_in(OF_ALGORITHMS, option) or algorithm.takes[option]
end

-- Whether two words have their ends in common, at least two letters, and differ by at most two letters between them.
local function is_nearly(word, option)
  local first, last = 0, 0
  local shorter, longer = math.min(#word, #option), math.max(#word, #option)
  while first < shorter and word:byte(first + 1) == option:byte(first + 1) do
    first = first + 1
  end
  while last < shorter - first and word:byte(-1 - last) == option:byte(-1 - last) do
    last = last + 1
  end
  return first + last >= 2 and longer - first - last <= 2
end

-- The error for a word that is no option of a command that takes the options `accepted`: it names the one that was
-- meant, or lists all.
local function fail_with_usage(algorithm, accepted, word)
  local options = {}
  for _, row in ipairs(option_rows()) do
    if is_in(accepted, row[1]) and takes(algorithm, row[1]) then
      options[#options + 1] = row[2]
    end
  end
  for _, form in ipairs({ 'FULL', 'LINE', 'HEADERS' }) do
    options[#options + 1] = form
  end
  for _, option in ipairs(options) do
    if is_nearly(word:upper(), option:match('^%u+')) then
      fail_with('ERR syntax error: no such option, but there is ' .. option)
    end
  end
  local last = table.remove(options)
  local usage = table.concat(options, ', ')
  fail_with('ERR syntax error: after limit come ' .. usage .. ' or ' .. last .. ', each at most once')
end

-- Rejects an option that the command or the algorithm does not take, or that is there already.
local function require_option(option, options, accepted, algorithm)
  if is_in(accepted, option) and takes(algorithm, option) and options[option] == nil then
    return
  end
  for _, row in ipairs(option_rows()) do
    if row[1] == option and not is_in(accepted, option) then
      fail_with(string.format('ERR invalid %s: only %s it', option, row[3]))
    elseif row[1] == option and not takes(algorithm, option) then
      fail_with(string.format('ERR invalid %s: %s takes none', option, algorithm.word))
    elseif row[1] == option then
      fail_with(string.format('ERR syntax error: %s comes at most once', row[2]))
    end
  end
end

-- The form of a call that has named `form`, if any, and now names `named`.
local function next_form(form, named)
  if form then
    fail(form == named and 'FORM_TWICE' or 'TWO_FORMS')
  end
  return named
end

-- Rejects options that exclude each other.
local function require_compatible(options)
  if options.ALWAYS and (options.PARTIAL or options.RESERVE) then
    fail(options.PARTIAL and 'PARTIAL_AND_ALWAYS' or 'RESERVE_AND_ALWAYS')
  elseif options.RESERVATION and (options.RESERVED or options.AT) then
    fail(options.RESERVED and 'RESERVATION_AND_RESERVED' or 'RESERVATION_AND_AT')
  end
end

-- Takes options up to the first word that is none.
local function parse_options(words, accepted, algorithm)
  local options = {}
  while left(words) > 0 do
    local word = words.list[words.at]:upper()
    if is_in(OPTIONS, word) then
      require_option(word, options, accepted, algorithm)
      if is_in(FLAGS, word) then
        options[word] = true
        words.at = words.at + 1
      else
        options[word] = parse_value(word, words.list[words.at + 1], words.list[words.at + 2])
        words.at = words.at + (word == 'RESERVE' and 3 or 2)
      end
      require_compatible(options)
    elseif FORMS[word] and is_in(accepted, 'form') then
      options.form = next_form(options.form, word)
      words.at = words.at + 1
    else
      return options
    end
  end
  return options
end

-- The policy of a window, a limit and options: { window_ms, window, limit, capacity } and, for FIXED, `unit` and
-- `anchor_ms`. `window` is in microseconds. For a period of the calendar, it is the longest.
local function parse_policy(algorithm, window, limit, options)
  local unit, window_ms = nil, parse_window(window)
  if not window_ms then
    unit = window:upper()
    window_ms = LONGEST[unit]
    if not window_ms then
      fail(algorithm.takes.ANCHOR and 'CALENDAR_WINDOW' or 'WINDOW')
    elseif not algorithm.takes.ANCHOR then
      fail_with(string.format('ERR invalid window: %s takes no windows of the calendar', algorithm.word))
    end
  end
  local policy = { window_ms = window_ms, window = mul(window_ms, 1000), limit = limit, unit = unit }
  policy.capacity = options.BURST or limit
  policy.anchor_ms = options.ANCHOR and options.ANCHOR * 1000
  if algorithm.prepare then
    algorithm.prepare(policy)
  end
  return policy
end

-- The most members of a sorted set that the request can add: none if the limit can never hold the cost.
local function most_members_added(request)
  if not request.algorithm.adds_members then
    return 0
  elseif request.policy.capacity < request.cost then
    return request.partial and request.policy.capacity or 0
  end
  return request.cost
end

local function require_few_members(members, text)
  if members > 1000 then
    fail(text)
  end
end

-- Parses `window limit [options]`, and leaves what follows the options.
local function parse_request(algorithm, key, words, accepted)
  if left(words) < 2 then
    fail('ARITY')
  end
  local window, limit = next_word(words), next_word(words)
  local options = parse_options(words, accepted, algorithm)
  limit = parse_count('limit', limit, 0)
  return {
    key = key,
    algorithm = algorithm,
    policy = parse_policy(algorithm, window, limit, options),
    options = options,
    name = options.AS or algorithm.word:lower(),
    id = options.ID,
    cost = options.COST or 1,
    partial = options.PARTIAL or false,
    always = options.ALWAYS or false,
    shadow = options.SHADOW or false,
    reserve = options.RESERVE,
    form = options.form,
  }
end

-- A request of a command with one limit: no word is left over.
local function parse_all(algorithm, key, words, accepted)
  local request = parse_request(algorithm, key, words, accepted)
  if left(words) > 0 then
    fail_with_usage(algorithm, accepted, next_word(words))
  end
  require_few_members(most_members_added(request), 'LOG_COST')
  return request
end

local function require_id(request)
  if request.algorithm.takes.ID and not request.id then
    fail('ID_MISSING')
  end
end

-- Reservations --------------------------------------------------------------------------------------------------------
--
-- A HASH at `<key>:reserved`, of FIXED at `<key>:<window>:reserved`. A field is { cost, charged_at, ends_at,
-- counts_until, ttl }, in ms; `cost` is nil in a mark: a reservation that has ended. Beside it is their order, a ZSET
-- at `<HASH>:ends`: the ids, scored with their ends. The field with the empty name is 0 if the order has each field; an
-- earlier version writes another number. A book is what one call knows of both: `own` is the field of its id.

local function build_reservations()
  local RESERVATIONS = {}
  local MOST = 100000

  local function number(text)
    local digits = digits_up_to(text, MAX_COUNT_DIGITS) or fail('FOREIGN_RESERVATION')
    local n = from_text(digits)
    return n - n == 0 and n or fail('INEXACT_STATE')
  end

  local function decode(text)
    local cost, charged_at, ends_at, counts_until, ttl = text:match('^(%d*):(%d+):(%d+):(%d+):(%d+)$')
    if not cost or #ttl > 16 or tonumber(ttl) > 1e15 or ttl == '0' then
      fail('FOREIGN_RESERVATION')
    end
    return {
      cost = cost ~= '' and number(cost) or nil,
      charged_at = number(charged_at),
      ends_at = number(ends_at),
      counts_until = number(counts_until),
      ttl = number(ttl),
    }
  end

  local function encode(field)
    local words = { field.cost and text_of(field.cost) or '' }
    for n, value in ipairs({ field.charged_at, field.ends_at, field.counts_until, field.ttl }) do
      words[n + 1] = text_of(value)
    end
    return table.concat(words, ':')
  end

  local function name_of(request)
    local infix = request.algorithm.infix and request.algorithm.infix(request.policy) or ''
    return key_in_slot(request.key, infix .. ':reserved')
  end

  function RESERVATIONS.key_of(request)
    return name_of(request) or fail('CLUSTER_RESERVE')
  end

  -- The HASH, if there is one that a call has written.
  function RESERVATIONS.existing(request)
    local key = name_of(request)
    local earliest = key and redis.pcall('HGET', key, '')
    return type(earliest) == 'string' and digits_up_to(earliest, MAX_UNSIGNED_DIGITS) and key or nil
  end

  -- The mark of a reservation that has ended; nil if its time is over too.
  local function mark_of(ended, now_ms)
    local was = ended.was
    if now_ms >= was.ends_at + was.ttl then
      return nil
    end
    return {
      charged_at = was.charged_at,
      ends_at = was.ends_at + was.ttl,
      -- What stays charged must not be charged again.
      counts_until = (ended.given_back or was.cost == 0) and was.counts_until or 0,
      ttl = was.ttl,
    }
  end

  local function matters_until(field)
    return field.cost and math.max(field.ends_at + field.ttl, field.counts_until) or field.ends_at
  end

  -- Takes notice of what has ended: { id, field }, which has the id of the call if that has ended.
  local function review(book, found)
    book.ended, book.gone = {}, {}
    for _, one in ipairs(found) do
      if one.field.cost then
        book.ended[#book.ended + 1] = { id = one.id, was = one.field }
      elseif one.id ~= book.id then
        book.gone[#book.gone + 1] = one.id
      end
    end
    budget.ended = math.max(0, budget.ended - #book.ended - #book.gone)
    table.sort(book.ended, function(a, b)
      if a.was.charged_at ~= b.was.charged_at then
        return a.was.charged_at < b.was.charged_at
      end
      return bytes_before(a.id, b.id)
    end)
    book.reviewed = true
  end

  -- Reads what has ended in the order: as much as the budget allows, and the id of the call. Whether each of these is
  -- in the HASH as the order says.
  local function review_ordered(book)
    local first = call('ZRANGE', book.ends, '0', string.format('%.0f', budget.ended), 'WITHSCORES')
    local ids, ends, found, own_found = {}, {}, {}, false
    book.next_end = nil
    for n = 1, #first, 2 do
      local ends_at = tonumber(first[n + 1])
      if ends_at > book.now_ms or #ids == budget.ended then
        book.next_end = ends_at
        break
      end
      ids[#ids + 1], ends[#ends + 1] = first[n], ends_at
    end
    local texts = #ids > 0 and call('HMGET', book.key, unpack(ids)) or {}
    for n, id in ipairs(ids) do
      local field = texts[n] and decode(texts[n])
      if not field or field.ends_at ~= ends[n] then
        return false
      end
      found[n] = { id = id, field = field }
      own_found = own_found or id == book.id
    end
    if book.own and book.own.ends_at <= book.now_ms and not own_found then
      found[#found + 1] = { id = book.id, field = book.own }
    end
    review(book, found)
    -- If these are all fields beside that of the call, the others need nothing.
    local own_ended = 0
    for _, ended in ipairs(book.ended) do
      own_ended = ended.id == book.id and 1 or own_ended
    end
    local others_ended = #book.ended + #book.gone - own_ended
    book.needed = book.len - (book.stored and 1 or 0) == others_ended and 0 or nil
    return true
  end

  -- Reads all fields, where the order does not have each: it is written anew.
  local function review_all(book)
    local ended, stay, own = {}, {}, nil
    local all = call('HGETALL', book.key)
    for n = 1, #all, 2 do
      local id = all[n]
      if id ~= '' then
        local one = { id = id, field = decode(all[n + 1]) }
        if one.field.ends_at <= book.now_ms then
          ended[#ended + 1] = one
        elseif id ~= book.id then
          stay[#stay + 1] = one
        end
      end
    end
    if #ended > budget.ended then
      table.sort(ended, function(a, b)
        if a.field.ends_at ~= b.field.ends_at then
          return a.field.ends_at < b.field.ends_at
        end
        return bytes_before(a.id, b.id)
      end)
      for n = #ended, budget.ended + 1, -1 do
        local one = table.remove(ended, n)
        if one.id == book.id then
          own = one
        else
          stay[#stay + 1] = one
        end
      end
      ended[#ended + 1] = own
    end
    book.next_end, book.needed, book.order = nil, 0, stay
    for _, one in ipairs(stay) do
      book.next_end = math.min(book.next_end or one.field.ends_at, one.field.ends_at)
      book.needed = math.max(book.needed, matters_until(one.field))
    end
    review(book, ended)
  end

  -- Reads some of many fields, where the order does not have each: it gets them. What has ended counts until the order
  -- is complete, but for that of the call's id. The member with the empty name says where the next step begins.
  local function add_to_order(book, most)
    local step = book.earliest == 1 and call('ZSCORE', book.ends, '')
    book.has_step = step and true or false
    book.next_end = nil
    if most > 0 then
      local found = call('HSCAN', book.key, step and text_of(-1 - tonumber(step)) or '0', 'COUNT', text_of(most))
      book.next_step, book.anew, book.order = tonumber(found[1]), not step, {}
      for n = 1, #found[2], 2 do
        local id = found[2][n]
        if id ~= '' and id ~= book.id then
          book.order[#book.order + 1] = { id = id, field = decode(found[2][n + 1]) }
        elseif id ~= '' then
          decode(found[2][n + 1])
        end
      end
      table.sort(book.order, function(a, b)
        return bytes_before(a.id, b.id)
      end)
      book.complete = book.next_step == 0
    end
    if book.own and book.own.ends_at <= book.now_ms then
      review(book, { { id = book.id, field = book.own } })
      book.needed = book.len == 1 and 0 or nil
    end
  end

  function RESERVATIONS.load(key, id, now)
    local found = call('HMGET', key, id, '')
    local book = { key = key, ends = key .. ':ends', id = id, now_ms = millis(now), ended = {}, gone = {} }
    book.stored = found[1] and decode(found[1]) or nil
    book.own = book.stored
    book.earliest = found[2] and number(found[2]) or nil
    book.len = call('HLEN', key) - (book.earliest and 1 or 0)
    book.expires_at = expiry_of(key, book.now_ms)
    book.order_len = call('ZCARD', book.ends)
    book.next_end = score_at(book.ends, 0)
    local ordered = book.len == book.order_len and (book.earliest == 0 or book.len == 0 and not book.earliest)
    local first_end = math.min(book.next_end or math.huge, book.own and book.own.ends_at or math.huge)
    book.complete = ordered and (first_end > book.now_ms or review_ordered(book))
    if not book.complete then
      local fields = book.len + (book.earliest and 1 or 0)
      local most = fields <= budget.unordered and fields or math.min(budget.unordered, MAX_STEP)
      budget.unordered = budget.unordered - most
      if most == fields then
        book.complete, book.anew = true, true
        review_all(book)
      else
        add_to_order(book, most)
      end
    end
    return book
  end

  -- Gives back what has ended, in what is loaded only: `commit_change` writes it.
  function RESERVATIONS.give_back(request, loaded, now)
    local book = request.book
    for _, ended in ipairs(book.ended) do
      if ended.was.cost > 0 and book.now_ms < ended.was.counts_until then
        local change, state = request.algorithm.settle_reserved(request.policy, loaded, now, ended.was, 0)
        if change ~= 'keep' then
          if not loaded.gave_back then
            loaded.gave_back, loaded.stored = true, loaded.state
          end
          ended.given_back = true
          loaded.state = state_after(change, state, loaded.state)
        end
      end
    end
    if book.own and book.own.ends_at <= book.now_ms then
      book.own = nil
      for _, ended in ipairs(book.ended) do
        if ended.id == book.id then
          book.own = mark_of(ended, book.now_ms)
        end
      end
    end
  end

  -- The open reservation of the id.
  function RESERVATIONS.open_of(book)
    return book.own and book.own.cost and book.own or nil
  end

  -- The fields that the call leaves beside that of its id: how many, the earliest end, and until when they matter.
  local function others(book)
    local count, earliest, needed = book.len - (book.stored and 1 or 0) - #book.gone, book.next_end, book.needed or 0
    for _, ended in ipairs(book.ended) do
      local mark = ended.id ~= book.id and mark_of(ended, book.now_ms)
      if mark then
        earliest = math.min(earliest or mark.ends_at, mark.ends_at)
        needed = math.max(needed, mark.ends_at)
      elseif ended.id ~= book.id then
        count = count - 1
      end
    end
    return count, earliest, needed
  end

  -- The ms until one ends, if there is no room for another; else nil.
  function RESERVATIONS.full_for(book)
    local count, earliest = others(book)
    if book.own or count < MOST then
      return nil
    end
    return math.max(1, (earliest or 0) - book.now_ms)
  end

  function RESERVATIONS.open(book, cost, ttl, counts_until)
    local now_ms = book.now_ms
    book.own = { cost = cost, charged_at = now_ms, ends_at = now_ms + ttl, counts_until = counts_until, ttl = ttl }
  end

  -- Lets an open reservation end `ttl` from now, if that is later.
  function RESERVATIONS.prolong(book, open, ttl)
    if open.ends_at < book.now_ms + ttl then
      RESERVATIONS.open(book, open.cost, ttl, open.counts_until)
      book.own.charged_at = open.charged_at
    end
  end

  function RESERVATIONS.commit(book)
    local count, _, needed = others(book)
    if count == 0 and not book.own then
      if book.len > 0 or book.earliest then
        call('UNLINK', book.key)
      end
      if book.order_len > 0 then
        call('UNLINK', book.ends)
      end
      return
    end
    local fields, members, removed = {}, {}, {}
    local function set(list, first, second)
      list[#list + 1] = first
      list[#list + 1] = second
    end
    for _, id in ipairs(book.gone) do
      removed[#removed + 1] = id
    end
    for _, one in ipairs(book.order or {}) do
      set(members, text_of(one.field.ends_at), one.id)
    end
    for _, ended in ipairs(book.ended) do
      local mark = ended.id ~= book.id and mark_of(ended, book.now_ms)
      if mark then
        set(fields, ended.id, encode(mark))
        set(members, text_of(mark.ends_at), ended.id)
      elseif ended.id ~= book.id then
        removed[#removed + 1] = ended.id
      end
    end
    if book.own and book.own ~= book.stored then
      set(fields, book.id, encode(book.own))
    elseif not book.own and book.stored then
      removed[#removed + 1] = book.id
    end
    if book.own then
      needed = math.max(needed, matters_until(book.own))
      local has_moved = not book.stored or book.own.ends_at ~= book.stored.ends_at
      if book.anew or book.has_step or book.complete and has_moved then
        set(members, text_of(book.own.ends_at), book.id)
      end
    end
    local mark_of_order = book.complete and 0 or 1
    if book.earliest ~= mark_of_order then
      set(fields, '', text_of(mark_of_order))
    end
    call_in_parts({ 'HSET', book.key }, fields)
    call_in_parts({ 'HDEL', book.key }, removed)
    if book.next_step and book.next_step > 0 then
      set(members, '-' .. text_of(book.next_step + 1), '')
    end
    if book.anew and book.order_len > 0 then
      call('UNLINK', book.ends)
    end
    -- The key goes with its last member, and would lose its expiry: new members come first.
    call_in_parts({ 'ZADD', book.ends }, members)
    if book.next_step == 0 then
      removed[#removed + 1] = ''
    end
    call_in_parts({ 'ZREM', book.ends }, removed)
    local held, latest, expires_at = book.expires_at, needed + SLACK_MS, nil
    local unknown = not held and not book.needed and book.len > 0
    if not unknown and (not held or held < needed or (book.needed and held > latest)) then
      expires_at = latest
    end
    set_expiry(book.key, expires_at)
    if expires_at or book.anew and held then
      set_expiry(book.ends, expires_at or held)
    end
  end

  return RESERVATIONS
end

-- It is built when a call first needs it.
local built_reservations

local function reservations()
  built_reservations = built_reservations or build_reservations()
  return built_reservations
end

-- Decisions of requests -----------------------------------------------------------------------------------------------

-- Rejects a key of a limit that has the name of reservations.
local function require_own_name(key)
  -- Most keys cost this one call.
  if key:find(':reserved', 1, true) and (key:sub(-9) == ':reserved' or key:sub(-14) == ':reserved:ends') then
    fail('RESERVED_KEY')
  end
end

-- The key of the state, for rl_reset: it deletes also what an earlier version has left at a name of reservations.
-- Rejects the deletion of a key with such a name, unless an earlier version has left a state there, and not the order
-- of a HASH.
local function require_left_over(key, exists)
  local hash = key:match('^(.*:reserved):ends$')
  if not exists or hash and redis.pcall('TYPE', hash).ok == 'hash' then
    require_own_name(key)
  end
end

local function key_to_reset(request, now)
  local find = request.algorithm.key_of_state
  return find and find(request.policy, request.key, now) or request.key
end

local function key_of_state(request, now)
  require_own_name(request.key)
  return key_to_reset(request, now)
end

local function load(request, key, now, purpose)
  return request.algorithm.load(request.policy, key, now, purpose, request.id)
end

local function remaining_of(request, loaded, now)
  local algorithm = request.algorithm
  if algorithm.remaining then
    return algorithm.remaining(request.policy, loaded)
  end
  return algorithm.forecast(request.policy, loaded, { change = 'keep' }, now).remaining
end

-- The figures of the state as it is after the decision.
local function figures(request, now)
  local decided = request.decided
  local forecast = request.algorithm.forecast(request.policy, request.loaded, decided, now)
  local found = figures_of(forecast, decided, request.decided_cost)
  if request.full_for and not decided.allowed and found.retry_after_ms >= 0 then
    found.retry_after_ms = math.max(found.retry_after_ms, request.full_for)
  end
  return found
end

-- ALWAYS: charges the cost whatever the limit says. The request is allowed if no more than the limit is counted then. A
-- cost of 0 charges nothing. Under a limit of 0 everything is denied.
local function decide_always(request, loaded, now)
  local algorithm, policy, cost = request.algorithm, request.policy, request.cost
  local decided = algorithm.decide(policy, loaded, now, 0)
  local change, state = algorithm.overcharge(policy, loaded, now, nil, cost)
  if cost > 0 then
    decided.change, decided.state = change, state
  end
  local forecast = algorithm.forecast(policy, loaded, decided, now)
  decided.allowed = forecast.capacity > 0 and forecast.wait(0) == 0
  decided.needed = forecast.capacity > 0 and cost or needed_for(cost)
  if algorithm.verdict_after then
    local after = state_after(decided.change, decided.state, loaded.state)
    decided.count, decided.ttl = algorithm.verdict_after(after, now)
  elseif decided.allowed then
    decided.ttl = seconds_of(exact(forecast.wait(forecast.capacity)))
  else
    local wait = forecast.wait(decided.needed)
    decided.ttl = wait and math.max(1, seconds_of(exact(wait))) or -1
  end
  return decided
end

-- Keeps a decision in the request: `loaded`, `decided`, `decided_cost` and `shadowed`.
local function conclude(request, loaded, decided, cost, now)
  request.loaded, request.decided, request.decided_cost = loaded, decided, cost
  local only_a_part = request.partial and cost < request.cost
  request.shadowed = request.shadow and not request.open and (only_a_part or not decided.allowed)
  if not decided.allowed and (request.shadowed or request.open) then
    -- The change stays that of a denial.
    decided.allowed = true
    if not request.algorithm.ttl_of_script then
      decided.ttl = seconds_of(figures(request, now).reset_ms)
    end
  end
end

-- Decides on a loaded state. The result is in the request: `loaded`, `decided`, `decided_cost` and `shadowed`.
local function decide(request, loaded, now)
  local algorithm, cost = request.algorithm, request.cost
  if request.partial then
    -- If nothing fits, a cost of 0 is denied and counted nowhere.
    cost = math.min(cost, remaining_of(request, loaded, now))
  end
  local decided
  if request.always then
    decided = decide_always(request, loaded, now)
  else
    decided = algorithm.decide(request.policy, loaded, now, cost)
  end
  conclude(request, loaded, decided, cost, now)
end

-- Writes a change of a state. What has been given back before is written with it.
local function commit_change(request, loaded, change, state, now)
  if loaded.gave_back then
    state = state_after(change, state, loaded.state)
    loaded.state = loaded.stored
    if not state then
      change = loaded.stored and 'delete' or 'keep'
    elseif change ~= 'charge' then
      change = 'refund'
    end
  end
  request.algorithm.commit(request.policy, loaded, change, state, now)
end

-- RESERVE: gives back what has ended, and decides.
local function decide_reserving(request, loaded, now)
  local algorithm, policy, book, cost = request.algorithm, request.policy, request.book, request.cost
  reservations().give_back(request, loaded, now)
  request.open, request.full_for = reservations().open_of(book), reservations().full_for(book)
  if request.open then
    cost = 0
  elseif request.partial then
    cost = math.min(cost, remaining_of(request, loaded, now))
  end
  local decide_at = algorithm.decide_reserving or algorithm.decide
  local decided = decide_at(policy, loaded, now, cost)
  if request.full_for and decided.allowed then
    decided = decide_at(policy, loaded, now, 0)
    decided.allowed, decided.needed = false, needed_for(cost)
    if not algorithm.ttl_of_script then
      decided.ttl = seconds_of(request.full_for)
    end
  end
  conclude(request, loaded, decided, cost, now)
end

-- Loads what the request needs to write, and decides. `hash` is the key of the reservations.
local function load_and_decide(request, state_key, hash, now)
  if hash then
    request.book = reservations().load(hash, request.reserve.id, now)
  end
  local decide_on = hash and decide_reserving or decide
  decide_on(request, load(request, state_key, now, 'write'), now)
end

-- Whether the request makes a reservation, if every limit of the call allows it.
local function opens(request)
  local fits = not request.shadowed
  if request.partial then
    fits = request.decided_cost > 0 and not request.full_for
  end
  return not request.open and request.decided.allowed and fits
end

-- If the call is not allowed, since another limit denies, what has ended is given back all the same.
local function commit(request, now, allowed)
  local algorithm, decided = request.algorithm, request.decided
  if not allowed and decided.change == 'charge' then
    decided.change, decided.state = 'keep', nil
  end
  if request.shadow and algorithm.in_shadow then
    decided.change, decided.state =
      algorithm.in_shadow(request.policy, request.loaded, now, decided.change, decided.state)
  end
  if request.book and allowed and request.open then
    reservations().prolong(request.book, request.open, request.reserve.ttl)
  elseif request.book and allowed and opens(request) then
    local after = state_after(decided.change, decided.state, request.loaded.state)
    local counts_until = algorithm.counts_until(request.policy, after, now)
    reservations().open(request.book, request.decided_cost, request.reserve.ttl, counts_until)
  end
  commit_change(request, request.loaded, decided.change, decided.state, now)
  if request.book then
    reservations().commit(request.book)
  end
end

-- Replies -------------------------------------------------------------------------------------------------------------

-- The first integer of a reply: whether the request is allowed or, with PARTIAL, how much of it.
local function first_integer(request)
  if not request.decided.allowed then
    return 0
  elseif not request.partial then
    return 1
  elseif request.open then
    return request.open.cost
  end
  return request.shadowed and request.cost or request.decided_cost
end

local MAX_HEADER_INTEGER = 999999999999999 -- RFC 9651, section 3.3.1

local function header_integer(n)
  return string.format('%.0f', min(n, MAX_HEADER_INTEGER))
end

-- The policy in RateLimit-Policy. Its window is a whole number of seconds, so the limit of another window is given for
-- the smallest whole multiple that is: 10 in 500 ms are 20 in 1 s.
local function policy_item(request, now)
  local algorithm, policy = request.algorithm, request.policy
  if algorithm.quota_unit then
    local quota, window = header_integer(policy.limit), header_integer(seconds_of(policy.window_ms))
    return string.format('"%s";q=%s;w=%s;qu="%s"', request.name, quota, window, algorithm.quota_unit)
  end
  local window_ms = algorithm.window_at and algorithm.window_at(policy, now) or policy.window_ms
  local divisor, rest = 1000, math.fmod(window_ms, 1000)
  while rest > 0 do
    divisor, rest = rest, divisor % rest
  end
  local windows = 1000 / divisor
  local window = divide(mul(window_ms, windows), 1000)
  local quota = mul(policy.limit, windows)
  return string.format('"%s";q=%s;w=%s', request.name, header_integer(quota), header_integer(window))
end

-- Whether one limit is stricter than another: denied before allowed, then the longest wait, then the least remaining.
local function is_stricter(one, other)
  if one.decided.allowed ~= other.decided.allowed then
    return not one.decided.allowed
  end
  local wait, other_wait = one.figures.retry_after_ms, other.figures.retry_after_ms
  if wait ~= other_wait then
    return wait < 0 or (other_wait >= 0 and wait > other_wait)
  end
  return one.figures.remaining < other.figures.remaining
end

-- HTTP headers, names and values alternating. With several limits, all policies are listed, and the other figures are
-- those of the strictest limit.
local function headers(requests, now)
  local strictest, policies = requests[1], {}
  for n, request in ipairs(requests) do
    policies[n] = policy_item(request, now)
    if is_stricter(request, strictest) then
      strictest = request
    end
  end
  local found = strictest.figures
  local texts = {
    'X-RateLimit-Limit',
    string.format('%.0f', found.limit),
    'X-RateLimit-Remaining',
    string.format('%.0f', found.remaining),
  }
  local function header(name, value)
    texts[#texts + 1] = name
    texts[#texts + 1] = value
  end
  if found.reset_ms >= 0 then
    header('X-RateLimit-Reset', string.format('%.0f', seconds_of(millis(now) + found.reset_ms)))
  end
  header('RateLimit-Policy', table.concat(policies, ', '))
  local more = found.next_ms >= 0 and ';t=' .. header_integer(seconds_of(found.next_ms)) or ''
  header('RateLimit', string.format('"%s";r=%s%s', strictest.name, header_integer(found.remaining), more))
  if not strictest.decided.allowed and found.retry_after_ms >= 0 then
    header('Retry-After', string.format('%.0f', seconds_of(found.retry_after_ms)))
  end
  return texts
end

-- The figures of FULL, names and values alternating. `charged` is the units that the call charges.
local function full(request, now, charged)
  local found, decided = request.figures, request.decided
  return {
    'allowed', first_integer(request),
    'count', decided.count,
    'ttl', decided.ttl,
    'limit', found.limit,
    'remaining', found.remaining,
    'retry_after_ms', found.retry_after_ms,
    'next_ms', found.next_ms,
    'reset_ms', found.reset_ms,
    'delay_ms', found.delay_ms,
    'now_ms', millis(now),
    'shadow', request.shadowed and 1 or 0,
    'charged', charged,
  }
end

-- The figures of FULL without their names, in one string.
local function line(request, now, charged)
  local pairs_of, figures_only = full(request, now, charged), {}
  for n = 2, #pairs_of, 2 do
    figures_only[#figures_only + 1] = string.format('%.0f', pairs_of[n])
  end
  return table.concat(figures_only, ' ')
end

-- The units that a decision charges. FIXED counts denials too, which is no charge.
local function charged_by(request)
  local decided = request.decided
  if request.open then
    return request.open.cost
  elseif decided.change == 'charge' and request.always then
    return request.decided_cost
  elseif decided.change ~= 'charge' or not decided.allowed or (request.shadowed and not request.partial) then
    return 0
  elseif request.algorithm.units_charged then
    return request.algorithm.units_charged(request.loaded)
  end
  return request.decided_cost
end

-- The reply of a command with one limit, which has charged `charged` units.
local function reply(request, now, charged)
  local decided = request.decided
  if not request.form then
    return { first_integer(request), decided.count, decided.ttl }
  end
  request.figures = figures(request, now)
  if request.form == 'FULL' then
    return full(request, now, charged)
  elseif request.form == 'LINE' then
    return line(request, now, charged)
  end
  return { first_integer(request), decided.count, decided.ttl, headers({ request }, now) }
end

-- Gives every policy of a call its own name: the second of a name becomes `name-2`, and so on.
local function make_names_unique(requests)
  local taken = {}
  for _, request in ipairs(requests) do
    local name, number = request.name, 2
    while taken[name] do
      name = string.format('%s-%d', request.name, number)
      number = number + 1
    end
    taken[name] = true
    request.name = name
  end
end

-- Commands ------------------------------------------------------------------------------------------------------------

local COMMANDS = {}

-- The key of a command with one key, if there are at least as many words.
local function only_key(keys, words, least)
  if #keys ~= 1 or left(words) < least then
    fail('ARITY')
  end
  return keys[1]
end

function COMMANDS.rl(keys, words)
  local key = only_key(keys, words, 3)
  local algorithm = select_algorithm(next_word(words))
  local request = parse_all(algorithm, key, words, ACCEPTED.CHECK)
  require_id(request)
  local now = clock()
  local state_key = key_of_state(request, now)
  load_and_decide(request, state_key, request.reserve and reservations().key_of(request), now)
  local answer = reply(request, now, charged_by(request))
  commit(request, now, true)
  return answer
end

function COMMANDS.rl_peek(keys, words)
  local key = only_key(keys, words, 3)
  local algorithm = select_algorithm(next_word(words))
  local request = parse_all(algorithm, key, words, ACCEPTED.PEEK)
  local now = clock()
  decide(request, load(request, key_of_state(request, now), now, 'read'), now)
  return reply(request, now, 0)
end

-- Commits a refund or a settlement, and replies as rl_peek does afterwards.
local function correct(request, loaded, change, state, now, charged)
  local answer
  if not request.algorithm.adds_members then
    -- The state afterwards is known, so the reply can be computed first. A record that is no longer needed is gone.
    local expires_at, after = nil, state_after(change, state, loaded.state)
    if after and request.algorithm.expiry_after then
      expires_at = request.algorithm.expiry_after(request.policy, loaded, change, state, now)
    end
    if expires_at and less(expires_at, millis(now)) then
      after = nil
    end
    decide(request, { key = loaded.key, state = after }, now)
    answer = reply(request, now, charged)
  end
  commit_change(request, loaded, change, state, now)
  if not answer then
    decide(request, load(request, loaded.key, now, 'read'), now)
    answer = reply(request, now, charged)
  end
  return answer
end

-- The request that a refund or a settlement corrects.
local function parse_correction(keys, words, arity, accepted)
  local key = only_key(keys, words, arity)
  local algorithm = select_algorithm(next_word(words))
  if algorithm.no_correction then
    fail(algorithm.no_correction)
  end
  return parse_all(algorithm, key, words, accepted)
end

function COMMANDS.rl_refund(keys, words)
  local request = parse_correction(keys, words, 3, ACCEPTED.REFUND)
  require_few_members(request.algorithm.adds_members and request.cost or 0, 'LOG_COST')
  local now = clock()
  local loaded = load(request, key_of_state(request, now), now, 'write')
  local change, state = request.algorithm.refund(request.policy, loaded, now, request.options.AT, request.cost)
  return correct(request, loaded, change, state, now, 0)
end

-- RESERVATION id ACTUAL m: an id that is not known changes nothing, so the call may be sent again.
local function settle_reservation(request, actual)
  local now = clock()
  local state_key = key_of_state(request, now)
  local book = reservations().load(reservations().key_of(request), request.options.RESERVATION, now)
  local loaded = load(request, state_key, now, 'write')
  request.book = book
  reservations().give_back(request, loaded, now)
  local charge = book.own
  local change, state, charged = 'keep', nil, 0
  if charge then
    change, state = request.algorithm.settle_reserved(request.policy, loaded, now, charge, actual)
    charged = actual
    book.own = nil
  end
  local answer = correct(request, loaded, change, state, now, charged)
  reservations().commit(book)
  return answer
end

function COMMANDS.rl_settle(keys, words)
  local request = parse_correction(keys, words, 3, ACCEPTED.SETTLEMENT)
  local algorithm = request.algorithm
  local reserved, actual = request.options.RESERVED, request.options.ACTUAL
  if actual and request.options.RESERVATION then
    return settle_reservation(request, actual)
  elseif not reserved or not actual then
    fail('SETTLEMENT')
  end
  local difference = math.abs(reserved - actual)
  require_few_members(algorithm.adds_members and difference or 0, 'LOG_DIFFERENCE')
  local now = clock()
  local loaded = load(request, key_of_state(request, now), now, 'write')
  local correction = actual < reserved and algorithm.refund or algorithm.overcharge
  local change, state = correction(request.policy, loaded, now, request.options.AT, difference)
  return correct(request, loaded, change, state, now, actual)
end

function COMMANDS.rl_reset(keys, words)
  local key = only_key(keys, words, 2)
  local algorithm = select_algorithm(next_word(words))
  local window = next_word(words)
  local options = parse_options(words, ACCEPTED.RESET, algorithm)
  if left(words) > 0 then
    local option = is_nearly(next_word(words):upper(), 'ANCHOR') and 'no such option, but there is ANCHOR t'
    fail_with('ERR syntax error: ' .. (option or 'after window comes ANCHOR t or nothing'))
  end
  -- The window selects the counter of FIXED. The limit has no influence.
  local request = { key = key, algorithm = algorithm, policy = parse_policy(algorithm, window, 0, options) }
  local now = clock()
  local hash = algorithm.takes.RESERVE and reservations().existing(request)
  local loaded = load(request, key_to_reset(request, now), now, 'delete')
  local exists = loaded.exists or loaded.state
  require_left_over(key, exists or hash)
  if exists then
    algorithm.commit(request.policy, loaded, 'delete', nil, now)
  end
  if hash then
    call('UNLINK', hash, hash .. ':ends')
  end
  return (exists or hash) and 1 or 0
end

-- `id [id ...]`: the rest of a call. The result has each id once.
local function parse_ids(words)
  if left(words) > 1000 then
    fail('TOO_MANY_IDS')
  end
  local ids, seen = {}, {}
  for n = words.at, #words.list do
    local id = parse_id(words.list[n]) or fail('IDS')
    if not seen[id] then
      seen[id] = true
      ids[#ids + 1] = id
    end
  end
  return #ids > 0 and ids or fail('ARITY')
end

function COMMANDS.rl_release(keys, words)
  local key = only_key(keys, words, 1)
  local ids = parse_ids(words)
  require_own_name(key)
  return select_algorithm('LEASE').release(key, ids, clock())
end

function COMMANDS.rl_renew(keys, words)
  local key = only_key(keys, words, 2)
  local algorithm = select_algorithm('LEASE')
  local window_ms = parse_window(next_word(words)) or fail('WINDOW')
  local ids = parse_ids(words)
  require_own_name(key)
  return algorithm.renew({ window_ms = window_ms, window = mul(window_ms, 1000), limit = 0 }, key, ids, clock())
end

-- Runs an action for one limit of a call. Its error gets the number of the limit, after the code.
local function of_limit(number, action)
  local done, result = pcall(action)
  if done then
    return result
  elseif type(result) == 'table' then
    fail_with((result.text:gsub(' ', string.format(' limit %d: ', number), 1)))
  end
  error(result, 0)
end

-- Several limits: if every one allows, all are charged; if one denies, none is.
function COMMANDS.rl_multi(keys, words)
  if left(words) < 3 then
    fail('ARITY')
  elseif #keys < 1 or #keys > 64 then
    fail('NUM_LIMITS')
  end
  local now = clock()
  local requests, state_keys, members = {}, {}, 0
  for number, key in ipairs(keys) do
    requests[number] = of_limit(number, function()
      local word = next_word(words) or fail('FEWER_LIMITS')
      if FORMS[word:upper()] then
        fail(left(words) == 0 and 'FEWER_LIMITS' or 'AFTER_FORM')
      end
      local algorithm = select_algorithm(word)
      if left(words) < 2 then
        fail('LIMIT_ARITY')
      end
      local request = parse_request(algorithm, key, words, ACCEPTED.LIMIT)
      require_id(request)
      request.state_key = key_of_state(request, now)
      request.hash = request.reserve and reservations().key_of(request)
      for _, written in ipairs({ request.state_key, request.hash }) do
        if state_keys[written] then
          fail('SAME_KEY')
        end
        state_keys[written] = true
      end
      return request
    end)
    members = members + most_members_added(requests[number])
  end
  local form
  while left(words) > 0 do
    local word = next_word(words):upper()
    if FORMS[word] then
      form = next_form(form, word)
    elseif form then
      fail('AFTER_FORM')
    elseif word == 'ROLLING' or BUILDERS[word] then
      fail('MORE_LIMITS')
    else
      of_limit(#requests, function()
        fail_with_usage(requests[#requests].algorithm, ACCEPTED.LIMIT, word)
      end)
    end
  end
  require_few_members(members, 'LOG_COST')

  local allowed = true
  for number, request in ipairs(requests) do
    of_limit(number, function()
      load_and_decide(request, request.state_key, request.hash, now)
    end)
    allowed = allowed and request.decided.allowed
  end
  local answers = {}
  for n, request in ipairs(requests) do
    local decided = request.decided
    if form then
      request.figures = figures(request, now)
    end
    local charged = allowed and charged_by(request) or 0
    if form == 'FULL' then
      answers[n] = full(request, now, charged)
    elseif form == 'LINE' then
      answers[n] = line(request, now, charged)
    else
      answers[n] = { decided.allowed and 1 or 0, decided.count, decided.ttl }
    end
  end
  make_names_unique(requests)
  local answer = { allowed and 1 or 0, answers, form == 'HEADERS' and headers(requests, now) or nil }
  for _, request in ipairs(requests) do
    commit(request, now, allowed)
  end
  return answer
end

-- Runs a command with its keys and the words from the index `first` on.
local function run(name, keys, list, first)
  if not MAX_COUNT then
    set_constants()
  end
  budget = { expired = MAX_EXPIRED, ended = MAX_ENDED, unordered = MAX_ENDED, moved = 2 * MAX_MOVED }
  local done, result = pcall(COMMANDS[name], keys, { list = list, at = first })
  if done then
    return result
  elseif type(result) == 'table' then
    return redis.error_reply(result.text)
  end
  -- A bug of this file.
  error(result, 0)
end

-- Forms ---------------------------------------------------------------------------------------------------------------

if redis.register_function then
  local function register(name, description, flag)
    redis.register_function({
      function_name = name,
      callback = function(keys, args)
        return run(name, keys, args, 1)
      end,
      description = description,
      flags = { flag },
    })
  end
  register('rl', 'Checks a request against a limit and charges it if allowed.')
  register('rl_multi', 'Checks a request against several limits and charges all of them, or none.')
  register('rl_peek', 'Replies what the reply to a request would be, and changes nothing.', 'no-writes')
  register('rl_settle', 'Corrects what a request was charged to what it turned out to cost.')
  -- At maxmemory the server runs functions that may need memory only if their flags allow it. These create no key.
  register('rl_refund', 'Gives back what a request was charged.', 'allow-oom')
  register('rl_reset', 'Deletes what was counted.', 'allow-oom')
  register('rl_release', 'Ends leases.', 'allow-oom')
  register('rl_renew', 'Renews leases that have not ended.', 'allow-oom')
  return
end

-- Redis before 7.0 may replicate a script instead of what it does, unless it is told.
if redis.replicate_commands then
  redis.replicate_commands()
end
if not COMMANDS[ARGV[1]] then
  return redis.error_reply(error_text('FUNCTION'))
end
return run(ARGV[1], KEYS, ARGV, 2)
