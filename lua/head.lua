-- The beginning of every script: what the words of a call mean, the server's time, and the reply.
--
-- A script is this file, one algorithm, and a line that runs it:
--
--   (cat lua/head.lua lua/bucket.lua; echo "return run('TOKEN')") | redis-cli -x SCRIPT LOAD
--   redis-cli EVALSHA <the reply> 1 user:42 CHECK 1m 60 COST 2 LINE
--
-- The first word says what is done. The others are those of the module's commands, without the key:
--
--   CHECK window limit [options] [LINE]     charges the request if the limit allows it
--   PEEK window limit [options] [LINE]      replies what CHECK would reply, and changes nothing
--   REFUND window limit [options] [LINE]    gives units back
--   SETTLE window limit RESERVED n ACTUAL m [options] [LINE]   corrects a charge of n to m
--   RESET window [ANCHOR t]                 forgets what is counted; replies 1 if anything was
--
-- The reply is {allowed, count, ttl}; with LINE, twelve figures in one string. docs/lua.md says what they are.
--
-- A request is a table `r`: see `request`. An algorithm is a table in `algorithms`, with these functions:
--
--   prepare(r, window)         checks what the call names; not all have it
--   load(r)                    reads the key into r.state, which is nil if there is nothing
--   decide(r, cost)            whether the cost is allowed, what is counted, a change, and the state after it
--   refund(r, at, cost)        gives units back: a change, and the state after it
--   overcharge(r, at, cost)    charges whatever the limit says: the same
--   forecast(r, state)         the largest cost that fits; `wait` is then about this state
--   wait(r, cost)              the milliseconds until a cost fits; nil for never
--   commit(r, change, after)   writes the change, and extends the expiry where that is needed
--
-- A change is 'charge', 'rebase' (the state again, as of now), 'refund', 'delete', or nil for nothing. Nothing is written
-- before everything is decided, so an error changes nothing. Numbers are doubles: whole ones are exact up to 2^53.
--
-- The server runs this file in every call, and to define a function takes it as long as a few lines that run. So what few
-- calls need is only defined for those.

local call, find, format, match = redis.call, string.find, string.format, string.match

local what = ARGV[1]
local time = call('TIME')
local now = time[1] * 1000000 + time[2] -- in microseconds
local now_ms = (now - now % 1000) / 1000

local algorithms = {}
local is_line = ARGV[4] == 'LINE' and not ARGV[5]
local is_plain = what == 'CHECK' and (is_line or not ARGV[4]) -- a call without options
local limit_number -- in a call with several limits: the one that an error is about

-- Ends the call with an error. `value`: what the key holds, and this algorithm, whose records begin with `letter`, did not
-- write. The first letter says which one did.
local function fail(text, value, letter)
  local writers = { C = 'COUNTER', T = 'TOKEN', L = 'LEAKY', R = 'ROLLING', O = 'LOCKOUT' }
  local wrote = value and string.match(value, '^(%u):')
  if writers[wrote] and wrote ~= letter then
    text = 'the key holds a state of ' .. writers[wrote] .. ': use another key for each algorithm'
  end
  error({ err = 'ERR ' .. (text or 'the key holds a value that this algorithm did not write') }, 0)
end

-- Quotient and remainder of whole numbers. Exact below 2^53; above that, to 16 digits.
local function divide(a, b)
  if a < 2 ^ 53 then
    local rest = a % b
    return (a - rest) / b, rest
  end
  local rest = math.fmod(a, b)
  return math.floor((a - rest) / b + 0.5), rest
end

local function divide_up(a, b)
  local quotient, rest = divide(a, b)
  return rest > 0 and quotient + 1 or quotient
end

-- The expiry of a key in milliseconds since the epoch; nil if it has none. Servers before 7.0 have no PEXPIRETIME, and do
-- not say which version they are.
local function expiry(key)
  if redis.REDIS_VERSION_NUM then
    local at = call('PEXPIRETIME', key)
    return at >= 0 and at or nil
  end
  local left = call('PTTL', key)
  return left >= 0 and now_ms + left or nil
end

-- Words ----------------------------------------------------------------------------------------------------------------

-- A whole number of at least `least`, in the form that Redis requires: no sign, no blanks, no leading zeros.
local function integer(name, text, least)
  local n = text and (find(text, '^[1-9]%d*$') or text == '0') and text + 0
  if not n or n < least then
    fail('invalid ' .. name)
  elseif n >= 2 ^ 53 then
    fail('invalid ' .. name .. ': load the module for numbers above 9007199254740991')
  end
  return n
