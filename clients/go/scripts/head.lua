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
-- The reply is {allowed, count, ttl}; with LINE, twelve figures in one string. docs/commands.md says what they are.
--
-- A request is a table `r` with its key, window (in milliseconds), limit, and the options by their words. An algorithm is a
-- table in `algorithms`, with these functions. A state is nil if the key does not exist.
--
--   prepare(r, window, word)          checks what the call names; not all have it
--   load(r)                           the state
--   decide(r, state, cost)            whether the cost is allowed, what is counted, a change, and the state after it
--   refund(r, state, at, cost)        gives units back: a change, and the state after it
--   overcharge(r, state, at, cost)    charges whatever the limit says: the same
--   figures(r, state, needed)         the largest cost that fits, and the milliseconds until `needed` units fit (if that is
--                                     not nil), until more fits and until everything does; −1 for never
--   commit(r, state, change, after)   writes the change, and extends the expiry where that is needed
--
-- A change is 'charge', 'rebase' (the state again, as of now), 'refund', 'delete', or nil for nothing. Nothing is written
-- before everything is decided, so an error changes nothing. Numbers are doubles: whole ones are exact up to 2^53.
--
-- The server runs this file in every call. To define a function takes it as long as some lines that run, and the more, the
-- more locals of the file the function uses. So functions of the libraries are named in full, and what few calls need is
-- only defined for those.

local algorithms = {}
local what = ARGV[1]
local is_line = ARGV[4] == 'LINE' and not ARGV[5]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2] -- in microseconds
local now_ms = (now - now % 1000) / 1000

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

-- Quotient and remainder of whole numbers; `up` rounds the quotient up. Exact below 2^53; above that, to 16 digits.
local function divide(a, b, up)
  local rest = a % b
  local quotient = (a - rest) / b
  if a >= 2 ^ 53 then
    rest = math.fmod(a, b)
    quotient = math.floor((a - rest) / b + 0.5)
  end
  return up and rest > 0 and quotient + 1 or quotient, rest
end

-- Words and decisions:

-- The milliseconds of a window (`60`, `500ms`, `10s`, `5m`, `1h` or `1d`); nil if the text is none.
local function milliseconds(text)
  local number, unit = string.match(text or '', '^([1-9]%d*)(%l*)$')
  local scale = (unit == '' or unit == 's') and 1000
    or unit == 'ms' and 1
    or unit == 'm' and 60000
    or unit == 'h' and 3600000
    or unit == 'd' and 86400000
  local ms = scale and number * scale
  return ms and ms <= 1e15 and ms or nil
end

-- The request of a call without options, as most are: CHECK window limit [LINE].
local plain
if what == 'CHECK' and (is_line or not ARGV[4]) and KEYS[1] and string.find(ARGV[3] or '', '^[1-9]%d*$') then
  local window, limit = milliseconds(ARGV[2]), ARGV[3] + 0
  if window and limit < 2 ^ 53 and not string.find(KEYS[1], ':reserved', 1, true) then
    plain = { key = KEYS[1], window = window, limit = limit }
  end
end
local may_correct = not plain and what ~= 'MULTI' -- whether the call may need `refund` and `overcharge`

