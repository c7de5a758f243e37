-- RL.RESET LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local COLD, cold
local call = redis.call
local function read_clock(r)
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
r.now, r.now_ms = now, (now - now % 1000) / 1000
end
local find, format, match, part_of = string.find, string.format, string.match, string.sub
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
return at
end
local function place(r, keys, with_book, is_reset)
read_clock(r)
if #keys ~= take_keys(r, keys, 1, with_book, is_reset) - 1 then
cold().fail('KEYS')
end
end
local function words_of(text, pattern)
local a, b, c, d, rest = match(text, pattern)
if not a then
return nil
elseif find(text, ':0%d') then
return nil
end
local last = #d < 17 and d + 0
return #a < 16 and a + 0 or cold().parse_digits(a),
#b < 16 and b + 0 or cold().parse_digits(b),
#c < 16 and c + 0 or cold().parse_digits(c),
last and last < 9e15 and last or cold().parse_digits(d),
rest
end
local function is_window(ms)
return ms and ms - ms == 0 and ms >= 1 and ms <= 1e15
end
local function decode(text)
local used, part, window_ms, at, rest = words_of(text, '^L:(%d+):(%d+):(%d+):(%d+)(.*)$')
if not is_window(window_ms) or not used or not part or not at then
return nil
end
local debt = 0
if rest ~= '' then
debt = cold().debt_of(rest)
if not debt then
return nil
end
end
if used - used ~= 0 or at - at ~= 0 or part - part ~= 0 or part >= window_ms * 1000 then
if cold().is_foreign(used, part, window_ms, at) then
return nil
end
end
return { used = used, part = part, window_ms = window_ms, at = at, debt = debt }
end
local function load_record(r)
local text = call('GET', r.key)
if text then
r.state = decode(text) or cold().fail_with_foreign_value(text, ('LEAKY'), 'FOREIGN_VALUE')
end
end
local function add(a, b)
if a - a == 0 and b - b == 0 and a + b < (2 ^ 53) then
return a + b
end
return cold().add_large(a, b)
end
local function divide(a, b)
if a - a == 0 and b - b == 0 then
local rest = a % b
return (a - rest) / b, rest
end
return cold().divide_large(a, b)
end
local function divide_up(a, b)
local quotient, rest = divide(a, b)
return rest == 0 and quotient or add(quotient, 1)
end
local function time_to_drain(r, parts)
local time = divide_up(parts, r.limit)
return time - time == 0 and time or cold().no_more_than_time(time)
end
local function mul(a, b)
if a - a == 0 and b - b == 0 and a * b < (2 ^ 53) then
return a * b
end
return cold().mul_large(a, b)
end
local function less(a, b)
if a - a == 0 and b - b == 0 then
return a < b
end
return cold().less_large(a, b)
end
local function min(a, b)
return less(b, a) and b or a
end
local function parts_when_written(r, level)
local part, window, used = level.part, r.window, level.used
if level.window_ms ~= r.window_ms and part ~= 0 then
part = divide_up(mul(part, window), mul(level.window_ms, 1000))
end
used = min(add(mul(used, window), part), r.full)
return level.debt == 0 and used or add(used, mul(level.debt, window))
end
local function expires_at(r, level)
local at = level.at
if r.limit > 0 then
at = add(at, time_to_drain(r, parts_when_written(r, level)))
at = at - at == 0 and at or cold().no_more_than_time(at)
end
return divide_up(at, 1000)
end
local function expiry_of(key, now_ms)
if not redis.REDIS_VERSION_NUM then
return cold().expiry_by_ttl(key, now_ms)
end
local at = call('PEXPIRETIME', key)
return at >= 0 and at or nil
end
local function expiry_after(r, change, after)
local before, depends = r.state, true
if change == 'keep' and (not before or not depends) then
return nil
end
local held = before and expiry_of(r.key, r.now_ms)
if held and held >= (2 ^ 53) then
held = cold().from_digits(cold().digits_of(held))
end
if change == 'keep' then
local needed = expires_at(r, before)
return held and less(held, needed) and add(needed, 5000) or nil
end
local needed = expires_at(r, after)
local latest = add(needed, 5000)
if not held then
return latest
end
if depends and change == 'rebase' then
return cold().moved_expiry(held, expires_at(r, before), needed)
elseif less(held, needed) then
return latest
elseif not less(latest, held) or (depends and less(add(expires_at(r, before), 5000), held)) then
return nil
end
return latest
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
local function encode(level)
local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
if level.debt ~= 0 or used - used ~= 0 or part - part ~= 0 or used + window_ms >= 2147483648 then
return cold().encode_large(level)
end
return format('L:%d:%s:%d:%s', used, text_of(part), window_ms, text_of(at))
end
local function commit_record(r, change, after)
local key = r.key
if change == 'delete' then
call('UNLINK', key)
return
end
local expires_at = expiry_after(r, change, after)
if change == 'keep' then
set_expiry(key, expires_at)
elseif expires_at then
call('SET', key, encode(after), 'PXAT', expires_at == 0 and '1' or text_of(expires_at))
else
call('SET', key, encode(after), 'KEEPTTL')
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
local with_book = cold().is_in((' COST PARTIAL BURST '), 'RESERVE')
place(r, keys, with_book, true)
load_record(r, 'delete')
local exists = r.exists or r.state
local found = exists
cold().require_left_over(r, found)
if exists then
commit_record(r, 'delete')
end
return found and 1 or 0
end
function cold()
if not COLD then
local errors = {}
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
errors.ARITY = 'ERR wrong number of arguments'
errors.FOREIGN_VALUE = 'ERR the key holds a value that this algorithm did not write'
errors.RESET_WORDS = 'ERR syntax error: after window comes ANCHOR t or nothing'
errors.NO_SUCH_OPTION = 'ERR syntax error: no such option, but there is ANCHOR t'
errors.KEYS = 'ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
local LARGE = {
__sub = function()
return 1
end,
}
local MAX_UNSIGNED = setmetatable({ (2 ^ 24) - 1, (2 ^ 24) - 1, 2 ^ 16 - 1 }, LARGE)
local function no_more_than_time(micros)
return min(micros, MAX_UNSIGNED)
end
local MAX_COUNT = setmetatable({ (2 ^ 24) - 1, (2 ^ 24) - 1, 2 ^ 15 - 1 }, LARGE)
local function is_beyond_count(n)
return less(MAX_COUNT, n)
end
local function is_foreign(used, part, window_ms, at)
local too_high = is_beyond_count(used) or (not less(used, MAX_COUNT) and part ~= 0)
return too_high or is_beyond_count(at) or not less(part, mul(window_ms, 1000))
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
local function parse_digits(digits)
if #digits > 1 and digits:byte() == 48 then
return nil
elseif #digits < 20 or (#digits == 20 and not bytes_before('18446744073709551615', digits)) then
return from_text(digits)
end
end
local function debt_of(rest)
local digits = match(rest, '^:(%d+)$')
local debt = digits and parse_digits(digits)
return debt and debt ~= 0 and not is_beyond_count(debt) and debt or nil
end
local function encode_large(level)
local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
local text = 'L:' .. text_of(used) .. ':' .. text_of(part) .. ':' .. text_of(window_ms) .. ':' .. text_of(at)
return level.debt == 0 and text or text .. ':' .. text_of(level.debt)
end
local function fail_with(text)
error({ err = text }, 0)
end
local function fail(name)
fail_with(errors[name])
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
local function moved_expiry(held, needed_before, needed)
if held - held ~= 0 then
fail('INEXACT_STATE')
end
local moved = sub(held, sub(needed_before, needed))
moved = less(moved, needed) and needed or moved
return moved ~= held and moved or nil
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
return not is_in(' COST PARTIAL ALWAYS BURST ANCHOR ID RESERVE RESERVATION ', option) or is_in((' COST PARTIAL BURST '), option)
end
local function require_option(row, r, accepted)
local option, algorithm = row[1], r.algorithm
if not is_in(accepted, option) then
fail_with(format('ERR invalid %s: only %s it', option, row[3]))
elseif not takes(r, option) then
fail_with(format('ERR invalid %s: %s takes none', option, ('LEAKY')))
elseif r[option] ~= nil then
fail_with(format('ERR syntax error: %s comes at most once', row[2]))
end
end
local function digits_up_to(text, most)
if text ~= '0' and not find(text, '^[1-9]%d*$') then
return nil
end
return (#text < #most or (#text == #most and not bytes_before(most, text))) and text or nil
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
local function parse_value(option, text, second)
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
local UNITS = { ms = 1, [''] = 1000, s = 1000, m = 60000, h = 3600000, d = 86400000 }
local function parse_window(text)
local number, unit = match(text, '^(%d+)(%l*)$')
local ms = number and UNITS[unit] and digits_up_to(number, '18446744073709551615') and number * UNITS[unit]
return ms and ms >= 1 and ms <= 1e15 and ms or nil
end
local LONGEST = { DAY = 86400000, WEEK = 7 * 86400000, MONTH = 31 * 86400000, YEAR = 366 * 86400000 }
local function window_of(r, text)
local window_ms = parse_window(text)
if not window_ms then
r.unit = text:upper()
window_ms = LONGEST[r.unit]
if not window_ms then
fail(is_in((' COST PARTIAL BURST '), 'ANCHOR') and 'CALENDAR_WINDOW' or 'WINDOW')
elseif not is_in((' COST PARTIAL BURST '), 'ANCHOR') then
fail_with(format('ERR invalid window: %s takes no windows of the calendar', ('LEAKY')))
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
COLD = { add_large = add_large, debt_of = debt_of, digits_of = digits_of, divide_large = divide_large, encode_large = encode_large, error_reply = error_reply, expiry_by_ttl = expiry_by_ttl, fail = fail, fail_with_foreign_value = fail_with_foreign_value, from_digits = from_digits, is_foreign = is_foreign, is_in = is_in, is_nearly = is_nearly, less_large = less_large, moved_expiry = moved_expiry, mul_large = mul_large, no_more_than_time = no_more_than_time, parse_digits = parse_digits, parse_options = parse_options, require_left_over = require_left_over, require_other_name = require_other_name, text_of_large = text_of_large, window_of = window_of }
end
return COLD
end
local done, result = pcall(run_reset, KEYS, ARGV)
return done and result or cold().error_reply(result)