end

-- A window in milliseconds, from `60`, `500ms`, `10s`, `5m`, `1h` or `1d`; nil if the text is none.
local function span(text)
  local number, unit = match(text or '', '^([1-9]%d*)(%l*)$')
  local scale = (unit == '' or unit == 's') and 1000
    or unit == 'ms' and 1
    or unit == 'm' and 60000
    or unit == 'h' and 3600000
    or unit == 'd' and 86400000
  local ms = scale and number * scale
  return ms and ms <= 1e15 and ms or nil
end

-- Reads the options from words[at] on into `r`. Returns the index of the first word that is none.
local options
if not is_plain then
  options = function(r, words, at)
    local word = words[at] and string.upper(words[at])
    if word == 'LINE' and what ~= 'MULTI' and what ~= 'RESET' then
      r.LINE = not r.LINE or fail('syntax error')
      is_line = true
      return options(r, words, at + 1)
    end
    -- Which calls take an option, and whether that depends on the algorithm.
    local of_requests = 'CHECK PEEK MULTI '
    local takers = {
      COST = of_requests .. 'REFUND', PARTIAL = 'CHECK PEEK', ALWAYS = 'CHECK PEEK', ID = of_requests,
      BURST = of_requests .. 'REFUND SETTLE', ANCHOR = of_requests .. 'REFUND SETTLE RESET',
      BLOCK = of_requests .. 'REFUND', MAX = of_requests .. 'REFUND', SHADOW = of_requests .. 'any',
      RESERVED = 'SETTLE any', ACTUAL = 'SETTLE any', AT = 'REFUND SETTLE any',
      AS = '', FULL = '', HEADERS = '', RESERVE = '', RESERVATION = '',
    }
    local takes, value = takers[word], words[at + 1]
    if not takes then
      return at
    elseif takes == '' then
      fail('invalid ' .. word .. ': only the module has it')
    elseif not find(takes, what, 1, true) or not find(takes, 'any') and not find(r.algorithm.takes, word) then
      fail('invalid ' .. word)
    elseif r[word] ~= nil then
      fail('syntax error')
    end
    if word == 'PARTIAL' or word == 'ALWAYS' or word == 'SHADOW' then
      value, at = true, at - 1
    elseif word == 'ID' then
      value = value and #value >= 1 and #value <= 512 and value
    elseif word == 'BLOCK' or word == 'MAX' then
      value = span(value)
    else
      value = integer(word, value, word == 'BURST' and 1 or 0)
    end
    r[word] = value or fail('invalid ' .. word)
    if r.PARTIAL and r.ALWAYS then
      fail('syntax error')
    end
    return options(r, words, at + 2)
  end
end

-- Reads `window limit [options]` from words[at] on. Returns the request, and the index of the word after it.
local function request(word, key, words, at)
  local algorithm = algorithms[word]
  local r = { algorithm = algorithm, word = word, key = key, window = 0, limit = 0, COST = nil,
    state = nil, allowed = false, count = 0, change = nil, after = nil }
  local window, limit = words[at], what == 'RESET' and '0' or words[at + 1]
  if not key or not window or not limit then
    fail('wrong number of arguments')
  end
  at = what == 'RESET' and at + 1 or at + 2
  if not is_plain then
    at = options(r, words, at)
  end
  r.limit, r.window = integer('limit', limit, 0), span(window)
  if not r.window and word ~= 'FIXED' then
    fail('invalid window')
  elseif algorithm.prepare then
    algorithm.prepare(r, window)
  end
  -- The module keeps its reservations in keys with these names.
  if find(key, ':reserved', 1, true) and (find(key, ':reserved$') or find(key, ':reserved:ends$')) then
    fail('invalid key')
  end
  return r, at
end

-- Decisions ------------------------------------------------------------------------------------------------------------

-- Decides on a request whose state is loaded.
local function decide(r)
  local algorithm, cost = r.algorithm, r.COST or 1
  if is_plain then
    r.allowed, r.count, r.change, r.after = algorithm.decide(r, 1)
    return
  elseif r.PARTIAL then
    -- If nothing fits, the cost is 0: that is denied, and counted nowhere.
    cost = math.min(cost, algorithm.forecast(r, r.state))
  end
  r.units = cost
  r.allowed, r.count, r.change, r.after = algorithm.decide(r, r.ALWAYS and 0 or cost)
  if r.ALWAYS then
    -- Charged whatever the limit says, and allowed if no more than the limit is counted then.
    if cost > 0 then
      r.change, r.after = algorithm.overcharge(r, nil, cost)
    end
    algorithm.forecast(r, r.change and r.after or r.state)
    r.allowed = r.limit > 0 and algorithm.wait(r, 0) == 0
    r.needed = r.limit == 0 and cost == 0 and 1 or cost
  end
  if r.SHADOW then
    -- Allows what the limit denies. The change stays that of a denial.
    r.shadowed = not r.allowed or cost < (r.COST or 1)
    r.allowed = true
  end