-- The reply to a request that is decided. `charged`: the units that the call has charged, if it is not those of the change.
local function reply(algorithm, r, state, charged, allowed, count, change, after)
  local capacity, units, needed = r.BURST or r.limit, r.units or 1, nil
  if not allowed then
    needed = r.needed or units == 0 and 1 or units
  end
  -- FIXED and SLIDING reply `ttl` and `count` as their scripts do.
  local remaining, retry, next_ms, reset, ttl, count_after = algorithm.figures(r, not change and state or after, needed)
  if remaining >= capacity then
    next_ms, reset = 0, 0
  end
  if reset >= 2 ^ 63 then
    -- As the module says of a time that no integer holds: never.
    reset, next_ms = -1, next_ms < 2 ^ 63 and next_ms or -1
    retry = retry and retry < 2 ^ 63 and retry or -1
  end
  if not ttl then
    -- In seconds: until the whole limit is free or, on a denial, until the same request is allowed.
    local ms = allowed and reset or retry
    ttl = ms < 0 and -1 or (ms + 999 - (ms + 999) % 1000) / 1000
    ttl = ttl == 0 and not allowed and 1 or ttl
  end
  local first = allowed and 1 or 0
  if r.PARTIAL and allowed then
    first = r.shadowed and (r.COST or 1) or units
  end
  count = count_after or count
  if not is_line then
    return { first, count, ttl }
  elseif not charged then
    -- FIXED counts denials too, which is no charge.
    local charges = change == 'charge' and (r.ALWAYS or allowed and (not r.shadowed or r.PARTIAL))
    charged = charges and units or 0
  end
  -- To write a number takes long, so the most frequent reply has few.
  if first == 1 and charged == 1 and allowed and not r.delay and not r.shadowed then
    return string.format('1 %d %d %d %d 0 %d %d 0 %d 0 1', count, ttl, capacity, remaining, next_ms, reset, now_ms)
  end
  return string.format('%d %d %d %d %d %d %d %d %d %d %d %d', first, count, ttl, capacity, remaining, allowed and 0 or retry,
    next_ms, reset, r.delay or 0, now_ms, r.shadowed and 1 or 0, charged)
end

local request, decide, answer

if plain then
  function answer(algorithm, word, r)
    if algorithm.prepare then
      algorithm.prepare(r, nil, word)
    end
    local state = algorithm.load(r)
    local allowed, count, change, after = algorithm.decide(r, state, 1)
    local text = reply(algorithm, r, state, nil, allowed, count, change, after)
    if algorithm.commit then
      algorithm.commit(r, state, change, after)
    end
    return text
  end
