-- RL.PEEK

local function run_peek(keys, words)
  local r = parse_all(words, PEEK)
  place(r, keys)
  local algorithm = r.algorithm
  algorithm.load(r, 'read')
  decide_request(r)
  return reply(r, 0)
end
