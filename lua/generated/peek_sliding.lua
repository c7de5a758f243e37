-- RL.PEEK SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
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
if is_short and option == 'COST' and (' COST PARTIAL ') ~= ' ID ' and find(value, '^[1-9]%d*$') then
r.form, r.cost, at = 'LINE', value + 0, at + 3
elseif is_short and option == 'ID' and (' COST PARTIAL ') == ' ID ' and value ~= '' then
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
if true and r.cost > 1000 then
cold().require_few_members(cold().most_members_added(r), 'LOG_COST')
end
return r
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
return at
end
local function place(r, keys, with_book, is_reset)
read_clock(r)
if #keys ~= take_keys(r, keys, 1, with_book, is_reset) - 1 then
cold().fail('KEYS')
end
end
local expired_left, ended_left, unordered_left, moved_left = 4000, 1000, 1000, 2 * 500
local function load_set(r, lowest, through, purpose)
local key = r.key
local members, expired = call('ZCARD', key), 0
if members > 0 and through >= 0 and purpose ~= 'delete' then
local last = format('%.0f', through)
local most = purpose == 'read' and 0 or expired_left
if members <= most then
local removed = call('ZREMRANGEBYSCORE', key, lowest, last)
members, expired_left = members - removed, most - removed
else
members, expired = cold().remove_some(key, lowest, last, members, most)
end
end
r.len, r.expired, r.exists = members - expired, expired, members > 0
end
local function load(r, purpose)
load_set(r, '0', r.now_ms - r.window_ms, purpose)
r.may_move = 500
if purpose == 'write' then
moved_left = (moved_left - moved_left % 2) / 2
r.may_move = moved_left
end
end
local function seconds_of(ms)
local rest = ms % 1000
return ms < 0 and -1 or rest == 0 and ms / 1000 or (ms - rest) / 1000 + 1
end
local function add(a, b)
if a - a == 0 and b - b == 0 and a + b < (2 ^ 53) then
return a + b
end
return cold().add_large(a, b)
end
local function decide(r, cost)
local key, len = r.key, r.len
local allowed = len + (cost == 0 and 1 or cost) <= r.limit
r.allowed, r.count, r.ttl, r.change = allowed, len, seconds_of(r.window_ms), 'keep'
if allowed and cost > 0 then
r.change, r.after = 'charge', { add = cost }
elseif not allowed and len > 0 and call('ZCOUNT', key, '(' .. format('%.0f', r.now_ms), '+inf') > 0 then
r.change, r.after = 'rebase', { to_now = true }
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
local function score_at(key, rank)
rank = format('%.0f', rank)
local score = call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]
return score and tonumber(score)
end
local function never_leaving(r)
local key = r.key
local lowest = r.exists and score_at(key, 0)
return lowest and lowest < 0 and call('ZCOUNT', key, '-inf', '(0') or 0
end
local function made_at(r, rank)
local score = rank >= 0 and score_at(r.key, rank)
return score and math.max(0, math.ceil(score))
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
local function leaves_at(r, n)
local now_ms, added = r.now_ms, r.added
r.never = r.never or never_leaving(r)
if n >= r.len + added - r.never then
return nil
end
local rank = n + r.never + r.expired
local at = made_at(r, rank)
if at and added > 0 and at > now_ms then
at = nil
end
if not at then
local later = made_at(r, rank - added)
at = later and later > now_ms and later or now_ms
end
if r.rebased then
r.moved = r.moved or call('ZCOUNT', r.key, '-inf', text_of(now_ms)) + r.may_move
at = rank < r.moved and math.min(at, now_ms) or at
end
return at + r.window_ms
end
local function wait_in_order(r, cost, charged, leaves_at, gone_at)
local room = r.limit - cost
if room < 0 then
return nil
elseif charged <= room then
return 0
end
local left = leaves_at(r, charged - room - 1)
if gone_at and (not left or gone_at < left) then
left = gone_at
end
return left and (left >= (2 ^ 53) and (1 / 0) or math.max(0, left - r.now_ms))
end
local function new_log_expiry(r, held)
local now_ms, window_ms = r.now_ms, r.window_ms
if held and 2 * (held - now_ms) >= 3 * window_ms then
return nil
end
return now_ms + 2 * window_ms
end
local function wait(r, cost)
return wait_in_order(r, cost, r.len + r.added, leaves_at, (new_log_expiry(r, r.held) or r.held) + 1)
end
local function expiry_of(key, now_ms)
if not redis.REDIS_VERSION_NUM then
return cold().expiry_by_ttl(key, now_ms)
end
local at = call('PEXPIRETIME', key)
return at >= 0 and at or nil
end
local function forecast(r, change, after)
r.never, r.moved, r.added, r.rebased = nil, nil, change == 'charge' and after.add or 0, change == 'rebase'
local remaining = r.limit - r.len - r.added
r.remaining = remaining > 0 and remaining or 0
r.held = r.exists and expiry_of(r.key, r.now_ms) or nil
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
local function run_peek(keys, words)
local r = parse_all(words, ' form COST PARTIAL ALWAYS BURST ANCHOR ID AS SHADOW ')
place(r, keys)
load(r, 'read')
decide_request(r)
return reply(r, 0)
end
function cold()
if not COLD then
local errors = {}
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
errors.INEXACT_REPLY = 'ERR the reply has a number above 9007199254740991, which needs the module'
errors.ARITY = 'ERR wrong number of arguments'
errors.LOG_COST = 'ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
.. 'COUNTER, TOKEN, LEAKY or GCRA for more'
errors.KEYS = 'ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
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
local function remove_some(key, lowest, last, members, most)
local expired = call('ZCOUNT', key, lowest, last)
local removed = math.min(expired, most)
if removed > 0 then
local first = lowest == '0' and call('ZCOUNT', key, '-inf', '(0') or 0
call('ZREMRANGEBYRANK', key, format('%.0f', first), format('%.0f', first + removed - 1))
members, expired, expired_left = members - removed, expired - removed, most - removed
end
return members, expired
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
return not is_in(' COST PARTIAL ALWAYS BURST ANCHOR ID RESERVE RESERVATION ', option) or is_in((' COST PARTIAL '), option)
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
fail_with(format('ERR invalid %s: %s takes none', option, ('SLIDING')))
elseif r[option] ~= nil then
fail_with(format('ERR syntax error: %s comes at most once', row[2]))
end
end
local function min(a, b)
return less(b, a) and b or a
end
local MAX_UNSIGNED = setmetatable({ (2 ^ 24) - 1, (2 ^ 24) - 1, 2 ^ 16 - 1 }, LARGE)
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
fail(is_in((' COST PARTIAL '), 'ANCHOR') and 'CALENDAR_WINDOW' or 'WINDOW')
elseif not is_in((' COST PARTIAL '), 'ANCHOR') then
fail_with(format('ERR invalid window: %s takes no windows of the calendar', ('SLIDING')))
end
end
return window_ms
end
local function most_members_added(r)
if not true then
return 0
elseif r.capacity < r.cost then
return r.PARTIAL and r.capacity or 0
end
return r.cost
end
local function require_few_members(members, text)
if members > 1000 then
fail(text)
end
end
local function has_name_of_reservations(key)
return key:sub(-9) == ':reserved' or key:sub(-14) == ':reserved:ends'
end
local function require_other_name(key)
if has_name_of_reservations(key) then
fail('RESERVED_KEY')
end
end
local function conclude(r)
local only_a_part = r.PARTIAL and r.decided_cost < r.cost
r.shadowed = r.SHADOW and not r.open and (only_a_part or not r.allowed)
if not r.allowed and (r.shadowed or r.open) then
r.allowed = true
if not true then
local _, _, _, reset_ms = figures(r)
r.ttl = seconds_of(reset_ms)
end
end
end
local function remaining_of(r)
forecast(r, 'keep', r.state)
return r.remaining
end
local function overcharge(r, at_ms, cost)
if cost == 0 then
return 'keep'
elseif not at_ms or not less(at_ms, r.now_ms) then
return 'charge', { add = cost }
elseif at_ms <= r.now_ms - r.window_ms then
return 'keep'
end
return 'charge', { add = cost, earlier = at_ms }
end
local function state_after(change, after, before)
if change == 'keep' then
return before
end
return change ~= 'delete' and after or nil
end
local function needed_for(cost)
return cost == 0 and 1 or cost
end
local function exact(n)
if n - n ~= 0 or n >= (2 ^ 53) then
fail('INEXACT_REPLY')
end
return n
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
local first, number = r.AS or ('SLIDING'):lower(), 2
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
COLD = { add_large = add_large, conclude = conclude, decide_rare = decide_rare, error_reply = error_reply, expiry_by_ttl = expiry_by_ttl, fail = fail, fail_with_usage = fail_with_usage, long_line = long_line, most_members_added = most_members_added, mul_large = mul_large, other_reply = other_reply, parse_count = parse_count, parse_options = parse_options, part_allowed = part_allowed, remove_some = remove_some, require_few_members = require_few_members, require_other_name = require_other_name, text_of_large = text_of_large, window_of = window_of }
end
return COLD
end
local done, result = pcall(run_peek, KEYS, ARGV)
return done and result or cold().error_reply(result)
