-- Sorted sets: the log of SLIDING and the leases of LEASE. What is loaded: `len`, `expired` and `exists`.

-- What a call may still remove, over all its limits, of what no longer counts: entries of logs and leases, and
-- reservations that have ended; and how many reservations it may look at that have no order, and entries of a log that
-- are ahead of the clock it may move. It leaves the rest to later calls.
local MAX_EXPIRED = 4000
local MAX_ENDED = 1000
local MAX_STEP = 500
local MAX_MOVED = 500
local expired_left, ended_left, unordered_left, moved_left = MAX_EXPIRED, MAX_ENDED, MAX_ENDED, 2 * MAX_MOVED

--@cold
-- Counts the members that no longer count, and removes as many of them as the call may.
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

--@hot
-- Loads a sorted set. Members with a score from `lowest` to `through` no longer count. They are removed, lowest score
-- first, as far as the budget of the call reaches. The others are counted.
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

-- The score of the member of a rank, counted from the end if it is negative.
local function score_at(key, rank)
  rank = format('%.0f', rank)
  local score = call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]
  return score and tonumber(score)
end

-- Of a log: at least 1.5 windows are left after every call. A call that finds less sets 2 windows.
local function new_log_expiry(r, held)
  local now_ms, window_ms = r.now_ms, r.window_ms
  if held and 2 * (held - now_ms) >= 3 * window_ms then
    return nil
  end
  return now_ms + 2 * window_ms
end

--@cold
-- Gives members another score.
local function rescore(key, score, members)
  local pairs_of_it = {}
  for _, member in ipairs(members) do
    pairs_of_it[#pairs_of_it + 1] = score
    pairs_of_it[#pairs_of_it + 1] = member
  end
  call_in_parts({ 'ZADD', key, 'XX' }, pairs_of_it)
end