else
  -- A whole number of at least `least`, in the form that Redis requires: no sign, no blanks, no leading zeros.
  local function parse(name, text, least)
    local n = text and (string.find(text, '^[1-9]%d*$') or text == '0') and text + 0
    if not n or n < least then
      fail('invalid ' .. name)
    elseif n >= 2 ^ 53 then
      fail('invalid ' .. name .. ': load the module for numbers above 9007199254740991')
    end
    return n
  end

  -- Reads the options from words[at] on into `r`. Returns the index of the first word that is none.
  local function options(algorithm, r, words, at)
    local word = words[at] and string.upper(words[at])
    if not word or algorithms[word] or word == 'LINE' and (what == 'MULTI' or what == 'SHARE') then
      return at
    elseif word == 'LINE' and what ~= 'RESET' then
      r.LINE = not r.LINE or fail('syntax error')
      is_line = true
      return options(algorithm, r, words, at + 1)
    end
    -- Which calls take an option, and whether that depends on the algorithm.
    local requests = 'CHECK PEEK MULTI SHARE '
    local takers = {
      COST = requests .. 'REFUND', PARTIAL = 'CHECK PEEK', ALWAYS = 'CHECK PEEK', ID = requests,
      BURST = requests .. 'REFUND SETTLE', ANCHOR = requests .. 'REFUND SETTLE RESET',
      BLOCK = requests .. 'REFUND', MAX = requests .. 'REFUND', SHADOW = requests .. 'any',
      RESERVED = 'SETTLE any', ACTUAL = 'SETTLE any', AT = 'REFUND SETTLE any',
      AS = '', FULL = '', HEADERS = '', RESERVE = '', RESERVATION = '',
    }
    local takes, value = takers[word], words[at + 1]
    if not takes then
      return at
    elseif takes == '' then
      fail('invalid ' .. word .. ': only the module has it')
    elseif not string.find(takes, what) or not string.find(takes, 'any') and not string.find(algorithm.takes, word) then
      fail('invalid ' .. word)
    elseif r[word] ~= nil then
      fail('syntax error')
    end
    if word == 'PARTIAL' or word == 'ALWAYS' or word == 'SHADOW' then
      value, at = true, at - 1
    elseif word == 'ID' then
      value = value and #value >= 1 and #value <= 512 and value
    elseif word == 'BLOCK' or word == 'MAX' then
      value = milliseconds(value)
    else
      value = parse(word, value, word == 'BURST' and 1 or 0)
    end
    r[word] = value or fail('invalid ' .. word)
    if r.PARTIAL and r.ALWAYS then
      fail('syntax error')
    end
    return options(algorithm, r, words, at + 2)
  end

  -- Reads `window limit [options]` from words[at] on. Returns the request, and the index of the word after it.
  function request(word, key, words, at)
    local algorithm, window = algorithms[word], words[at]
    local limit = words[1] == 'RESET' and '0' or words[at + 1]
    if not key or not window or not limit then
      fail('wrong number of arguments')
    end
    local r = { key = key, window = milliseconds(window), limit = nil, units = nil, starts = nil, ends = nil, expires_at = nil }
    at = options(algorithm, r, words, words[1] == 'RESET' and at + 1 or at + 2)
    r.limit = parse('limit', limit, 0)
    if not r.window and not algorithm.has_calendar then
      fail('invalid window')
    elseif algorithm.prepare then
      algorithm.prepare(r, window, word)
    end
    -- The module keeps its reservations in keys with these names.
    if string.find(key, ':reserved', 1, true) and (string.find(key, ':reserved$') or string.find(key, ':reserved:ends$')) then
      fail('invalid key')
    end
    return r, at
  end

  -- Decides on a request: whether it is allowed, what is counted, a change, and the state after it.
  function decide(algorithm, r, state)
    local cost = r.COST or 1
    if r.PARTIAL then
      -- If nothing fits, the cost is 0: that is denied, and counted nowhere.
      cost = math.min(cost, (algorithm.figures(r, state)))
    end
    r.units = cost
    local allowed, count, change, after = algorithm.decide(r, state, r.ALWAYS and 0 or cost)
    if r.ALWAYS then
      -- Charged whatever the limit says, and allowed if no more than the limit is counted then.
      r.units = r.lent or cost
      if r.units > 0 then
        change, after = algorithm.overcharge(r, state, nil, r.units)
      end
      local _, wait = algorithm.figures(r, not change and state or after, 0)
      allowed = r.limit > 0 and wait == 0
      r.needed = r.limit == 0 and cost == 0 and 1 or cost
    end
    if r.SHADOW then
      -- Allows what the limit denies. The change stays that of a denial.
      r.shadowed = not allowed or cost < (r.COST or 1)
      allowed = true
    end
    return allowed, count, change, after
  end

  -- What a call with one limit does, and its reply.
  function answer(algorithm, word)
    local key, words = KEYS[1], ARGV
    if algorithm[what] then
      return algorithm[what](key, words) -- RENEW and RELEASE
    elseif not ({ CHECK = 1, PEEK = 1, REFUND = 1, SETTLE = 1, RESET = 1 })[what] then
      fail('invalid command: expected CHECK, PEEK, REFUND, SETTLE or RESET first')
    elseif words[3] and (what == 'REFUND' and not algorithm.refund or what == 'SETTLE' and not algorithm.overcharge) then
      fail('invalid algorithm')
    end
    local r, at = request(word, key, words, 2)
    if words[at] or what == 'SETTLE' and not (r.RESERVED and r.ACTUAL) then
      fail('syntax error')
    end
    local state, charged = algorithm.load(r), 0
    local change, after
    if what == 'RESET' then
      return state and redis.call('UNLINK', r.key) and 1 or 0
    elseif what == 'REFUND' or what == 'SETTLE' then
      charged = r.ACTUAL or 0
      if what == 'REFUND' or r.ACTUAL < r.RESERVED then
        change, after = algorithm.refund(r, state, r.AT, what == 'REFUND' and (r.COST or 1) or r.RESERVED - r.ACTUAL)
      else
        change, after = algorithm.overcharge(r, state, r.AT, r.ACTUAL - r.RESERVED)
      end
      if change == 'delete' then
        redis.call('UNLINK', r.key)
      else
        algorithm.commit(r, state, change, after)
      end
      -- The reply is that of PEEK afterwards.
      state = algorithm.load(r)
    end
    local allowed, count
    allowed, count, change, after = decide(algorithm, r, state)
    local text = reply(algorithm, r, state, what ~= 'CHECK' and charged or nil, allowed, count, change, after)
    if what == 'CHECK' then
      algorithm.commit(r, state, change, after)
    end
    return text
  end
end

