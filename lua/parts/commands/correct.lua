-- RL.REFUND and RL.SETTLE

-- Commits a refund or a settlement, and replies as rl_peek does afterwards.
local function correct(r, change, after, charged)
  local algorithm = r.algorithm
  local answer
--@if adds_members
  if not algorithm.adds_members then
--@end
    -- The state afterwards is known, so the reply can be computed first. A record that is no longer needed is gone.
    local expires_at, before, state = nil, r.state, state_after(change, after, r.state)
--@if expiry_after
    if state and algorithm.expiry_after then
      expires_at = algorithm.expiry_after(r, change, after)
    end
--@end
    if expires_at and less(expires_at, r.now_ms) then
      state = nil
    end
    r.state = state
    decide_request(r)
    answer = reply(r, charged)
    r.state = before
--@if adds_members
  end
--@end
  if not r.is_unknown then
    commit_change(r, change, after)
  end
--@if adds_members
  if not answer then
    algorithm.load(r, 'read')
    decide_request(r)
    answer = reply(r, charged)
  end
--@end
  return answer
end

-- The request that a refund or a settlement corrects.
local function parse_correction(words, accepted)
  if not words[FIRST + 1] then
    fail('ARITY')
  end
--@if no_correction
  local algorithm = selected(words)
  if algorithm.no_correction then
    fail(algorithm.no_correction)
  end
--@end
  return parse_all(words, accepted)
end

local function run_refund(keys, words)
  local r = parse_correction(words, REFUND)
  local algorithm = r.algorithm
--@if adds_members
  require_few_members(algorithm.adds_members and r.cost or 0, 'LOG_COST')
--@end
  place(r, keys)
  algorithm.load(r, 'write')
  local change, after = algorithm.refund(r, r.AT, r.cost)
  return correct(r, change, after, 0)
end

--@if RESERVE
-- RESERVATION id ACTUAL m: an id that is not known changes nothing, so the call may be sent again.
local function settle_reservation(r)
  local algorithm = r.algorithm
  local book, change, after, charged = load_book(r, r.RESERVATION), 'keep', nil, 0
  algorithm.load(r, 'write')
  r.book = book
  give_back_book(r)
  local charge = book.own
  if charge then
    change, after = algorithm.settle_reserved(r, charge, r.ACTUAL)
    charged = r.ACTUAL
    book.own = nil
  end
  r.is_unknown = not charge and not r.gave_back
  local answer = correct(r, change, after, charged)
  commit_book(book)
  return answer
end
--@end

local function run_settle(keys, words)
  local r = parse_correction(words, SETTLEMENT)
  local algorithm = r.algorithm
  local reserved, actual = r.RESERVED, r.ACTUAL
--@if RESERVE
  if actual and r.RESERVATION then
    place(r, keys, true)
    return settle_reservation(r)
  end
--@end
  if not reserved or not actual then
    fail('SETTLEMENT')
  end
  local difference = math.abs(reserved - actual)
--@if adds_members
  require_few_members(algorithm.adds_members and difference or 0, 'LOG_DIFFERENCE')
--@end
  place(r, keys)
  algorithm.load(r, 'write')
  local correction = actual < reserved and algorithm.refund or algorithm.overcharge
  local change, after = correction(r, r.AT, difference)
  return correct(r, change, after, actual)
end
