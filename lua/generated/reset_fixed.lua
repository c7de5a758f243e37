-- RL.RESET FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local COLD, cold
local call = redis.call
local function read_clock(r)
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
r.now, r.now_ms = now, (now - now % 1000) / 1000
end
local find, format, match, part_of = string.find, string.format, string.match, string.sub
local function suffix(r)
if r.unit or r.anchor_ms then
return cold().calendar_suffix(r, (cold().period(r)))
end
local now_ms, window_ms = r.now_ms, r.window_ms
local number = (now_ms - now_ms % window_ms) / window_ms
return format(number < 2147483648 and ':%d' or ':%.0f', number)
end
local function take_keys(r, keys, at, with_book, is_reset)
local key = keys[at]
if suffix then
local own, other = suffix(r), keys[at + 1]
local length = #own
if not other then
cold().fail('KEYS')
elseif part_of(key, -length) ~= own then
key = other
if part_of(key, -length) ~= own then
r.wrong_clock = true
end
end
r.key, key, at = key, part_of(key, 1, -length - 1), at + 2
else
if not key then
cold().fail('KEYS')
end
r.key, at = key, at + 1
end
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
elseif r.wrong_clock then
cold().fail_by_clock(r)
end
end
local function load_counter(r)
local key = r.key
local text = call('GET', key)
if text then
local value = #text < 16 and find(text, '^[1-9]%d*$') and text + 0 or cold().value_of(text)
local expires_at = redis.REDIS_VERSION_NUM and call('PEXPIRETIME', key) or cold().expiry_by_ttl(key, r.now_ms) or -1
expires_at = expires_at >= 0 and expires_at or nil
if expires_at and expires_at >= (2 ^ 53) then
cold().fail('INEXACT_STATE')
end
r.state = { value = value, expires_at = expires_at }
end
end
local function text_of(n)
if n - n ~= 0 then
return cold().text_of_large(n)
end
if n < 2147483648 then
return format('%d', n)
elseif n < 2e15 then
local rest = n % 1000000
return format('%d%06d', (n - rest) / 1000000, rest)
end
return format('%.0f', n)
end
local function set_expiry(key, at_ms)
if at_ms then
call('PEXPIREAT', key, text_of(at_ms))
end
end
local function commit(r, change, after)
local key, before = r.key, r.state
if change == 'delete' then
call('UNLINK', key)
elseif change ~= 'keep' then
local delta = after.value - (before and before.value or 0)
if delta ~= 0 then
call('INCRBY', key, delta == 1 and '1' or format('%.0f', delta))
end
if not before or after.expires_at ~= before.expires_at then
set_expiry(key, after.expires_at)
end
end
end
local function run_reset(keys, words)
local window = words[1]
if not window then
cold().fail('ARITY')
end
local r = { limit = 0, capacity = 0 }
local at = cold().parse_options(r, words, 1 + 1, ' ANCHOR ')
if words[at] then
cold().fail(cold().is_nearly(words[at]:upper(), 'ANCHOR') and 'NO_SUCH_OPTION' or 'RESET_WORDS')
end
r.anchor_ms = r.ANCHOR and r.ANCHOR * 1000
r.window_ms = cold().window_of(r, window)
local with_book = cold().is_in((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '), 'RESERVE')
place(r, keys, with_book, true)
local has_hash = with_book and cold().has_book(r)
load_counter(r, 'delete')
local exists = r.exists or r.state
local found = exists
found = exists or has_hash
cold().require_left_over(r, found)
if exists then
commit(r, 'delete')
end
if has_hash then
call('UNLINK', r.hash, r.ends)
end
return found and 1 or 0
end
function cold()
if not COLD then
local errors = {}
errors.NOT_A_COUNTER = 'ERR value is not an integer or out of range'
errors.INEXACT_STATE = 'ERR the key holds a number above 9007199254740991, which needs the module'
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
errors.ARITY = 'ERR wrong number of arguments'
errors.RESET_WORDS = 'ERR syntax error: after window comes ANCHOR t or nothing'
errors.NO_SUCH_OPTION = 'ERR syntax error: no such option, but there is ANCHOR t'
local function calendar_suffix(r, start)
return format(':%s:%.0f', r.unit and r.unit:lower() or format('%.0fms', r.window_ms), start)
end
local function days_before(year, month)
if month < 2 then
year = year - 1
end
local of_march = (month + 10) % 12
local leap_days = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
return 365 * year + leap_days + math.floor((153 * of_march + 2) / 5) - 719468
end
local function first_of_month(n)
return days_before(math.floor(n / 12), n % 12)
end
local function month_of(day)
local months = 1970 * 12 + math.floor(day / 30.436875) + 1
while first_of_month(months) > day do
months = months - 1
end
return months, day - first_of_month(months)
end
local function start_after(anchor, months)
local at = anchor.months + months
local first = first_of_month(at)
return (first + math.min(anchor.day, first_of_month(at + 1) - first - 1)) * 86400000 + anchor.time
end
local function calendar_period(step, anchor_ms, now_ms)
local time = anchor_ms % 86400000
local months, day = month_of((anchor_ms - time) / 86400000)
local anchor = { months = months, day = day, time = time }
local apart = month_of(math.floor(now_ms / 86400000)) - months
local latest = apart - apart % step
local first, last = start_after(anchor, latest), start_after(anchor, latest + step)
if first > now_ms then
first, last = start_after(anchor, latest - step), first
end
return first, last, last - first
end
local function period_of(r, now_ms)
local unit, anchor_ms = r.unit, r.anchor_ms
if unit == 'MONTH' or unit == 'YEAR' then
local first, last, length = calendar_period(unit == 'YEAR' and 12 or 1, anchor_ms or 0, now_ms)
return math.max(0, first), last, length
end
anchor_ms = anchor_ms or (unit == 'WEEK' and 4 * 86400000) or 0
local length = r.window_ms
local ago = (now_ms % length - anchor_ms % length) % length
return math.max(0, now_ms - ago), now_ms - ago + length, length
end
local function period(r)
if r.unit or r.anchor_ms then
return period_of(r, r.now_ms)
end
local now_ms, window_ms = r.now_ms, r.window_ms
local first = now_ms - now_ms % window_ms
return first, first + window_ms
end
local function fail_with(text)
error({ err = text }, 0)
end
local function fail(name)
fail_with(errors[name])
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
local function less(a, b)
if a - a == 0 and b - b == 0 then
return a < b
end
return less_large(a, b)
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
local function mul(a, b)
if a - a == 0 and b - b == 0 and a * b < (2 ^ 53) then
return a * b
end
return mul_large(a, b)
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
local function divide(a, b)
if a - a == 0 and b - b == 0 then
local rest = a % b
return (a - rest) / b, rest
end
return divide_large(a, b)
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
local function expiry_by_ttl(key, now_ms)
local left = call('PTTL', key)
return left >= 0 and now_ms + left or nil
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
local function fail_with_foreign_value(text, word, otherwise)
local writers = { C = 'COUNTER', L = 'LEAKY', R = 'ROLLING', T = 'TOKEN' }
local writer = writers[match(text, '^(%u):')]
if not writer or writer == word then
fail(otherwise)
end
fail_with('ERR the key holds a state of ' .. writer .. ': use another key for each algorithm')
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
local function value_of(text)
local sign, digits = match(text, '^(%-?)(%d+)$')
local negative = sign == '-'
digits = digits and digits_up_to(digits, negative and '9223372036854775808' or '9223372036854775807')
if not digits or (negative and digits == '0') then
fail_with_foreign_value(text, nil, 'NOT_A_COUNTER')
end
local value = from_text(digits)
if value - value ~= 0 then
fail('INEXACT_STATE')
end
return negative and -value or value
end
local function is_in(list, word)
return not find(word, ' ', 1, true) and find(list, ' ' .. word .. ' ', 1, true) ~= nil
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
local function takes(r, option)
return not is_in(' COST PARTIAL ALWAYS BURST ANCHOR ID RESERVE RESERVATION ', option) or is_in((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '), option)
end
local function require_option(row, r, accepted)
local option, algorithm = row[1], r.algorithm
if not is_in(accepted, option) then
fail_with(format('ERR invalid %s: only %s it', option, row[3]))
elseif not takes(r, option) then
fail_with(format('ERR invalid %s: %s takes none', option, ('FIXED')))
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
local function parse_value(option, text, second)
if option == 'RESERVE' then
local ttl = second and parse_window(second)
return parse_id(text, 128) and ttl and { id = text, ttl = ttl } or fail('RESERVE')
elseif option == 'RESERVATION' then
return parse_id(text, 128) or fail('RESERVATION')
end
if option == 'ANCHOR' then
local digits = text and digits_up_to(text, '253402300799')
return digits and digits + 0 or fail('ANCHOR')
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
fail(is_in((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '), 'ANCHOR') and 'CALENDAR_WINDOW' or 'WINDOW')
elseif not is_in((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '), 'ANCHOR') then
fail_with(format('ERR invalid window: %s takes no windows of the calendar', ('FIXED')))
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
local function require_left_over(r, exists)
local hash = match(r.name, '^(.*:reserved):ends$')
if not exists or hash and redis.pcall('TYPE', hash).ok == 'hash' then
require_other_name(r.name)
end
end
local function next_suffix(r)
local _, last = period(r)
if r.unit or r.anchor_ms then
return calendar_suffix(r, last)
end
return ':' .. text_of(last / r.window_ms)
end
local function both_suffixes(r)
return suffix(r) .. ' ' .. next_suffix(r)
end
local function fail_by_clock(r)
fail_with(format('ERR clock %.0f %s', r.now_ms, both_suffixes(r)))
end
local function infix(r)
local window = r.unit and r.unit:lower() or format('%.0fms', r.window_ms)
return ':' .. window .. (r.anchor_ms and format(':%.0f', r.anchor_ms / 1000) or '')
end
local function take_book(r, keys, at, key)
local hash, ends = keys[at] or '', keys[at + 1]
local name = (infix and infix(r) or '') .. ':reserved'
if (hash ~= key .. name and hash ~= '{' .. key .. '}' .. name) or ends ~= hash .. ':ends' then
fail('KEYS')
end
r.hash, r.ends = hash, ends
return at + 2
end
local function has_book(r)
local earliest = redis.pcall('HGET', r.hash, '')
return type(earliest) == 'string' and digits_up_to(earliest, '18446744073709551615')
end
COLD = { calendar_suffix = calendar_suffix, error_reply = error_reply, expiry_by_ttl = expiry_by_ttl, fail = fail, fail_by_clock = fail_by_clock, has_book = has_book, is_in = is_in, is_nearly = is_nearly, parse_options = parse_options, period = period, require_left_over = require_left_over, require_other_name = require_other_name, take_book = take_book, text_of_large = text_of_large, value_of = value_of, window_of = window_of }
end
return COLD
end
local done, result = pcall(run_reset, KEYS, ARGV)
return done and result or cold().error_reply(result)