-- Runs an algorithm, by the word of the module's command, or what a call of several limits does. An error ends the call, as
-- the reply.
local function run(word, several)
  local done, result = pcall(several or answer, algorithms[word], word, plain)
  if done then
    return result
  end
  -- Servers before 7.0 raise errors of commands as texts.
  local text = type(result) == 'table' and result.err or string.find(result, '^%u+ ') and result or 'ERR ' .. result
  if algorithms.number then
    text = string.gsub(text, ' ', ' limit ' .. algorithms.number .. ': ', 1)
  end
  return redis.error_reply(text)
end

-- What several algorithms share: each takes what it needs:

-- The expiry of a key in milliseconds since the epoch; nil if it has none. Servers before 7.0 have no PEXPIRETIME, and do
-- not say which version they are.
local function expiry(key)
  if redis.REDIS_VERSION_NUM then
    local at = redis.call('PEXPIRETIME', key)
    return at >= 0 and at or nil
  end
  local left = redis.call('PTTL', key)
  return left >= 0 and now_ms + left or nil
end

local function shared(name, record, of_policy)
  -- FIXED and WINDOW: `load` and `commit` of a counter.
  if name == 'counter' then
    return function(r)
      local value = redis.call('GET', r.key)
      if value then
        local n = (string.find(value, '^%-?[1-9]%d*$') or value == '0') and value + 0
        if not n or n > 2 ^ 63 or n < -2 ^ 63 then
          fail('value is not an integer or out of range', value)
        end
        return { value = n, expires_at = expiry(r.key) }
      end
    end, function(r, before, change, after)
      if change then
        local more = after.value - (before and before.value or 0)
        if more ~= 0 then
          redis.call('INCRBY', r.key, more == 1 and '1' or string.format('%d', more))
        end
        if not before or after.expires_at ~= before.expires_at then
          redis.call('PEXPIREAT', r.key, string.format('%d', after.expires_at))
        end
      end
    end
  end

  -- TOKEN, LEAKY, COUNTER and GCRA: `commit` of a record. It writes the text that `record` makes of a state, and until when
  -- that is needed. A record may expire up to 5 seconds later, so that a busy key does not get a new expiry with each
  -- request. Where the time depends on arguments that are not stored (`of_policy`), a denied request extends the expiry, and
  -- a write keeps a later one, which another call needs.
  if name == 'record' then
    return function(r, before, change, after)
      local key, held = r.key, nil
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
          redis.call('SET', key, text, 'PXAT', at < 2 ^ 63 and string.format('%d', math.max(1, at)) or '9223372036854775807')
        else
          redis.call('SET', key, text, 'KEEPTTL')
        end
      elseif held then
        local _, needed = record(r, before)
        if held < needed then
          redis.call('PEXPIREAT', key, needed < 2 ^ 62 and string.format('%d', needed + 5000) or '9223372036854775807')
        end
      end
    end
  end

  -- SLIDING and LEASE. The score of the member of a rank, from the end if it is negative; nil if there is none.
  local function score(key, rank)
    local found = redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]
    return found and found + 0
  end

  -- How many members count, how many do not and are still there, and the score of the oldest; nil without a key. Members
  -- with scores from `lowest` to `through` do not count, and are removed, lowest first.
  return function(key, lowest, through)
    local oldest = score(key, '0')
    if not oldest then
      return nil
    end
    local members, gone = redis.call('ZCARD', key), 0
    if through >= 0 and oldest <= through then
      -- How many that no longer count a call may remove at most.
      local removable = algorithms.removable or 4000
      local most, last = (ARGV[1] == 'PEEK' or ARGV[1] == 'RESET') and 0 or removable, string.format('%d', through)
      if members <= most then
        local removed = redis.call('ZREMRANGEBYSCORE', key, lowest, last)
        members, algorithms.removable = members - removed, most - removed
      else
        gone = redis.call('ZCOUNT', key, lowest, last)
        local removed = math.min(gone, most)
        if removed > 0 then
          local first = lowest == '0' and redis.call('ZCOUNT', key, '-inf', '(0') or 0
          redis.call('ZREMRANGEBYRANK', key, string.format('%d', first), string.format('%d', first + removed - 1))
          members, gone, algorithms.removable = members - removed, gone - removed, most - removed
        end
      end
      oldest = score(key, '0')
    end
    return members - gone, gone, oldest
  end, score
end
