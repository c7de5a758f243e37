-- RL.RELEASE and RL.RENEW

-- `id [id ...]` from an index on: the rest of a call. The result has each id once.
local function parse_ids(words, first)
  if #words - first + 1 > 1000 then
    fail('TOO_MANY_IDS')
  end
  local ids, seen = {}, {}
  for n = first, #words do
    local id = parse_id(words[n], 512) or fail('IDS')
    if not seen[id] then
      seen[id] = true
      ids[#ids + 1] = id
    end
  end
  return #ids > 0 and ids or fail('ARITY')
end

-- The request of a call that names holders from an index on.
local function begin_with_ids(keys, words, window_ms, first)
  local r = { window_ms = window_ms }
  local ids = parse_ids(words, first)
  if #keys ~= 1 then
    fail('KEYS')
  end
  r.key = keys[1]
  require_other_name(r.key)
  read_clock(r)
  return r, ids
end

local function run_release(keys, words)
  local algorithm = leases()
  return algorithm.release(begin_with_ids(keys, words, 0, 1))
end

local function run_renew(keys, words)
  local algorithm = leases()
  if not words[2] then
    fail('ARITY')
  end
  local window_ms = parse_window(words[1]) or fail('WINDOW')
  return algorithm.renew(begin_with_ids(keys, words, window_ms, 2))
end