end

-- The reply to a request that is decided. `charged`: the units that the call has charged, if it is not those of the change.
local function reply(r, charged)
  local algorithm, capacity, allowed, state = r.algorithm, r.BURST or r.limit, r.allowed, r.state
  local units, retry, next_ms, reset = r.units or r.COST or 1, 0, 0, 0
  if r.change then
    state = r.after
  end
  local wait, remaining = algorithm.wait, algorithm.forecast(r, state)
  if not allowed then
    retry = wait(r, r.needed or units == 0 and 1 or units) or -1
  end
  if remaining < capacity then
    next_ms = wait(r, remaining + 1) or -1
    reset = remaining + 1 == capacity and next_ms or wait(r, capacity) or -1
  end
  local first, ttl = allowed and 1 or 0, r.ttl
  if not ttl then
    -- In seconds: until the whole limit is free or, on a denial, until the same request is allowed.
    local ms = allowed and reset or retry
    ttl = ms < 0 and -1 or (ms + 999 - (ms + 999) % 1000) / 1000
    ttl = ttl == 0 and not allowed and 1 or ttl
  end
  if r.PARTIAL and allowed then
    first = r.shadowed and (r.COST or 1) or units
  end
  if not is_line then
    return { first, r.count, ttl }
  elseif not charged then
    -- FIXED counts denials too, which is no charge.
    local charges = r.change == 'charge' and (r.ALWAYS or allowed and (not r.shadowed or r.PARTIAL))
    charged = charges and units or 0
  end
  -- Most figures of most replies are 0 or 1, and to write a number takes time.
  local figures
  if allowed and not r.delay then
    figures = format(' %d %d %d %d 0 %d %d 0 %d ', r.count, ttl, capacity, remaining, next_ms, reset, now_ms)
  else
    figures = format(' %d %d %d %d %d %d %d %d %d ', r.count, ttl, capacity, remaining, retry, next_ms, reset, r.delay or 0, now_ms)
  end
  return (first == 1 and '1' or format('%d', first)) .. figures .. (r.shadowed and '1 ' or '0 ')
    .. (charged == 1 and '1' or format('%d', charged))
end

-- What a call with one limit does, and its reply.
local function answer(word, key, words)
  local algorithm = algorithms[word]
  if algorithm[what] then
    return algorithm[what](key, words) -- RENEW, RELEASE and MULTI
  elseif not is_plain and not find(' CHECK PEEK REFUND SETTLE RESET ', ' ' .. (what or '') .. ' ', 1, true) then
    fail('invalid command: expected CHECK, PEEK, REFUND, SETTLE or RESET first')
  elseif words[3] and (what == 'REFUND' and not algorithm.refund or what == 'SETTLE' and not algorithm.overcharge) then
    fail('invalid algorithm')
  end
  local r, at = request(word, key, words, 2)
  if words[at] and not is_plain then
    fail('syntax error')
  elseif what == 'CHECK' then
    algorithm.load(r)
    decide(r)
    local text = reply(r)
    algorithm.commit(r, r.change, r.after)
    return text
  end
  local charged = 0
  if what == 'SETTLE' and not (r.RESERVED and r.ACTUAL) then
    fail('syntax error')
  end
  algorithm.load(r)
  if what == 'RESET' then
    return r.state and call('UNLINK', r.key) and 1 or 0
  elseif what ~= 'PEEK' then
    if what == 'REFUND' then
      r.change, r.after = algorithm.refund(r, r.AT, r.COST or 1)
    elseif r.ACTUAL < r.RESERVED then
      r.change, r.after = algorithm.refund(r, r.AT, r.RESERVED - r.ACTUAL)
    else
      r.change, r.after = algorithm.overcharge(r, r.AT, r.ACTUAL - r.RESERVED)
    end
    if r.change == 'delete' then
      call('UNLINK', r.key)
    else
      algorithm.commit(r, r.change, r.after)
    end
    -- The reply is that of PEEK afterwards.
    charged = what == 'SETTLE' and r.ACTUAL or 0
    algorithm.load(r)
  end
  decide(r)
  return reply(r, charged)
