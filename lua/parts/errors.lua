--@cold
-- Errors. Each has the text of the module's.

local errors = {}
errors.ARITY = 'ERR wrong number of arguments'
errors.FOREIGN_VALUE = 'ERR the key holds a value that this algorithm did not write'
errors.NOT_A_COUNTER = 'ERR value is not an integer or out of range'
errors.WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
  .. '10^12 seconds'
errors.CALENDAR_WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
  .. 'd, up to 10^12 seconds; or day, week, month or year'
errors.ANCHOR = 'ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
errors.AS = 'ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
errors.ID = 'ERR invalid ID: expected 1 to 512 bytes'
errors.IDS = 'ERR invalid id: expected 1 to 512 bytes'
errors.TOO_MANY_IDS = 'ERR invalid id: expected at most 1000 ids a call'
errors.AT = 'ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
errors.PARTIAL_AND_ALWAYS = 'ERR syntax error: PARTIAL and ALWAYS exclude each other'
errors.ID_MISSING = 'ERR syntax error: LEASE needs ID id, the holder of the lease'
errors.LEASE_CORRECTION = 'ERR invalid algorithm: a lease has no cost to correct; RL.RELEASE ends it'
errors.NO_SETTLEMENT = 'ERR invalid algorithm: it is charged before anything is known, so RL.SETTLE has nothing to '
  .. 'correct; RL.REFUND gives back'
errors.MAX_BELOW_BLOCK = 'ERR invalid MAX: expected at least BLOCK, which is the window if not given'
errors.FORM_TWICE = 'ERR syntax error: FULL, LINE or HEADERS comes at most once'
errors.TWO_FORMS = 'ERR syntax error: FULL, LINE and HEADERS exclude each other'
errors.AFTER_FORM = 'ERR syntax error: FULL, LINE or HEADERS comes last'
errors.RESERVE = 'ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
  .. 'with a unit ms, s, m, h or d, up to 10^12 seconds'
errors.RESERVATION = 'ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
errors.RESERVE_AND_ALWAYS = 'ERR syntax error: RESERVE and ALWAYS exclude each other'
errors.RESERVATION_AND_RESERVED = 'ERR syntax error: RESERVED and RESERVATION exclude each other'
errors.RESERVATION_AND_AT = 'ERR syntax error: RESERVATION and AT exclude each other'
errors.FOREIGN_RESERVATION = 'ERR the hash of the reservations holds a value that the module did not write'
errors.SETTLEMENT = 'ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
errors.RESET_WORDS = 'ERR syntax error: after window comes ANCHOR t or nothing'
errors.NO_SUCH_OPTION = 'ERR syntax error: no such option, but there is ANCHOR t'
errors.NUM_LIMITS = 'ERR invalid numlimits: expected an integer from 1 to 64'
errors.FEWER_LIMITS = 'ERR invalid numlimits: fewer limits follow than it says'
errors.LIMIT_ARITY = 'ERR syntax error: expected the word of an algorithm, a key, a window and a limit'
errors.RESERVED_KEY = 'ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
  .. 'reservations'
errors.SAME_KEY = 'ERR invalid key: two limits would keep their state in one key; give each its own key'
errors.SPAN = 'ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
errors.LOG_COST = 'ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
  .. 'COUNTER, TOKEN, LEAKY or GCRA for more'
errors.LOG_DIFFERENCE = 'ERR invalid ACTUAL: RL.SLIDING is corrected by at most 1000 units a call; use ROLLING, '
  .. 'COUNTER, TOKEN, LEAKY or GCRA for more'
errors.OVERFLOW = 'ERR increment or decrement would overflow'
errors.ALGORITHM = 'ERR invalid algorithm: expected one of ' .. ENUMERATED
-- The module has no such errors.
errors.KEYS = 'ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
errors.INEXACT_STATE = 'ERR the key holds a number above 9007199254740991, which needs the module'
errors.INEXACT_REPLY = 'ERR the reply has a number above 9007199254740991, which needs the module'

-- Ends the call with an error reply, as an error of `redis.call` does.
local function fail_with(text)
  error({ err = text }, 0)
end

local function fail(name)
  fail_with(errors[name])
end

-- The error for a STRING that this algorithm did not write. Names the one that did, where that can be told.
local function fail_with_foreign_value(text, word, otherwise)
  local writers = WRITERS
  local writer = writers[match(text, '^(%u):')]
  if not writer or writer == word then
    fail(otherwise)
  end
  fail_with('ERR the key holds a state of ' .. writer .. ': use another key for each algorithm')
end

-- The reply for an error that has ended a call. Servers before 7.0 raise errors of commands as texts.
local function error_reply(raised)
  if type(raised) == 'table' then
    return raised
  elseif find(raised, '^%u+ ') then
    return redis.error_reply(raised)
  end
  -- A bug of the library.
  error(raised, 0)
end
