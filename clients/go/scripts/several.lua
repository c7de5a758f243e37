-- The end of a script for several limits. RL.MULTI: if every limit allows the request, all are charged; if one denies, none
-- is. RL.SHARE: the first limit that allows pays; it is charged, and each one after it, whatever it says. A script is
-- lua/head.lua, the algorithms that the call names, in the order of the alphabet, and this file:
--
--   (cat lua/head.lua lua/bucket.lua lua/fixed.lua lua/several.lua) | redis-cli -x SCRIPT LOAD
--   redis-cli EVALSHA <the reply> 2 user:42 user:42:day MULTI 2 TOKEN 1m 60 COST 2 FIXED 1d 1000 LINE
--
-- There is a key for each limit, in the order of the limits. The reply is {allowed, {reply of limit 1, ...}}, where RL.SHARE
-- says which limit paid, 0 for none.

local function several()
  local words, shares = ARGV, what == 'SHARE'
  local count = string.match(words[2] or '', '^[1-9]%d?$')
  if what ~= 'MULTI' and not shares then
    fail('invalid command: expected MULTI or SHARE first')
  elseif not words[shares and 8 or 5] then
    fail('wrong number of arguments')
  elseif not count or count + 0 > (shares and 8 or 64) or shares and count + 0 < 2 then
    fail('invalid numlimits')
  end
  -- With room, since a table that grows takes long.
  local requests, members, at = { nil, nil, nil, nil }, 0, 3
  for n = 1, count do
    algorithms.number = n
    local word = words[at] and string.upper(words[at])
    if not word or word == 'LINE' then
      algorithms.number = not word and n or nil
      fail(word and 'syntax error' or 'invalid numlimits')
    end
    local algorithm = algorithms[word]
    if not algorithm or not algorithm.load or shares and not string.find(algorithm.takes, 'ALWAYS') then
      fail('invalid algorithm')
    elseif not words[at + 2] then
      fail('syntax error')
    end
    local r
    r, at = request(word, KEYS[n], words, at + 1)
    for other = 1, n - 1 do
      if requests[other][2].key == r.key then
        fail('invalid key: two limits would keep their state in one key')
      end
    end
    -- A request, with room for its state, what `decide` says, and the reply.
    requests[n] = { algorithm, r, false, false, 0, false, false, false }
    members = members + (r.members or 0)
  end
  local word = words[at] and string.upper(words[at])
  is_line = word == 'LINE'
  if word and not is_line then
    algorithms.number = not algorithms[word] and algorithms.number or nil
    fail(algorithms[word] and 'invalid numlimits' or 'syntax error')
  end
  algorithms.number = nil
  if words[at + 1] then
    fail('syntax error')
  elseif members > 1000 then
    fail('invalid COST')
  end
  for n = 1, shares and count - 1 or 0 do
    if requests[n][2].SHADOW then
      fail('invalid SHADOW')
    end
  end
  -- The first limit that is charged: of RL.MULTI that is limit 1, unless one denies. The others follow.
  local first = not shares and 1 or nil
  for n, one in ipairs(requests) do
    algorithms.number = n
    local algorithm, r = one[1], one[2]
    local state = algorithm.load(r)
    if shares and first then
      r.ALWAYS, r.SHADOW, r.lent = true, nil, algorithm.lent and algorithm.lent(r, state, r.COST or 1)
    end
    one[3], one[4], one[5], one[6], one[7] = state or false, decide(algorithm, r, state)
    if shares then
      first = first or one[4] and n
    else
      first = one[4] and first
    end
  end
  algorithms.number = nil
  -- What only shadow mode allows is charged nowhere.
  local charged = first and not (shares and requests[first][2].shadowed) and first or 65
  for n, one in ipairs(requests) do
    one[8] = reply(one[1], one[2], one[3] or nil, n < charged and 0 or nil, one[4], one[5], one[6], one[7])
  end
  for n, one in ipairs(requests) do
    local change = (n >= charged or one[6] ~= 'charge') and one[6] or nil
    one[1].commit(one[2], one[3] or nil, change, one[7])
    requests[n] = one[8]
  end
  return { first or 0, requests }
end

return run(nil, several)
