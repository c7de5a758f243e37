-- RL.RESET

local function run_reset(keys, words)
  local algorithm = selected(words)
  local window = words[FIRST]
  if not window then
    fail('ARITY')
  end
  -- The window selects the counter of FIXED. The limit has no influence.
  local r = { algorithm = algorithm, limit = 0, capacity = 0 }
  local at = parse_options(r, words, FIRST + 1, RESET)
  if words[at] then
    fail(is_nearly(words[at]:upper(), 'ANCHOR') and 'NO_SUCH_OPTION' or 'RESET_WORDS')
  end
  r.anchor_ms = r.ANCHOR and r.ANCHOR * 1000
  r.window_ms = window_of(r, window)
  local with_book = is_in(algorithm.takes, 'RESERVE')
  place(r, keys, with_book, true)
--@if RESERVE
  local has_hash = with_book and has_book(r)
--@end
  algorithm.load(r, 'delete')
  local exists = r.exists or r.state
  local found = exists
--@if RESERVE
  found = exists or has_hash
--@end
  require_left_over(r, found)
  if exists then
    algorithm.commit(r, 'delete')
  end
--@if RESERVE
  if has_hash then
    call('UNLINK', r.hash, r.ends)
  end
--@end
  return found and 1 or 0
end
