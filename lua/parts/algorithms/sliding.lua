-- SLIDING: each unit is a member of a sorted set, scored with its millisecond.

local function load(r, purpose)
  load_set(r, '0', r.now_ms - r.window_ms, purpose)
  r.oldest, r.newest, r.held = nil, nil, nil
  -- The first log of a call may move half of the budget, each other one half of that before it.
  r.may_move = MAX_MOVED
  if purpose == 'write' then
    moved_left = (moved_left - moved_left % 2) / 2
    r.may_move = moved_left
  end
end

-- The scores of the oldest and of the newest member, and the expiry of the key; 0 if there is none.
local function oldest_of(r)
  r.oldest = r.oldest or r.exists and score_at(r.key, 0) or 0
  return r.oldest
end

local function newest_of(r)
  r.newest = r.newest or r.exists and score_at(r.key, -1) or 0
  return r.newest
end

local function held_by(r)
  r.held = r.held or r.exists and expiry_of(r.key, r.now_ms) or 0
  return r.held
end

local function decide(r, cost)
  local len = r.len
  local allowed = len + (cost == 0 and 1 or cost) <= r.limit
  r.allowed, r.count, r.ttl, r.change = allowed, len, seconds_of(r.window_ms), 'keep'
  if allowed and cost > 0 then
    r.change, r.after = 'charge', { add = cost }
  elseif not allowed and newest_of(r) > r.now_ms then
    -- Members from before the clock stepped back count as of now. Else they would block the key until it catches up.
    r.change, r.after = 'rebase', { to_now = true }
  end
end

-- The ms of the member of a rank.
local function made_at(r, rank)
  local score = rank == 0 and oldest_of(r) or rank >= 0 and rank < r.len + r.expired and score_at(r.key, rank)
  return score and math.max(0, math.ceil(score))
end

--@cold
-- The ms in which the member of a rank is made, if some are ahead of the clock.
local function made_out_of_order(r, rank)
  local now_ms, added = r.now_ms, r.added
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
  return at
end

--@hot
-- The ms in which the n-th entry leaves, with those of this request among the others.
local function leaves_at(r, n)
  if n >= r.len + r.added - r.never then
    return nil
  end
  local rank = n + r.never + r.expired
  if newest_of(r) > r.now_ms then
    --@rare
    return made_out_of_order(r, rank) + r.window_ms
  end
  return (rank < r.len + r.expired and made_at(r, rank) or r.now_ms) + r.window_ms
end

local function forecast(r, change, after)
  r.moved, r.added, r.rebased = nil, change == 'charge' and after.add or 0, change == 'rebase'
  local remaining = r.limit - r.len - r.added
  r.remaining, r.never = remaining > 0 and remaining or 0, 0
  -- Neither the scripts nor the module remove scores below 0. Such members never leave the window, but go with the key.
  if oldest_of(r) < 0 then
    --@rare
    r.never = call('ZCOUNT', r.key, '-inf', '(0')
  end
end

local function wait(r, cost)
  -- The key still exists in the millisecond of its expiry.
  return wait_in_order(r, cost, r.len + r.added, leaves_at, (new_log_expiry(r, held_by(r)) or held_by(r)) + 1)
end

-- Adds members of one millisecond, named `<ms>-0.<n>`. A name can be taken: by a unit of the same time, or by a client.
local function add_members(r, ms, count)
  local key, score = r.key, format('%.0f', ms)
  local n = r.newest and r.newest < ms and 0 or call('ZCOUNT', key, score, score)
  while count > 1 do
    local part = {}
    for _ = 1, math.min(count, 1000) do
      part[#part + 1] = score
      part[#part + 1] = format('%s-0.%.0f', score, n)
      n = n + 1
    end
    count = count - call('ZADD', key, 'NX', unpack(part))
  end
  while count > 0 do
    count = count - call('ZADD', key, 'NX', score, score .. '-0.' .. text_of(n))
    n = n + 1
  end
end

--@cold
local function commit_rare(r, change, after)
  local key = r.key
  if change == 'delete' then
    call('UNLINK', key)
    return
  end
  local expires_at = new_log_expiry(r, held_by(r))
  if after.to_now then
    local score = format('%.0f', r.now_ms)
    rescore(key, score, call('ZRANGEBYSCORE', key, '(' .. score, '+inf', 'LIMIT', '0', text_of(r.may_move)))
    set_expiry(key, expires_at)
    return
  end
  -- From the first to the last rank. The expiry comes first, since the key may go with its last member.
  local members = r.len + r.expired
  local first, last = members - after.remove, members - 1
  if after.up_to then
    last = call('ZCOUNT', key, '-inf', text_of(after.up_to)) - 1
    first = math.max(0, last + 1 - after.remove)
  end
  if last < 0 or first > 0 or last + 1 < members then
    set_expiry(key, expires_at)
  end
  if last >= 0 then
    call('ZREMRANGEBYRANK', key, format('%.0f', first), format('%.0f', last))
  end
end

--@hot
local function commit(r, change, after)
  local key = r.key
  if change == 'charge' then
    local expires_at = new_log_expiry(r, held_by(r))
    add_members(r, after.earlier or r.now_ms, after.add)
    set_expiry(key, expires_at)
  elseif change ~= 'keep' then
    commit_rare(r, change, after)
  elseif r.exists then
    set_expiry(key, new_log_expiry(r, held_by(r)))
  end
end

--@cold
-- Removes the newest members; with `at_ms`, those of that time, then the nearest older ones.
local function refund(r, at_ms, cost)
  local count = math.min(r.len, cost)
  if count == 0 then
    return 'keep'
  end
  return 'refund', { remove = count, up_to = at_ms }
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

return {
  word = 'SLIDING',
  takes = ' COST PARTIAL ',
  ttl_of_script = true,
  adds_members = true,
  load = load,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit,
  refund = refund,
  overcharge = overcharge,
}