end

-- Runs an algorithm, by the word of the module's command. An error ends the call, as the reply.
local function run(word)
  local done, result = pcall(answer, word, KEYS[1], ARGV)
  if done then
    return result
  end
  -- Servers before 7.0 raise errors of commands as texts.
  local text = type(result) == 'table' and result.err or find(result, '^%u+ ') and result or 'ERR ' .. result
  if limit_number then
    text = string.gsub(text, ' ', ' limit ' .. limit_number .. ': ', 1)
  end
  return redis.error_reply(text)
end

-- What several algorithms share: each is defined by those that need it -------------------------------------------------

-- The counter of FIXED and WINDOW: returns `load` and `commit`.
local function counters()
  local function load(r)
    local value = call('GET', r.key)
    r.state = nil
    if value then
      local n = (find(value, '^%-?[1-9]%d*$') or value == '0') and value + 0
      if not n or n > 2 ^ 63 or n < -2 ^ 63 then
        fail('value is not an integer or out of range', value)
      end
      r.state = { value = n, expires_at = expiry(r.key) }
    end
  end

  local function commit(r, change, after)
    if change then
      local before = r.state
      local more = after.value - (before and before.value or 0)
      if more ~= 0 then
        call('INCRBY', r.key, more == 1 and '1' or format('%d', more))
      end
      if not before or after.expires_at ~= before.expires_at then
        call('PEXPIREAT', r.key, format('%d', after.expires_at))
      end
    end
  end
  return load, commit
end

-- The records of TOKEN, LEAKY, COUNTER and GCRA: returns `commit`. It writes the text that `record` makes of a state, and
-- until when that is needed. A record may expire up to 5 seconds later, so that a busy key does not get a new expiry with
-- each request. Where the time depends on arguments that are not stored (`of_policy`), a denied request extends the expiry,
-- and a write keeps a later one, which another call needs.
local function records(record, of_policy)
  return function(r, change, after)
    local key, before, held = r.key, r.state, nil
    if before and (change or of_policy) then
      held = expiry(key)
    end
    if change then
      local text, needed = record(r, after)
      local at = needed + 5000
      if held and change == 'rebase' and of_policy then
        -- Every expiry moves back with the state.
        local _, needed_before = record(r, before)
        at = math.max(needed, held - math.max(0, needed_before - needed))
        at = at ~= held and at
      elseif held and held >= needed then
        if held <= at then
          at = nil
        elseif of_policy then
          local _, needed_before = record(r, before)
          at = held <= needed_before + 5000 and at
        end
      end
      if at then
        call('SET', key, text, 'PXAT', format('%d', math.max(1, at)))
      else
        call('SET', key, text, 'KEEPTTL')
      end
    elseif held then
      local _, needed = record(r, before)
      if held < needed then
        call('PEXPIREAT', key, format('%d', needed + 5000))
      end
    end
  end
end

local removable = 4000 -- how many members that no longer count a call may remove; it leaves the rest to later calls

-- The sorted sets of SLIDING and LEASE: returns `load_set` and `score`.
local function sets()
  -- The score of the member of a rank, from the end if it is negative; nil if there is none.
  local function score(key, rank)
    local found = call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]
    return found and found + 0
  end

  -- How many members count, how many do not and are still there, and the score of the oldest; nil without a key. Members
  -- with scores from `lowest` to `through` do not count, and are removed, lowest first.
  local function load_set(key, lowest, through)
    local oldest = score(key, '0')
    if not oldest then
      return nil
    end
    local members, gone = call('ZCARD', key), 0
    if through >= 0 and oldest <= through then
      local most, last = (what == 'PEEK' or what == 'RESET') and 0 or removable, format('%d', through)
      if members <= most then
        local removed = call('ZREMRANGEBYSCORE', key, lowest, last)
        members, removable = members - removed, most - removed
      else
        gone = call('ZCOUNT', key, lowest, last)
        local removed = math.min(gone, most)
        if removed > 0 then
          local first = lowest == '0' and call('ZCOUNT', key, '-inf', '(0') or 0
          call('ZREMRANGEBYRANK', key, format('%d', first), format('%d', first + removed - 1))
          members, gone, removable = members - removed, gone - removed, most - removed
        end
      end
      oldest = score(key, '0')
    end
    return members - gone, gone, oldest
  end
  return load_set, score
end
