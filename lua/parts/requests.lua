-- Decisions of requests.

-- Reads the server's clock. A call reads it once.
local function read_clock(r)
  local time = call('TIME')
  local now = time[1] * 1000000 + time[2]
  r.now, r.now_ms = now, (now - now % 1000) / 1000
end

--@cold
local function remaining_of(r)
  local algorithm = r.algorithm
  algorithm.forecast(r, 'keep', r.state)
  return r.remaining
end

-- ALWAYS: charges the cost whatever the limit says. The request is allowed if no more than the limit is counted then. A
-- cost of 0 charges nothing. Under a limit of 0 everything is denied.
local function decide_always(r)
  local algorithm = r.algorithm
  local cost = r.cost
  algorithm.decide(r, 0)
  local change, after = algorithm.overcharge(r, nil, cost)
  if cost > 0 then
    r.change, r.after = change, after
  end
  local state = state_after(r.change, r.after, r.state)
  algorithm.forecast(r, r.change, state)
  r.allowed = r.capacity > 0 and algorithm.wait(r, 0) == 0
  r.needed = r.capacity > 0 and cost or needed_for(cost)
  if algorithm.verdict_after then
    r.count, r.ttl = algorithm.verdict_after(state, r.now_ms)
  elseif r.allowed then
    r.ttl = seconds_of(exact(algorithm.wait(r, r.capacity)))
  else
    local wait = algorithm.wait(r, r.needed)
    r.ttl = wait and math.max(1, seconds_of(exact(wait))) or -1
  end
end

-- Allows what the limit denies: in shadow mode, or since the reservation is open. The change stays that of a denial.
local function conclude(r)
  local algorithm = r.algorithm
  local only_a_part = r.PARTIAL and r.decided_cost < r.cost
  r.shadowed = r.SHADOW and not r.open and (only_a_part or not r.allowed)
  if not r.allowed and (r.shadowed or r.open) then
    r.allowed = true
    if not algorithm.ttl_of_script then
      local _, _, _, reset_ms = figures(r)
      r.ttl = seconds_of(reset_ms)
    end
  end
end

-- Decides on a request with options that change how.
local function decide_rare(r)
  local algorithm = r.algorithm
  local cost = r.cost
  if r.PARTIAL then
    -- If nothing fits, a cost of 0 is denied and counted nowhere.
    cost = math.min(cost, remaining_of(r))
  end
  r.decided_cost = cost
  if r.ALWAYS then
    decide_always(r)
  else
    algorithm.decide(r, cost)
  end
end

--@hot
-- Decides on a state that is loaded.
local function decide_request(r)
  local algorithm = r.algorithm
  if r.PARTIAL or r.ALWAYS then
    decide_rare(r)
  else
    local cost = r.cost
    r.decided_cost = cost
    algorithm.decide(r, cost)
  end
  if r.SHADOW then
    conclude(r)
  end
end

--@cold
-- Writes a change of a state. What has been given back before is written with it.
local function commit_change(r, change, after)
  local algorithm = r.algorithm
--@if RESERVE
  if r.gave_back then
    after = state_after(change, after, r.state)
    r.state = r.stored
    if not after then
      change = r.stored and 'delete' or 'keep'
    elseif change ~= 'charge' then
      change = 'refund'
    end
  end
--@end
  algorithm.commit(r, change, after)
end

--@if RESERVE
-- RESERVE: gives back what has ended, and decides.
local function decide_reserving(r)
  local algorithm = r.algorithm
  local cost, book = r.cost, r.book
  give_back_book(r)
  r.open, r.full_for = open_of_book(book), full_for_book(book)
  if r.open then
    cost = 0
  elseif r.PARTIAL then
    cost = math.min(cost, remaining_of(r))
  end
  local decide_at = algorithm.decide_reserving or algorithm.decide
  decide_at(r, cost)
  if r.full_for and r.allowed then
    decide_at(r, 0)
    r.allowed, r.needed = false, needed_for(cost)
    if not algorithm.ttl_of_script then
      r.ttl = seconds_of(r.full_for)
    end
  end
  r.decided_cost = cost
  conclude(r)
end

-- Whether the request makes a reservation, if every limit of the call allows it.
local function opens(r)
  local fits = not r.shadowed
  if r.PARTIAL then
    fits = r.decided_cost > 0 and not r.full_for
  end
  return not r.open and r.allowed and fits
end

-- Loads the reservations and the state of a request with RESERVE, and decides.
local function load_and_reserve(r)
  local algorithm = r.algorithm
  r.book = load_book(r, r.RESERVE.id)
  algorithm.load(r, 'write')
  decide_reserving(r)
end
--@end

-- If the call is not allowed, since another limit denies, what has ended is given back all the same.
local function commit_rare_request(r, allowed)
  local algorithm = r.algorithm
  if not allowed and r.change == 'charge' then
    r.change, r.after = 'keep', nil
  end
--@if in_shadow
  if r.SHADOW and algorithm.in_shadow then
    r.change, r.after = algorithm.in_shadow(r, r.change, r.after)
  end
--@end
--@if RESERVE
  local book = r.book
  if book and allowed and r.open then
    prolong_book(book, r.open, r.RESERVE.ttl)
  elseif book and allowed and opens(r) then
    local after = state_after(r.change, r.after, r.state)
    open_book(book, r.decided_cost, r.RESERVE.ttl, algorithm.counts_until(r, after))
  end
--@end
  commit_change(r, r.change, r.after)
--@if RESERVE
  if book then
    commit_book(book)
  end
--@end
end

--@hot
-- Loads what the request needs to write, and decides.
local function load_and_decide(r)
  local algorithm = r.algorithm
--@if RESERVE
  if r.RESERVE then
    load_and_reserve(r)
    return
  end
--@end
  algorithm.load(r, 'write')
  decide_request(r)
end

-- Writes the change of a request of which every limit is `allowed`, or not.
local function commit_request(r, allowed)
  local algorithm = r.algorithm
  if not allowed or r.SHADOW or r.RESERVE then
    commit_rare_request(r, allowed)
  else
    algorithm.commit(r, r.change, r.after)
  end
end
