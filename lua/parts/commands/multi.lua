-- RL.MULTI: several limits. If every one allows, all are charged; if one denies, none is.

-- Runs an action for one limit of a call. Its error gets the number of the limit, after the code.
local function of_limit(number, action)
  local done, result = pcall(action)
  if done then
    return result
  end
  local text = type(result) == 'table' and result.err or result
  if type(result) == 'table' or find(text, '^%u+ ') then
    fail_with((text:gsub(' ', format(' limit %d: ', number), 1)))
  end
  error(result, 0)
end

-- `ERR clock` with the suffixes of each limit that has one.
local function fail_by_clocks(requests)
  local texts = { format('ERR clock %.0f', requests[1].now_ms) }
  for _, r in ipairs(requests) do
    local algorithm = r.algorithm
    if algorithm.suffix then
      texts[#texts + 1] = both_suffixes(r)
    end
  end
  fail_with(table.concat(texts, ' '))
end

-- Adds the limit that begins at a word. Returns what follows.
local function add_limit(requests, state_keys, keys, key_at, words, at)
  local word = words[at] or fail('FEWER_LIMITS')
  if FORMS[word:upper()] then
    fail(words[at + 1] and 'AFTER_FORM' or 'FEWER_LIMITS')
  end
  local algorithm = select_algorithm(word)
  if not words[at + 2] then
    fail('LIMIT_ARITY')
  end
  local r, next_at = parse_request(algorithm, words, at + 1, LIMIT)
  if algorithm.takes == ' ID ' and not r.ID then
    fail('ID_MISSING')
  end
  if #requests == 0 then
    read_clock(r)
  else
    r.now, r.now_ms = requests[1].now, requests[1].now_ms
  end
  key_at = take_keys(r, keys, key_at, r.RESERVE)
  for _, written in ipairs({ r.key, r.hash }) do
    if state_keys[written] then
      fail('SAME_KEY')
    end
    state_keys[written] = true
  end
  requests[#requests + 1] = r
  return key_at, next_at
end

local function run_multi(keys, words)
  if not words[3] then
    fail('ARITY')
  end
  local requests, state_keys, members, key_at, at, form = {}, {}, 0, 1, 1, nil
  while key_at <= #keys do
    if #requests == 64 then
      fail('NUM_LIMITS')
    end
    of_limit(#requests + 1, function()
      key_at, at = add_limit(requests, state_keys, keys, key_at, words, at)
    end)
    members = members + most_members_added(requests[#requests])
  end
  while words[at] do
    local word = words[at]:upper()
    if FORMS[word] then
      form = next_form(form, word)
    elseif form then
      fail('AFTER_FORM')
    elseif is_in(WORDS, word) then
      fail('KEYS')
    else
      of_limit(#requests, function()
        fail_with_usage(requests[#requests], LIMIT, word)
      end)
    end
    at = at + 1
  end
  require_few_members(members, 'LOG_COST')
  for _, r in ipairs(requests) do
    if r.wrong_clock then
      fail_by_clocks(requests)
    end
  end

  local allowed = true
  for number, r in ipairs(requests) do
    of_limit(number, function()
      load_and_decide(r)
    end)
    allowed = allowed and r.allowed
  end
  local answers = {}
  for n, r in ipairs(requests) do
    local charged = allowed and charged_by(r) or 0
    if form == 'FULL' then
      answers[n] = full(r, charged)
    elseif form == 'LINE' then
      answers[n] = line(r, charged)
    else
      answers[n] = { first_integer(r), r.count, r.ttl }
    end
  end
  local answer = { allowed and 1 or 0, answers, form == 'HEADERS' and headers(requests) or nil }
  for _, r in ipairs(requests) do
    commit_request(r, allowed)
  end
  return answer
end
