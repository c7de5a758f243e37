-- RL.<ALGO>

-- The request of a command with one limit: no word is left over.
local function parse_all(words, accepted)
  local algorithm = selected(words)
  local r, at = parse_request(algorithm, words, FIRST, accepted)
  if words[at] then
    fail_with_usage(r, accepted, words[at])
  end
--@if adds_members
  if algorithm.adds_members and r.cost > 1000 then
    require_few_members(most_members_added(r), 'LOG_COST')
  end
--@end
  return r
end

-- Reads the clock and takes the keys. `with_book`: those of the reservations are among them.
local function place(r, keys, with_book, is_reset)
  read_clock(r)
--@if derived
  if #keys == 1 then
    keys = derive_keys(r, keys, with_book)
  end
--@end
  if #keys ~= take_keys(r, keys, 1, with_book, is_reset) - 1 then
    fail('KEYS')
--@if suffix
  elseif r.wrong_clock then
    fail_by_clock(r)
--@end
  end
end

local function run_check(keys, words)
  local r = parse_all(words, CHECK)
  local algorithm = r.algorithm
--@if ID
  if not r.ID and algorithm.takes == ' ID ' then
    fail('ID_MISSING')
  end
--@end
  place(r, keys, r.RESERVE)
--@if RESERVE
  if r.RESERVE then
    load_and_reserve(r)
  else
--@end
    algorithm.load(r, 'write')
    decide_request(r)
--@if RESERVE
  end
--@end
  local answer = reply(r, charged_by(r))
  if r.SHADOW or r.RESERVE then
    commit_rare_request(r, true)
  else
    algorithm.commit(r, r.change, r.after)
  end
  return answer
end
