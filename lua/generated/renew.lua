-- RL.RENEW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local COLD, cold
local function parse_ids(words, first)
if #words - first + 1 > 1000 then
cold().fail('TOO_MANY_IDS')
end
local ids, seen = {}, {}
for n = first, #words do
local id = cold().parse_id(words[n], 512) or cold().fail('IDS')
if not seen[id] then
seen[id] = true
ids[#ids + 1] = id
end
end
return #ids > 0 and ids or cold().fail('ARITY')
end
local call = redis.call
local function read_clock(r)
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
r.now, r.now_ms = now, (now - now % 1000) / 1000
end
local function begin_with_ids(keys, words, window_ms, first)
local r = { window_ms = window_ms }
local ids = parse_ids(words, first)
if #keys ~= 1 then
cold().fail('KEYS')
end
r.key = keys[1]
cold().require_other_name(r.key)
read_clock(r)
return r, ids
end
local function run_renew(keys, words)
if not words[2] then
cold().fail('ARITY')
end
local window_ms = cold().parse_window(words[1]) or cold().fail('WINDOW')
return cold().renew(begin_with_ids(keys, words, window_ms, 2))
end
function cold()
if not COLD then
local errors = {}
errors.RESERVED_KEY = 'ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
.. 'reservations'
errors.ARITY = 'ERR wrong number of arguments'
errors.WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
.. '10^12 seconds'
errors.IDS = 'ERR invalid id: expected 1 to 512 bytes'
errors.TOO_MANY_IDS = 'ERR invalid id: expected at most 1000 ids a call'
errors.KEYS = 'ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
local find, format, match, part_of = string.find, string.format, string.match, string.sub
local expired_left, ended_left, unordered_left, moved_left = 4000, 1000, 1000, 2 * 500
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
members, expired = remove_some(key, lowest, last, members, most)
end
end
r.len, r.expired, r.exists = members - expired, expired, members > 0
end
local function end_of_score(score)
return score < 2 ^ 64 and math.max(0, math.ceil(score)) or (1 / 0)
end
local function end_of(r, id)
local score = r.len > 0 and call('ZSCORE', r.key, id)
local ends = score and end_of_score(tonumber(score))
return ends and ends > r.now_ms and ends or nil
end
local function holding(r, ids)
load_set(r, '-inf', r.now_ms, 'write')
local held = {}
for _, id in ipairs(ids) do
held[#held + 1] = end_of(r, id) and id
end
return held
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
local function rescore(key, score, members)
local pairs_of_it = {}
for _, member in ipairs(members) do
pairs_of_it[#pairs_of_it + 1] = score
pairs_of_it[#pairs_of_it + 1] = member
end
call_in_parts({ 'ZADD', key, 'XX' }, pairs_of_it)
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
local function expire_with_the_last(key, last, now_ms)
if last >= (2 ^ 53) or expiry_of(key, now_ms) ~= last then
call('PEXPIREAT', key, last < 2 ^ 63 and format('%.0f', last) or '9223372036854775807')
end
end
local function score_at(key, rank)
rank = format('%.0f', rank)
local score = call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]
return score and tonumber(score)
end
local function last_end(key)
local score = score_at(key, -1)
return score and end_of_score(score)
end
local function move_ends(key, ends, holders, now_ms)
rescore(key, format('%.0f', ends), holders)
expire_with_the_last(key, last_end(key), now_ms)
end
local function renew(r, ids)
local holders = holding(r, ids)
if #holders > 0 then
move_ends(r.key, r.now_ms + r.window_ms, holders, r.now_ms)
end
return #holders
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
local UNITS = { ms = 1, [''] = 1000, s = 1000, m = 60000, h = 3600000, d = 86400000 }
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
local function parse_window(text)
local number, unit = match(text, '^(%d+)(%l*)$')
local ms = number and UNITS[unit] and digits_up_to(number, '18446744073709551615') and number * UNITS[unit]
return ms and ms >= 1 and ms <= 1e15 and ms or nil
end
local function parse_id(text, most)
return text and #text >= 1 and #text <= most and text
end
local function has_name_of_reservations(key)
return key:sub(-9) == ':reserved' or key:sub(-14) == ':reserved:ends'
end
local function require_other_name(key)
if has_name_of_reservations(key) then
fail('RESERVED_KEY')
end
end
COLD = { error_reply = error_reply, fail = fail, parse_id = parse_id, parse_window = parse_window, renew = renew, require_other_name = require_other_name }
end
return COLD
end
local done, result = pcall(run_renew, KEYS, ARGV)
return done and result or cold().error_reply(result)
