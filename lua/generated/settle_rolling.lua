-- RL.SETTLE ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local COLD, cold
local find, format, match, part_of = string.find, string.format, string.match, string.sub
local function parse_request(words, at, accepted)
local window, limit, option = words[at], words[at + 1], words[at + 2]
if not limit then
cold().fail('ARITY')
end
local r = {
key = '',
now = 0,
now_ms = 0,
window_ms = 0,
window = 0,
limit = 0,
capacity = 0,
cost = 1,
form = nil,
delay = 0,
state = nil,
after = nil,
allowed = false,
count = 0,
ttl = 0,
change = 'keep',
remaining = 0,
decided_cost = 1,
}
at = at + 2
if option == 'LINE' and not words[at + 1] and accepted ~= ' COST BURST ANCHOR ID AS SHADOW RESERVE ' then
r.form, at = option, at + 1
elseif option then
local value = words[at + 1] or ''
local is_short = accepted == ' form COST PARTIAL ALWAYS BURST ANCHOR ID AS SHADOW RESERVE ' and words[at + 2] == 'LINE' and not words[at + 3] and #value < 16
if is_short and option == 'COST' and (' COST PARTIAL ALWAYS RESERVE RESERVATION ') ~= ' ID ' and find(value, '^[1-9]%d*$') then
r.form, r.cost, at = 'LINE', value + 0, at + 3
elseif is_short and option == 'ID' and (' COST PARTIAL ALWAYS RESERVE RESERVATION ') == ' ID ' and value ~= '' then
r.form, r.ID, at = 'LINE', value, at + 3
else
at = cold().parse_options(r, words, at, accepted)
r.cost = r.COST or 1
end
end
local is_plain = #limit < 16 and find(limit, '^[1-9]%d*$')
r.limit = is_plain and limit + 0 or cold().parse_count('limit', limit, 0)
is_plain = #window < 10 and find(window, '^[1-9]%d*$')
local window_ms = is_plain and window * 1000 or cold().window_of(r, window)
r.window_ms, r.window, r.capacity = window_ms, window_ms < 9e12 and window_ms * 1000 or cold().mul_large(window_ms, 1000), r.BURST or r.limit
return r, at
end
local function parse_all(words, accepted)
local r, at = parse_request(words, 1, accepted)
if words[at] then
cold().fail_with_usage(r, accepted, words[at])
end
return r
end
local function parse_correction(words, accepted)
if not words[1 + 1] then
cold().fail('ARITY')
end
return parse_all(words, accepted)
end
local call = redis.call
local function read_clock(r)
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
r.now, r.now_ms = now, (now - now % 1000) / 1000
end
local function take_keys(r, keys, at, with_book, is_reset)
local key = keys[at]
if not key then
cold().fail('KEYS')
end
r.key, at = key, at + 1
if is_reset then
r.name = key
elseif find(key, ':reserved', 1, true) then
cold().require_other_name(key)
end
if with_book then
at = r.wrong_clock and at + 2 or cold().take_book(r, keys, at, key)
end
return at
end
local function place(r, keys, with_book, is_reset)
read_clock(r)
if #keys ~= take_keys(r, keys, 1, with_book, is_reset) - 1 then
cold().fail('KEYS')
end
end
local byte_of, char_of = string.byte, string.char
local function ms_at(text, n)
local a, b, c, d, e, f, g = byte_of(text, 15 * n + 3, 15 * n + 9)
if g >= 32 then
cold().fail('INEXACT_STATE')
end
return a + 256 * (b + 256 * (c + 256 * (d + 256 * (e + 256 * (f + 256 * g)))))
end
local function count_through(text, len, ms)
if len == 0 or ms_at(text, len - 1) <= ms then
return len
end
local base, size = 0, len
while size > 1 do
local half = (size - size % 2) / 2
if ms_at(text, base + half) <= ms then
base = base + half
end
size = size - half
end
return ms_at(text, base) <= ms and base + 1 or base
end
local function halves_of(units)
local lo = units % (2 ^ 32)
return (units - lo) / (2 ^ 32), lo
end
local function total_at(text, n)
local a, b, c, d, e, f, g, h = byte_of(text, 15 * n + 10, 15 * n + 17)
return e + 256 * (f + 256 * (g + 256 * h)), a + 256 * (b + 256 * (c + 256 * d))
end
local function sum_of(hi, lo, other_hi, other_lo)
hi, lo = hi + other_hi, lo + other_lo
if lo >= (2 ^ 32) then
hi, lo = hi + 1, lo - (2 ^ 32)
end
return hi % (2 ^ 32), lo, hi >= (2 ^ 32)
end
local function divide(a, b)
if a - a == 0 and b - b == 0 then
local rest = a % b
return (a - rest) / b, rest
end
return cold().divide_large(a, b)
end
local function mul(a, b)
if a - a == 0 and b - b == 0 and a * b < (2 ^ 53) then
return a * b
end
return cold().mul_large(a, b)
end
local function same_moment(r, a, b)
local window_ms = r.window_ms
if a == b then
return true
elseif window_ms <= 4096 or math.abs(a - b) >= window_ms / 4096 + 1 then
return false
end
return (divide(mul(a, 4096), window_ms)) == (divide(mul(b, 4096), window_ms))
end
local function edited(log, kept, entry, rest, overflows)
local text, before, first = log.text, log.len, log.first
local len, offset = kept + (before - rest) + 1, 15 * kept + 2
local after = { text = part_of(text, 1, offset) .. entry, len = len, first = first, hi = log.hi, lo = log.lo }
after.write, after.offset, after.bytes = 'SETRANGE', offset, entry
if rest < before then
after.bytes = entry .. part_of(text, 15 * rest + 3)
after.text = part_of(text, 1, offset) .. after.bytes
elseif kept == before then
after.write = 'APPEND'
end
if before == 0 or (first > 0 and first * 2 >= before) or overflows or len < before or len > 8192 then
after.write = 'SET'
end
return after
end
local function bytes_of(ms, hi, lo)
local a, b = ms % 16777216, hi % 65536
local c, d = lo % 65536, (ms - ms % 16777216) / 16777216
local e, f, g = (hi - b) / 65536, (lo - c) / 65536, d % 65536
return char_of(
a % 256, (a - a % 256) / 256 % 256, (a - a % 65536) / 65536,
g % 256, (g - g % 256) / 256, (d - g) / 65536 % 256, (d - d % 16777216) / 16777216,
c % 256, (c - c % 256) / 256, f % 256, (f - f % 256) / 256,
b % 256, (b - b % 256) / 256, e % 256, (e - e % 256) / 256
)
end
local function charged(r, log, at, units)
local text, len = log.text, log.len
local index = count_through(text, len, at)
local hi, lo = halves_of(units)
local total_hi, total_lo, overflows, kept = log.hi, log.lo, false, len
if len > 0 then
local last_hi, last_lo = total_at(text, len - 1)
total_hi, total_lo, overflows = sum_of(last_hi, last_lo, hi, lo)
if index < len then
return cold().charged_before(r, log, index, at, hi, lo, overflows)
elseif len > log.first then
kept = same_moment(r, ms_at(text, len - 1), at) and len - 1 or len
else
total_hi, total_lo = sum_of(log.hi, log.lo, hi, lo)
end
else
total_hi, total_lo = hi, lo
end
return edited(log, kept, bytes_of(at, total_hi, total_lo), len, overflows)
end
local function read(r, text)
local len = (#text - 2) / 15
if part_of(text, 1, 2) ~= 'R:' or len % 1 ~= 0 or len < 1 or len > 8192 then
return nil
end
local expired, first, hi, lo = r.now_ms - r.window_ms, 0, 0, 0
if expired >= 0 and ms_at(text, 0) <= expired then
first = count_through(text, len, expired)
hi, lo = total_at(text, first - 1)
local last_hi, last_lo = total_at(text, len - 1)
if last_hi < hi or (last_hi == hi and last_lo < lo) then
return nil
end
end
return { text = text, len = len, first = first, hi = hi, lo = lo }
end
local function load(r)
local text = call('GET', r.key)
if text then
r.state = read(r, text) or cold().fail_with_foreign_value(text, 'ROLLING', 'FOREIGN_VALUE')
end
end
local function state_after(change, after, before)
if change == 'keep' then
return before
end
return change ~= 'delete' and after or nil
end
local function less(a, b)
if a - a == 0 and b - b == 0 then
return a < b
end
return cold().less_large(a, b)
end
local function units_between(hi, lo, hi_before, lo_before)
local units = (hi - hi_before) * (2 ^ 32) + (lo - lo_before)
return units < 0 and units + (2 ^ 32) * (2 ^ 32) or units
end
local function units_through(log, n)
local hi, lo = total_at(log.text, n)
return units_between(hi, lo, log.hi, log.lo)
end
local function units_of(log)
return log and log.len > 0 and units_through(log, log.len - 1) or 0
end
local function exact(n)
if n - n ~= 0 or n >= (2 ^ 53) then
cold().fail('INEXACT_REPLY')
end
return n
end
local function forecast(r, _, log)
local units = units_of(log)
r.log, r.units, r.remaining = log, units, units < r.limit and r.limit - units or 0
end
local function seconds_of(ms)
local rest = ms % 1000
return ms < 0 and -1 or rest == 0 and ms / 1000 or (ms - rest) / 1000 + 1
end
local function wait(r, cost)
local room, log, units = r.limit - cost, r.log, r.units
if room < 0 then
return nil
elseif units <= room then
return 0
end
local must_leave, low, high = units - room, log.first, log.len - 1
if units_through(log, low) >= must_leave then
high = low
elseif units_through(log, high > 0 and high - 1 or 0) < must_leave then
low = high
end
while low < high do
local middle = (low + high - (low + high) % 2) / 2
if units_through(log, middle) >= must_leave then
high = middle
else
low = middle + 1
end
end
local left = ms_at(log.text, low) + r.window_ms - r.now_ms
return left > 0 and left or 0
end
local function ttl_of_denial(r, cost)
local wait = wait(r, cost == 0 and 1 or cost)
wait = wait and seconds_of(exact(wait)) or -1
return wait == 0 and 1 or wait
end
local function decide(r, cost)
local log, limit = r.state, r.limit
local units = units_of(log)
local allowed = units + (cost == 0 and 1 or cost) <= limit
r.allowed, r.count, r.change = allowed, exact(units), 'keep'
if allowed and cost > 0 then
r.change = 'charge'
r.after = charged(r, log or { text = 'R:', len = 0, first = 0, hi = 0, lo = 0 }, r.now_ms, cost)
elseif not allowed and units > 0 and ms_at(log.text, log.len - 1) > r.now_ms then
r.change, r.after = 'rebase', cold().moved_to_now(r, log)
end
forecast(r, r.change, state_after(r.change, r.after, log))
if allowed then
r.ttl = seconds_of(exact(wait(r, limit)))
else
r.ttl = ttl_of_denial(r, cost)
end
end
local function decide_request(r)
if r.PARTIAL or r.ALWAYS then
cold().decide_rare(r)
else
local cost = r.cost
r.decided_cost = cost
decide(r, cost)
end
if r.SHADOW then
cold().conclude(r)
end
end
local function figures(r)
local change, wait = r.change, wait
forecast(r, change, change == 'keep' and r.state or change ~= 'delete' and r.after or nil)
local remaining, capacity, retry, next_ms, reset = r.remaining, r.capacity, 0, 0, 0
if not r.allowed then
local cost = r.decided_cost
retry = wait(r, r.needed or (cost == 0 and 1 or cost)) or -1
if r.full_for and retry >= 0 then
retry = math.max(retry, r.full_for)
end
end
if remaining < capacity then
next_ms = wait(r, remaining + 1) or -1
reset = remaining + 1 == capacity and next_ms or wait(r, capacity) or -1
end
if retry - retry ~= 0 or next_ms - next_ms ~= 0 or reset - reset ~= 0 or retry >= (2 ^ 53) or reset >= (2 ^ 53) then
cold().fail('INEXACT_REPLY')
end
return remaining, retry, next_ms, reset, 0
end
local function line(r, charged)
local remaining, retry, next_ms, reset, delay = figures(r)
local count, ttl, limit, now_ms = r.count, r.ttl, r.capacity, r.now_ms
local largest = limit + count + ttl + retry + next_ms + reset + delay + charged
if largest >= 2147483648 or now_ms < 1000000 or now_ms >= 2e15 then
return cold().long_line(r, charged)
end
local late = now_ms % 1000000
local shadow = r.shadowed and 1 or 0
return format(
'%d %d %d %d %d %d %d %d %d %d%06d %d %d',
r.allowed and (r.PARTIAL and cold().part_allowed(r) or 1) or 0, count, ttl, limit, remaining, retry, next_ms, reset, delay,
(now_ms - late) / 1000000, late, shadow, charged
)
end
local function reply(r, charged)
local form = r.form
if form == 'LINE' then
return line(r, charged)
elseif form then
return cold().other_reply(r, charged)
end
return { r.allowed and (r.PARTIAL and cold().part_allowed(r) or 1) or 0, r.count, r.ttl }
end
local function correct(r, change, after, charged)
local answer
local expires_at, before, state = nil, r.state, state_after(change, after, r.state)
if expires_at and less(expires_at, r.now_ms) then
state = nil
end
r.state = state
decide_request(r)
answer = reply(r, charged)
r.state = before
if not r.is_unknown then
cold().commit_change(r, change, after)
end
return answer
end
local function settle_reservation(r)
local book, change, after, charged = cold().load_book(r, r.RESERVATION), 'keep', nil, 0
load(r, 'write')
r.book = book
cold().give_back_book(r)
local charge = book.own
if charge then
change, after = cold().settle_reserved(r, charge, r.ACTUAL)
charged = r.ACTUAL
book.own = nil
end
r.is_unknown = not charge and not r.gave_back
local answer = correct(r, change, after, charged)
cold().commit_book(book)
return answer
end
local function run_settle(keys, words)
local r = parse_correction(words, ' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ')
local reserved, actual = r.RESERVED, r.ACTUAL
if actual and r.RESERVATION then
place(r, keys, true)
return settle_reservation(r)
end
if not reserved or not actual then
cold().fail('SETTLEMENT')
end
local difference = math.abs(reserved - actual)
place(r, keys)
load(r, 'write')
local correction = actual < reserved and cold().refund or cold().overcharge
local change, after = correction(r, r.AT, difference)
return correct(r, change, after, actual)
end
function cold()
if not COLD then
local errors = {}
errors.OVERFLOW = 'ERR increment or decrement would overflow'
errors.INEXACT_REPLY = 'ERR the reply has a number above 9007199254740991, which needs the module'
errors.AT = 'ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
errors.ANCHOR = 'ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
errors.ID = 'ERR invalid ID: expected 1 to 512 bytes'
errors.AS = 'ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
errors.RESERVE = 'ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
.. 'with a unit ms, s, m, h or d, up to 10^12 seconds'
errors.RESERVATION = 'ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
errors.PARTIAL_AND_ALWAYS = 'ERR syntax error: PARTIAL and ALWAYS exclude each other'
errors.RESERVE_AND_ALWAYS = 'ERR syntax error: RESERVE and ALWAYS exclude each other'
errors.RESERVATION_AND_RESERVED = 'ERR syntax error: RESERVED and RESERVATION exclude each other'
errors.RESERVATION_AND_AT = 'ERR syntax error: RESERVATION and AT exclude each other'
errors.FORM_TWICE = 'ERR syntax error: FULL, LINE or HEADERS comes at most once'
errors.TWO_FORMS = 'ERR syntax error: FULL, LINE and HEADERS exclude each other'
errors.CALENDAR_WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
.. 'd, up to 10^12 seconds; or day, week, month or year'
errors.WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
.. '10^12 seconds'
errors.RESERVED_KEY = 'ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
.. 'reservations'
errors.KEYS = 'ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
errors.FOREIGN_RESERVATION = 'ERR the hash of the reservations holds a value that the module did not write'
errors.INEXACT_STATE = 'ERR the key holds a number above 9007199254740991, which needs the module'
errors.ARITY = 'ERR wrong number of arguments'
errors.FOREIGN_VALUE = 'ERR the key holds a value that this algorithm did not write'
errors.SETTLEMENT = 'ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
local function moved(text, from, to, cap_hi, cap_lo, hi, lo)
local parts = {}
for n = from, to - 1 do
local moved_hi, moved_lo = cap_hi, cap_lo
if not cap_hi then
moved_hi, moved_lo = total_at(text, n)
moved_hi, moved_lo = sum_of(moved_hi, moved_lo, hi, lo)
end
parts[#parts + 1] = bytes_of(ms_at(text, n), moved_hi, moved_lo)
end
return table.concat(parts)
end
local function charged_before(r, log, index, at, hi, lo, overflows)
local text, len, kept, rest = log.text, log.len, index, index
local total_hi, total_lo, ms = log.hi, log.lo, at
if index > log.first then
total_hi, total_lo = total_at(text, index - 1)
end
if index > log.first and same_moment(r, ms_at(text, index - 1), at) then
kept = index - 1
elseif same_moment(r, ms_at(text, index), at) then
ms, rest = ms_at(text, index), index + 1
total_hi, total_lo = total_at(text, index)
end
total_hi, total_lo = sum_of(total_hi, total_lo, hi, lo)
local later = moved(text, rest, len, nil, nil, hi, lo)
local whole = { text = part_of(text, 1, 15 * rest + 2) .. later, len = len, first = log.first, hi = log.hi, lo = log.lo }
return edited(whole, kept, bytes_of(ms, total_hi, total_lo), rest, overflows)
end
local function moved_to_now(r, log)
local text, now_ms = log.text, r.now_ms
local index = count_through(text, log.len, now_ms)
local joins = index > log.first and same_moment(r, ms_at(text, index - 1), now_ms)
local hi, lo = total_at(text, log.len - 1)
return edited(log, joins and index - 1 or index, bytes_of(now_ms, hi, lo), log.len, false)
end
local function refund(r, at_ms, cost)
local log = r.state
if not log then
return 'keep'
end
local text, last = log.text, log.len
if at_ms then
at_ms = at_ms - at_ms == 0 and at_ms or (2 ^ 53)
last = count_through(text, log.len, at_ms)
local is_exact = last > log.first and ms_at(text, last - 1) == at_ms
if not is_exact and last < log.len and same_moment(r, ms_at(text, last), at_ms) then
last = last + 1
end
end
local units, cap_hi, cap_lo = 0, log.hi, log.lo
if last > log.first then
units = units_through(log, last - 1)
cap_hi, cap_lo = total_at(text, last - 1)
end
local count = math.min(cost, units)
if count == 0 then
return 'keep'
elseif count == units_of(log) then
return 'delete'
end
local hi, lo = halves_of(count)
hi, lo = ((2 ^ 32) - hi - (lo > 0 and 1 or 0)) % (2 ^ 32), ((2 ^ 32) - lo) % (2 ^ 32)
cap_hi, cap_lo = sum_of(cap_hi, cap_lo, hi, lo)
local start = last
while start > 0 do
local total_hi, total_lo = total_at(text, start - 1)
if total_hi < cap_hi or (total_hi == cap_hi and total_lo <= cap_lo) then
break
end
start = start - 1
end
local bytes = moved(text, start, last, cap_hi, cap_lo) .. moved(text, last, log.len, nil, nil, hi, lo)
local after = { text = part_of(text, 1, 15 * start + 2) .. bytes, len = log.len, first = log.first }
after.hi, after.lo, after.write, after.offset, after.bytes = log.hi, log.lo, 'SETRANGE', 15 * start + 2, bytes
if log.first > 0 and log.first * 2 >= log.len then
after.write = 'SET'
end
return 'refund', after
end
local function fail_with(text)
error({ err = text }, 0)
end
local function fail(name)
fail_with(errors[name])
end
local function overcharge(r, at_ms, cost)
local now_ms, log = r.now_ms, r.state
at_ms = at_ms and less(at_ms, now_ms) and at_ms or now_ms
if cost == 0 or (at_ms < now_ms and at_ms <= now_ms - r.window_ms) then
return 'keep'
end
local units = units_of(log) + cost
if units >= (2 ^ 53) then
fail(units > 2 ^ 63 and 'OVERFLOW' or 'INEXACT_REPLY')
end
return 'charge', charged(r, log or { text = 'R:', len = 0, first = 0, hi = 0, lo = 0 }, at_ms, cost)
end
local function settle_reserved(r, charge, actual)
local reserved = charge.cost or 0
if charge.counts_until <= r.now_ms then
return 'keep'
elseif actual < reserved then
return refund(r, charge.charged_at, reserved - actual)
end
return overcharge(r, charge.charged_at, actual - reserved)
end
local function fail_with_foreign_value(text, word, otherwise)
local writers = { C = 'COUNTER', L = 'LEAKY', R = 'ROLLING', T = 'TOKEN' }
local writer = writers[match(text, '^(%u):')]
if not writer or writer == word then
fail(otherwise)
end
fail_with('ERR the key holds a state of ' .. writer .. ': use another key for each algorithm')
end
local function error_reply(raised)
if type(raised) == 'table' then
return raised
elseif find(raised, '^%u+ ') then
return redis.error_reply(raised)
end
error(raised, 0)
end
local function less_large(a, b)
local a_is_number, b_is_number = a - a == 0, b - b == 0
if a_is_number or b_is_number then
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
local function digits_of(n)
if n - n ~= 0 then
return n
end
local digits, count = {}, 0
while n > 0 do
local digit = n % (2 ^ 24)
count = count + 1
digits[count] = digit
n = (n - digit) / (2 ^ 24)
end
return digits
end
local LARGE = {
__sub = function()
return 1
end,
}
local function from_digits(digits)
local count = #digits
while count > 0 and digits[count] == 0 do
digits[count] = nil
count = count - 1
end
if count > 3 or (count == 3 and digits[3] >= (2 ^ 53) / (2 ^ 24) / (2 ^ 24)) then
return setmetatable(digits, LARGE)
end
return (digits[1] or 0) + (digits[2] or 0) * (2 ^ 24) + (digits[3] or 0) * (2 ^ 24) * (2 ^ 24)
end
local function mul_large(a, b)
a, b = digits_of(a), digits_of(b)
local product = {}
for n = 1, #a + #b do
product[n] = 0
end
for n = 1, #a do
local carry = 0
for m = 1, #b do
local digit = product[n + m - 1] + a[n] * b[m] + carry
carry = math.floor(digit / (2 ^ 24))
product[n + m - 1] = digit - carry * (2 ^ 24)
end
product[n + #b] = carry
end
return from_digits(product)
end
local function approximately(n)
if n - n == 0 then
return n
end
local sum = 0
for index = #n, 1, -1 do
sum = sum * (2 ^ 24) + n[index]
end
return sum
end
local function add_large(a, b)
a, b = digits_of(a), digits_of(b)
local sum, carry = {}, 0
for n = 1, math.max(#a, #b) + 1 do
local digit = (a[n] or 0) + (b[n] or 0) + carry
carry = digit >= (2 ^ 24) and 1 or 0
sum[n] = digit - carry * (2 ^ 24)
end
return from_digits(sum)
end
local function add(a, b)
if a - a == 0 and b - b == 0 and a + b < (2 ^ 53) then
return a + b
end
return add_large(a, b)
end
local function sub_large(a, b)
if not less_large(b, a) then
return 0
end
b = digits_of(b)
local difference, borrow = {}, 0
for n = 1, #a do
local digit = a[n] - (b[n] or 0) - borrow
borrow = digit < 0 and 1 or 0
difference[n] = digit + borrow * (2 ^ 24)
end
return from_digits(difference)
end
local function sub(a, b)
if a - a == 0 and b - b == 0 then
return a > b and a - b or 0
end
return sub_large(a, b)
end
local function divide_large(a, b)
local quotient = 0
while not less(a, b) do
local part = math.max(1, math.floor(approximately(a) / approximately(b) * (1 - 2 ^ -45)))
part = from_digits(digits_of(part))
quotient = add(quotient, part)
a = sub(a, mul(part, b))
end
return quotient, a
end
local function bytes_before(a, b)
for at = 1, math.min(#a, #b) do
local x, y = a:byte(at), b:byte(at)
if x ~= y then
return x < y
end
end
return #a < #b
end
local function digits_up_to(text, most)
if text ~= '0' and not find(text, '^[1-9]%d*$') then
return nil
end
return (#text < #most or (#text == #most and not bytes_before(most, text))) and text or nil
end
local function from_text(digits)
if #digits <= 15 or (#digits == 16 and bytes_before(digits, '9007199254740992')) then
return digits + 0
end
local head = #digits % 7
local n = head > 0 and digits:sub(1, head) + 0 or 0
for at = head + 1, #digits, 7 do
n = add(mul(n, 10000000), digits:sub(at, at + 6) + 0)
end
return n
end
local function parse_count(name, text, least)
local digits = text and digits_up_to(text, '9223372036854775807')
local n = digits and from_text(digits)
if not n or n == 0 and least > 0 then
fail_with(format('ERR invalid %s: expected an integer from %d to 9223372036854775807', name, least))
elseif n - n ~= 0 then
fail_with(format('ERR invalid %s: the Lua library takes integers up to 9007199254740991', name))
end
return n
end
local OPTIONS = {
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
local function is_in(list, word)
return not find(word, ' ', 1, true) and find(list, ' ' .. word .. ' ', 1, true) ~= nil
end
local function takes(r, option)
return not is_in(' COST PARTIAL ALWAYS BURST ANCHOR ID RESERVE RESERVATION ', option) or is_in((' COST PARTIAL ALWAYS RESERVE RESERVATION '), option)
end
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
local function fail_with_usage(r, accepted, word)
local options = {}
for _, row in ipairs(OPTIONS) do
if is_in(accepted, row[1]) and takes(r, row[1]) then
options[#options + 1] = row[2]
end
end
for _, form in ipairs({ 'FULL', 'LINE', 'HEADERS' }) do
options[#options + 1] = form
end
for _, option in ipairs(options) do
if is_nearly(word:upper(), match(option, '^%u+')) then
fail_with('ERR syntax error: no such option, but there is ' .. option)
end
end
local last = table.remove(options)
local usage = table.concat(options, ', ')
fail_with('ERR syntax error: after limit come ' .. usage .. ' or ' .. last .. ', each at most once')
end
local function require_option(row, r, accepted)
local option, algorithm = row[1], r.algorithm
if not is_in(accepted, option) then
fail_with(format('ERR invalid %s: only %s it', option, row[3]))
elseif not takes(r, option) then
fail_with(format('ERR invalid %s: %s takes none', option, ('ROLLING')))
elseif r[option] ~= nil then
fail_with(format('ERR syntax error: %s comes at most once', row[2]))
end
end
local UNITS = { ms = 1, [''] = 1000, s = 1000, m = 60000, h = 3600000, d = 86400000 }
local function parse_window(text)
local number, unit = match(text, '^(%d+)(%l*)$')
local ms = number and UNITS[unit] and digits_up_to(number, '18446744073709551615') and number * UNITS[unit]
return ms and ms >= 1 and ms <= 1e15 and ms or nil
end
local function parse_id(text, most)
return text and #text >= 1 and #text <= most and text
end
local function min(a, b)
return less(b, a) and b or a
end
local MAX_UNSIGNED = setmetatable({ (2 ^ 24) - 1, (2 ^ 24) - 1, 2 ^ 16 - 1 }, LARGE)
local function parse_value(option, text, second)
if option == 'RESERVE' then
local ttl = second and parse_window(second)
return parse_id(text, 128) and ttl and { id = text, ttl = ttl } or fail('RESERVE')
elseif option == 'RESERVATION' then
return parse_id(text, 128) or fail('RESERVATION')
end
if option == 'AS' then
return text and #text >= 1 and #text <= 64 and not find(text, '[^%w._-]') and text or fail('AS')
elseif option == 'AT' then
local digits = text and digits_up_to(text, '9223372036854775807')
return digits and min(from_text(digits), (divide(MAX_UNSIGNED, 1000))) or fail('AT')
end
return parse_count(option, text, option == 'BURST' and 1 or 0)
end
local function require_compatible(r)
if r.ALWAYS and (r.PARTIAL or r.RESERVE) then
fail(r.PARTIAL and 'PARTIAL_AND_ALWAYS' or 'RESERVE_AND_ALWAYS')
elseif r.RESERVATION and (r.RESERVED or r.AT) then
fail(r.RESERVED and 'RESERVATION_AND_RESERVED' or 'RESERVATION_AND_AT')
end
end
local FORMS = { FULL = true, LINE = true, HEADERS = true }
local function next_form(form, named)
if form then
fail(form == named and 'FORM_TWICE' or 'TWO_FORMS')
end
return named
end
local function parse_options(r, words, at, accepted)
while words[at] do
local word, row = words[at]:upper(), nil
for _, known in ipairs(OPTIONS) do
row = known[1] == word and known or row
end
if row then
require_option(row, r, accepted)
if row[2] == word then
r[word] = true
at = at + 1
else
r[word] = parse_value(word, words[at + 1], words[at + 2])
at = at + (word == 'RESERVE' and 3 or 2)
end
require_compatible(r)
elseif FORMS[word] and is_in(accepted, 'form') then
r.form = next_form(r.form, word)
at = at + 1
else
return at
end
end
return at
end
local LONGEST = { DAY = 86400000, WEEK = 7 * 86400000, MONTH = 31 * 86400000, YEAR = 366 * 86400000 }
local function window_of(r, text)
local window_ms = parse_window(text)
if not window_ms then
r.unit = text:upper()
window_ms = LONGEST[r.unit]
if not window_ms then
fail(is_in((' COST PARTIAL ALWAYS RESERVE RESERVATION '), 'ANCHOR') and 'CALENDAR_WINDOW' or 'WINDOW')
elseif not is_in((' COST PARTIAL ALWAYS RESERVE RESERVATION '), 'ANCHOR') then
fail_with(format('ERR invalid window: %s takes no windows of the calendar', ('ROLLING')))
end
end
return window_ms
end
local function has_name_of_reservations(key)
return key:sub(-9) == ':reserved' or key:sub(-14) == ':reserved:ends'
end
local function require_other_name(key)
if has_name_of_reservations(key) then
fail('RESERVED_KEY')
end
end
local function take_book(r, keys, at, key)
local hash, ends = keys[at] or '', keys[at + 1]
local name = ((nil) and (nil)(r) or '') .. ':reserved'
if (hash ~= key .. name and hash ~= '{' .. key .. '}' .. name) or ends ~= hash .. ':ends' then
fail('KEYS')
end
r.hash, r.ends = hash, ends
return at + 2
end
local function counts_until(r)
return r.now_ms + r.window_ms
end
local function number_of_field(text)
local digits = digits_up_to(text, '9223372036854775807') or fail('FOREIGN_RESERVATION')
local n = from_text(digits)
return n - n == 0 and n or fail('INEXACT_STATE')
end
local function decode_field(text)
local cost, charged_at, ends_at, counts_until, ttl = match(text, '^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not cost or #ttl > 16 or tonumber(ttl) > 1e15 or ttl == '0' then
fail('FOREIGN_RESERVATION')
end
return {
cost = cost ~= '' and number_of_field(cost) or nil,
charged_at = number_of_field(charged_at),
ends_at = number_of_field(ends_at),
counts_until = number_of_field(counts_until),
ttl = number_of_field(ttl),
}
end
local function expiry_by_ttl(key, now_ms)
local left = call('PTTL', key)
return left >= 0 and now_ms + left or nil
end
local function expiry_of(key, now_ms)
if not redis.REDIS_VERSION_NUM then
return expiry_by_ttl(key, now_ms)
end
local at = call('PEXPIRETIME', key)
return at >= 0 and at or nil
end
local function score_at(key, rank)
rank = format('%.0f', rank)
local score = call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]
return score and tonumber(score)
end
local expired_left, ended_left, unordered_left, moved_left = 4000, 1000, 1000, 2 * 500
local function review(book, found)
book.ended, book.gone = {}, {}
for _, one in ipairs(found) do
if one.field.cost then
book.ended[#book.ended + 1] = { id = one.id, was = one.field }
elseif one.id ~= book.id then
book.gone[#book.gone + 1] = one.id
end
end
ended_left = math.max(0, ended_left - #book.ended - #book.gone)
table.sort(book.ended, function(a, b)
if a.was.charged_at ~= b.was.charged_at then
return a.was.charged_at < b.was.charged_at
end
return bytes_before(a.id, b.id)
end)
book.reviewed = true
end
local function review_ordered(book)
local first = call('ZRANGE', book.ends, '0', format('%.0f', ended_left), 'WITHSCORES')
local ids, ends, found, own_found = {}, {}, {}, false
book.next_end = nil
for n = 1, #first, 2 do
local ends_at = tonumber(first[n + 1])
if ends_at > book.now_ms or #ids == ended_left then
book.next_end = ends_at
break
end
ids[#ids + 1], ends[#ends + 1] = first[n], ends_at
end
local texts = #ids > 0 and call('HMGET', book.key, unpack(ids)) or {}
for n, id in ipairs(ids) do
local field = texts[n] and decode_field(texts[n])
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
local own_ended = 0
for _, ended in ipairs(book.ended) do
own_ended = ended.id == book.id and 1 or own_ended
end
local others_ended = #book.ended + #book.gone - own_ended
book.needed = book.len - (book.stored and 1 or 0) == others_ended and 0 or nil
return true
end
local function matters_until(field)
return field.cost and math.max(field.ends_at + field.ttl, field.counts_until) or field.ends_at
end
local function review_all(book)
local ended, stay, own = {}, {}, nil
local all = call('HGETALL', book.key)
for n = 1, #all, 2 do
local id = all[n]
if id ~= '' then
local one = { id = id, field = decode_field(all[n + 1]) }
if one.field.ends_at <= book.now_ms then
ended[#ended + 1] = one
elseif id ~= book.id then
stay[#stay + 1] = one
end
end
end
if #ended > ended_left then
table.sort(ended, function(a, b)
if a.field.ends_at ~= b.field.ends_at then
return a.field.ends_at < b.field.ends_at
end
return bytes_before(a.id, b.id)
end)
for n = #ended, ended_left + 1, -1 do
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
local function text_of_large(n)
local tail = ''
while n - n ~= 0 do
local rest
n, rest = divide(n, 10000000)
tail = format('%07.0f', rest) .. tail
end
return format('%.0f', n) .. tail
end
local function text_of(n)
if n - n ~= 0 then
return text_of_large(n)
end
if n < 2147483648 then
return format('%d', n)
elseif n < 2e15 then
local rest = n % 1000000
return format('%d%06d', (n - rest) / 1000000, rest)
end
return format('%.0f', n)
end
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
book.order[#book.order + 1] = { id = id, field = decode_field(found[2][n + 1]) }
elseif id ~= '' then
decode_field(found[2][n + 1])
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
local function load_book(r, id)
local key = r.hash
local found = call('HMGET', key, id, '')
local book = { key = key, ends = r.ends, id = id, now_ms = r.now_ms, ended = {}, gone = {} }
book.stored = found[1] and decode_field(found[1]) or nil
book.own = book.stored
book.earliest = found[2] and number_of_field(found[2]) or nil
book.len = call('HLEN', key) - (book.earliest and 1 or 0)
book.expires_at = expiry_of(key, book.now_ms)
book.order_len = call('ZCARD', book.ends)
book.next_end = score_at(book.ends, 0)
local ordered = book.len == book.order_len and (book.earliest == 0 or book.len == 0 and not book.earliest)
local first_end = math.min(book.next_end or math.huge, book.own and book.own.ends_at or math.huge)
book.complete = ordered and (first_end > book.now_ms or review_ordered(book))
if not book.complete then
local fields = book.len + (book.earliest and 1 or 0)
local most = fields <= unordered_left and fields or math.min(unordered_left, 500)
unordered_left = unordered_left - most
if most == fields then
book.complete, book.anew = true, true
review_all(book)
else
add_to_order(book, most)
end
end
return book
end
local function give_back(r, all_ended)
local log, entries, before, changed = r.state, {}, 0, false
for n = log and log.first or 0, log and log.len - 1 or -1 do
local through = exact(units_through(log, n))
entries[#entries + 1] = { ms = ms_at(log.text, n), units = math.max(0, through - before) }
before = math.max(before, through)
end
local reached, older = 0, {}
for _, one in ipairs(all_ended) do
local at, left = one.was.charged_at, one.was.cost
if left > 0 and r.now_ms < one.was.counts_until then
local last = 0
while entries[last + 1] and entries[last + 1].ms <= at do
last = last + 1
end
local is_exact = last > 0 and entries[last].ms == at
if not is_exact and entries[last + 1] and same_moment(r, entries[last + 1].ms, at) then
last = last + 1
end
for n = reached + 1, last do
older[#older + 1] = entries[n]
end
reached = math.max(reached, last)
while left > 0 and #older > 0 do
local newest = older[#older]
local taken = math.min(left, newest.units)
newest.units, left = newest.units - taken, left - taken
one.given_back = one.given_back or taken > 0
if newest.units == 0 then
older[#older] = nil
end
end
changed = changed or one.given_back
end
end
if not changed then
return
end
local parts, total = { 'R:' }, 0
for _, entry in ipairs(entries) do
if entry.units > 0 then
total = total + entry.units
parts[#parts + 1] = bytes_of(entry.ms, halves_of(total))
end
end
r.gave_back, r.stored = true, r.state
r.state = #parts > 1 and read(r, table.concat(parts)) or nil
r.begins_anew = not r.state
end
local function mark_of(ended, now_ms)
local was = ended.was
if now_ms >= was.ends_at + was.ttl then
return nil
end
return {
charged_at = was.charged_at,
ends_at = was.ends_at + was.ttl,
counts_until = (ended.given_back or was.cost == 0) and was.counts_until or 0,
ttl = was.ttl,
}
end
local function give_back_book(r)
local book = r.book
if give_back then
give_back(r, book.ended)
else
for _, ended in ipairs(book.ended) do
if ended.was.cost > 0 and book.now_ms < ended.was.counts_until then
local change, after = settle_reserved(r, ended.was, 0)
if change ~= 'keep' then
if not r.gave_back then
r.gave_back, r.stored = true, r.state
end
ended.given_back = true
r.state = state_after(change, after, r.state)
end
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
local function others_of_book(book)
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
local function encode_field(field)
local words = { field.cost and text_of(field.cost) or '' }
for n, value in ipairs({ field.charged_at, field.ends_at, field.counts_until, field.ttl }) do
words[n + 1] = text_of(value)
end
return table.concat(words, ':')
end
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
local function set_expiry(key, at_ms)
if at_ms then
call('PEXPIREAT', key, text_of(at_ms))
end
end
local function commit_book(book)
local count, _, needed = others_of_book(book)
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
set(fields, ended.id, encode_field(mark))
set(members, text_of(mark.ends_at), ended.id)
elseif ended.id ~= book.id then
removed[#removed + 1] = ended.id
end
end
if book.own and book.own ~= book.stored then
set(fields, book.id, encode_field(book.own))
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
call_in_parts({ 'ZADD', book.ends }, members)
if book.next_step == 0 then
removed[#removed + 1] = ''
end
call_in_parts({ 'ZREM', book.ends }, removed)
local held, latest, expires_at = book.expires_at, needed + 5000, nil
local unknown = not held and not book.needed and book.len > 0
if not unknown and (not held or held < needed or (book.needed and held > latest)) then
expires_at = latest
end
set_expiry(book.key, expires_at)
if expires_at or book.anew and held then
set_expiry(book.ends, expires_at or held)
end
end
local function conclude(r)
local only_a_part = r.PARTIAL and r.decided_cost < r.cost
r.shadowed = r.SHADOW and not r.open and (only_a_part or not r.allowed)
if not r.allowed and (r.shadowed or r.open) then
r.allowed = true
if not (nil) then
local _, _, _, reset_ms = figures(r)
r.ttl = seconds_of(reset_ms)
end
end
end
local function remaining_of(r)
forecast(r, 'keep', r.state)
return r.remaining
end
local function needed_for(cost)
return cost == 0 and 1 or cost
end
local function decide_always(r)
local cost = r.cost
decide(r, 0)
local change, after = overcharge(r, nil, cost)
if cost > 0 then
r.change, r.after = change, after
end
local state = state_after(r.change, r.after, r.state)
forecast(r, r.change, state)
r.allowed = r.capacity > 0 and wait(r, 0) == 0
r.needed = r.capacity > 0 and cost or needed_for(cost)
if (nil) then
r.count, r.ttl = (nil)(state, r.now_ms)
elseif r.allowed then
r.ttl = seconds_of(exact(wait(r, r.capacity)))
else
local wait = wait(r, r.needed)
r.ttl = wait and math.max(1, seconds_of(exact(wait))) or -1
end
end
local function decide_rare(r)
local cost = r.cost
if r.PARTIAL then
cost = math.min(cost, remaining_of(r))
end
r.decided_cost = cost
if r.ALWAYS then
decide_always(r)
else
decide(r, cost)
end
end
local function new_log_expiry(r, held)
local now_ms, window_ms = r.now_ms, r.window_ms
if held and 2 * (held - now_ms) >= 3 * window_ms then
return nil
end
return now_ms + 2 * window_ms
end
local function rewritten(r, log)
local text, entries = log.text, {}
for n = log.first, log.len - 1 do
local hi, lo = total_at(text, n)
hi, lo = sum_of(hi, lo, ((2 ^ 32) - log.hi - (log.lo > 0 and 1 or 0)) % (2 ^ 32), ((2 ^ 32) - log.lo) % (2 ^ 32))
local last = entries[#entries]
if (last or hi > 0 or lo > 0) and not (last and last.hi == hi and last.lo == lo) then
entries[#entries + 1] = { ms = ms_at(text, n), hi = hi, lo = lo }
end
end
if #entries > 4096 + 1 then
local merged = {}
for _, entry in ipairs(entries) do
local joins = #merged > 0 and same_moment(r, entry.ms, merged[#merged].ms)
merged[joins and #merged or #merged + 1] = entry
end
entries = merged
end
if #entries > 8192 then
local last, ahead = entries[#entries], 0
while ahead < #entries and entries[ahead + 1].ms <= r.now_ms do
ahead = ahead + 1
end
for n = #entries, math.min(ahead, 8192 - 1) + 1, -1 do
entries[n] = nil
end
entries[#entries + 1] = last
end
local parts = { 'R:' }
for n, entry in ipairs(entries) do
parts[n + 1] = bytes_of(entry.ms, entry.hi, entry.lo)
end
return table.concat(parts)
end
local function set_whole(r, after, expires_at, held)
local key, text = r.key, after.write == 'SET' and rewritten(r, after) or after.text
if expires_at then
call('SET', key, text, 'PXAT', text_of(expires_at))
elseif held then
call('SET', key, text, 'KEEPTTL')
end
end
local function commit(r, change, after)
local key, before = r.key, r.state
if change == 'delete' then
call('UNLINK', key)
return
end
local held = before and not r.begins_anew and expiry_of(key, r.now_ms) or nil
local expires_at = new_log_expiry(r, held)
if change ~= 'keep' then
local write = after.write
if write == 'SET' or r.gave_back then
set_whole(r, after, expires_at, held)
return
elseif write == 'APPEND' then
call('APPEND', key, after.bytes)
else
call('SETRANGE', key, format('%d', after.offset), after.bytes)
end
elseif units_of(before) == 0 then
return
end
set_expiry(key, expires_at)
end
local function commit_change(r, change, after)
if r.gave_back then
after = state_after(change, after, r.state)
r.state = r.stored
if not after then
change = r.stored and 'delete' or 'keep'
elseif change ~= 'charge' then
change = 'refund'
end
end
commit(r, change, after)
end
local function part_allowed(r)
return r.open and r.open.cost or r.shadowed and r.cost or r.decided_cost
end
local function first_integer(r)
if not r.allowed then
return 0
end
return r.PARTIAL and part_allowed(r) or 1
end
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
local function long_line(r, charged)
local pairs_of, figures_only = full(r, charged), {}
for n = 2, #pairs_of, 2 do
figures_only[#figures_only + 1] = format('%.0f', pairs_of[n])
end
return table.concat(figures_only, ' ')
end
local function name_policies(requests)
local taken = {}
for _, r in ipairs(requests) do
local first, number = r.AS or ('ROLLING'):lower(), 2
r.name = first
while taken[r.name] do
r.name = format('%s-%d', first, number)
number = number + 1
end
taken[r.name] = true
end
end
local function header_integer(n)
return format('%.0f', min(n, 999999999999999))
end
local function policy_item(r)
local window_ms = (nil) and (nil)(r) or r.window_ms
local divisor, rest = 1000, window_ms % 1000
while rest > 0 do
divisor, rest = rest, divisor % rest
end
local windows = 1000 / divisor
local window = divide(mul(window_ms, windows), 1000)
return format('"%s";q=%s;w=%s', r.name, header_integer(mul(r.limit, windows)), header_integer(window))
end
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
local function other_reply(r, charged)
if r.form == 'FULL' then
return full(r, charged)
end
return { first_integer(r), r.count, r.ttl, headers({ r }) }
end
COLD = { charged_before = charged_before, commit_book = commit_book, commit_change = commit_change, conclude = conclude, decide_rare = decide_rare, divide_large = divide_large, error_reply = error_reply, fail = fail, fail_with_foreign_value = fail_with_foreign_value, fail_with_usage = fail_with_usage, give_back_book = give_back_book, less_large = less_large, load_book = load_book, long_line = long_line, moved_to_now = moved_to_now, mul_large = mul_large, other_reply = other_reply, overcharge = overcharge, parse_count = parse_count, parse_options = parse_options, part_allowed = part_allowed, refund = refund, require_other_name = require_other_name, settle_reserved = settle_reserved, take_book = take_book, window_of = window_of }
end
return COLD
end
local done, result = pcall(run_settle, KEYS, ARGV)
return done and result or cold().error_reply(result)
