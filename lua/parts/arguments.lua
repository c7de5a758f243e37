-- Arguments. `words` are those of a call, and `at` is the index of the next one.

-- The options of each command, for any algorithm. `form`: the form of the reply is among them.
local CHECK = ' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE '
local PEEK = ' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW '
local LIMIT = ' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE '
local REFUND = ' form COST AT BURST BLOCK MAX ANCHOR '
local SETTLEMENT = ' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION '
local RESET = ' ANCHOR '

-- The ms of a unit of a window; nil if it is none.
local function scale_of(unit)
  return unit == '' and 1000
    or unit == 'ms' and 1
    or unit == 's' and 1000
    or unit == 'm' and 60000
    or unit == 'h' and 3600000
    or unit == 'd' and 86400000
    or nil
end

--@cold
local DAY_MS = 86400000
local LONGEST = { DAY = DAY_MS, WEEK = 7 * DAY_MS, MONTH = 31 * DAY_MS, YEAR = 366 * DAY_MS }
local FORMS = { FULL = true, LINE = true, HEADERS = true }

-- A window of a fixed length in ms; nil if the text is none.
local function parse_window(text)
  local number, unit = match(text, '^(%d+)(%l*)$')
  local scale = number and scale_of(unit)
  local ms = scale and digits_up_to(number, MAX_UNSIGNED_DIGITS) and number * scale
  return ms and ms >= 1 and ms <= 1e15 and ms or nil
end

-- A count: limit, COST, BURST, RESERVED or ACTUAL. The module takes more than a double holds.
local function parse_count(name, text, least)
  local digits = text and digits_up_to(text, MAX_COUNT_DIGITS)
  local n = digits and from_text(digits)
  if not n or n == 0 and least > 0 then
    fail_with(format('ERR invalid %s: expected an integer from %d to 9223372036854775807', name, least))
  elseif n - n ~= 0 then
    fail_with(format('ERR invalid %s: the Lua library takes integers up to 9007199254740991', name))
  end
  return n
end

-- A text of 1 to `most` bytes, or nil.
local function parse_id(text, most)
  return text and #text >= 1 and #text <= most and text
end

-- The value of an option, in the word after it; of RESERVE in two words.
local function parse_value(option, text, second)
--@if RESERVE
  if option == 'RESERVE' then
    local ttl = second and parse_window(second)
    return parse_id(text, 128) and ttl and { id = text, ttl = ttl } or fail('RESERVE')
  elseif option == 'RESERVATION' then
    return parse_id(text, 128) or fail('RESERVATION')
  end
--@end
--@if BLOCK
  if option == 'BLOCK' or option == 'MAX' then
    local text_of_windows = 'expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
    return text and parse_window(text) or fail_with('ERR invalid ' .. option .. ': ' .. text_of_windows)
  end
--@end
--@if ID
  if option == 'ID' then
    return parse_id(text, 512) or fail('ID')
  end
--@end
--@if ANCHOR
  if option == 'ANCHOR' then
    local digits = text and digits_up_to(text, '253402300799')
    return digits and digits + 0 or fail('ANCHOR')
  end
--@end
  if option == 'AS' then
    return text and #text >= 1 and #text <= 64 and not find(text, '[^%w._-]') and text or fail('AS')
  elseif option == 'AT' then
    local digits = text and digits_up_to(text, MAX_COUNT_DIGITS)
    -- The module counts microseconds, up to 2^64.
    return digits and min(from_text(digits), (divide(MAX_UNSIGNED, 1000))) or fail('AT')
  end
  return parse_count(option, text, option == 'BURST' and 1 or 0)
end

-- The options, in the order of the usage texts: the word, the word with its value, and the commands that take it.
local OPTIONS = {
  { 'COST', 'COST n', 'RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take' },
  { 'PARTIAL', 'PARTIAL', 'RL.<ALGO> and RL.PEEK take' },
  { 'ALWAYS', 'ALWAYS', 'RL.<ALGO> and RL.PEEK take' },
  { 'RESERVED', 'RESERVED n', 'RL.SETTLE takes' },
  { 'ACTUAL', 'ACTUAL m', 'RL.SETTLE takes' },
  { 'AT', 'AT ms', 'RL.REFUND and RL.SETTLE take' },
  { 'BURST', 'BURST n', 'RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take' },
  { 'BLOCK', 'BLOCK d', 'RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take' },
  { 'MAX', 'MAX d', 'RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take' },
  { 'ANCHOR', 'ANCHOR t', 'RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take' },
  { 'ID', 'ID id', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
  { 'AS', 'AS name', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
  { 'SHADOW', 'SHADOW', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
  { 'RESERVE', 'RESERVE id ttl', 'RL.<ALGO> and RL.MULTI take' },
  { 'RESERVATION', 'RESERVATION id', 'RL.SETTLE takes' },
}

-- Those that only some algorithms take.
local OF_ALGORITHMS = ' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION '

-- Whether a word is one of a list, which has a blank before and after each.
local function is_in(list, word)
  return not find(word, ' ', 1, true) and find(list, ' ' .. word .. ' ', 1, true) ~= nil
end

local function takes(r, option)
  local algorithm = r.algorithm
  return not is_in(OF_ALGORITHMS, option) or is_in(algorithm.takes, option)
end

-- Whether two words have their ends in common, at least two letters, and differ by at most two letters between them.
local function is_nearly(word, option)
  local first, last = 0, 0
  local shorter, longer = math.min(#word, #option), math.max(#word, #option)
  while first < shorter and word:byte(first + 1) == option:byte(first + 1) do
    first = first + 1
  end
  while last < shorter - first and word:byte(-1 - last) == option:byte(-1 - last) do
    last = last + 1
  end
  return first + last >= 2 and longer - first - last <= 2
end

-- The error for a word that is no option of a command that takes the options `accepted`: it names the one that was
-- meant, or lists all.
local function fail_with_usage(r, accepted, word)
  local options = {}
  for _, row in ipairs(OPTIONS) do
    if is_in(accepted, row[1]) and takes(r, row[1]) then
      options[#options + 1] = row[2]
    end
  end
  for _, form in ipairs({ 'FULL', 'LINE', 'HEADERS' }) do
    options[#options + 1] = form
  end
  for _, option in ipairs(options) do
    if is_nearly(word:upper(), match(option, '^%u+')) then
      fail_with('ERR syntax error: no such option, but there is ' .. option)
    end
  end
  local last = table.remove(options)
  local usage = table.concat(options, ', ')
  fail_with('ERR syntax error: after limit come ' .. usage .. ' or ' .. last .. ', each at most once')
end

-- Rejects an option that the command or the algorithm does not take, or that is there already.
local function require_option(row, r, accepted)
  local option, algorithm = row[1], r.algorithm
  if not is_in(accepted, option) then
    fail_with(format('ERR invalid %s: only %s it', option, row[3]))
  elseif not takes(r, option) then
    fail_with(format('ERR invalid %s: %s takes none', option, algorithm.word))
  elseif r[option] ~= nil then
    fail_with(format('ERR syntax error: %s comes at most once', row[2]))
  end
end

-- Rejects options that exclude each other.
local function require_compatible(r)
  if r.ALWAYS and (r.PARTIAL or r.RESERVE) then
    fail(r.PARTIAL and 'PARTIAL_AND_ALWAYS' or 'RESERVE_AND_ALWAYS')
  elseif r.RESERVATION and (r.RESERVED or r.AT) then
    fail(r.RESERVED and 'RESERVATION_AND_RESERVED' or 'RESERVATION_AND_AT')
  end
end

-- The form of a call that has named `form`, if any, and now names `named`.
local function next_form(form, named)
  if form then
    fail(form == named and 'FORM_TWICE' or 'TWO_FORMS')
  end
  return named
end

-- Takes options up to the first word that is none. Returns its index.
local function parse_options(r, words, at, accepted)
  while words[at] do
    local word, row = words[at]:upper(), nil
    for _, known in ipairs(OPTIONS) do
      row = known[1] == word and known or row
    end
    if row then
      require_option(row, r, accepted)
      if row[2] == word then
        r[word] = true
        at = at + 1
      else
        r[word] = parse_value(word, words[at + 1], words[at + 2])
        at = at + (word == 'RESERVE' and 3 or 2)
      end
      require_compatible(r)
    elseif FORMS[word] and is_in(accepted, 'form') then
      r.form = next_form(r.form, word)
      at = at + 1
    else
      return at
    end
  end
  return at
end

-- A window in ms. For a period of the calendar, it is the longest.
local function window_of(r, text)
  local algorithm = r.algorithm
  local window_ms = parse_window(text)
  if not window_ms then
    r.unit = text:upper()
    window_ms = LONGEST[r.unit]
    if not window_ms then
      fail(is_in(algorithm.takes, 'ANCHOR') and 'CALENDAR_WINDOW' or 'WINDOW')
    elseif not is_in(algorithm.takes, 'ANCHOR') then
      fail_with(format('ERR invalid window: %s takes no windows of the calendar', algorithm.word))
    end
  end
  return window_ms
end

-- The most members of a sorted set that the request can add: none if the limit can never hold the cost.
local function most_members_added(r)
  local algorithm = r.algorithm
  if not algorithm.adds_members then
    return 0
  elseif r.capacity < r.cost then
    return r.PARTIAL and r.capacity or 0
  end
  return r.cost
end

local function require_few_members(members, text)
  if members > 1000 then
    fail(text)
  end
end

--@hot
-- Parses `window limit [options]` from the index `at` on. Returns the request, and the index of what follows the options.
local function parse_request(algorithm, words, at, accepted)
  local window, limit, option = words[at], words[at + 1], words[at + 2]
  if not limit then
    fail('ARITY')
  end
  local r = {
    algorithm = algorithm,
    key = '',
    now = 0,
    now_ms = 0,
    window_ms = 0,
    window = 0,
    limit = 0,
    capacity = 0,
    cost = 1,
    form = nil,
    delay = 0,
    state = nil,
    after = nil,
    allowed = false,
    count = 0,
    ttl = 0,
    change = 'keep',
    remaining = 0,
    decided_cost = 1,
  }
  at = at + 2
  if option == 'LINE' and not words[at + 1] and accepted ~= LIMIT then
    r.form, at = option, at + 1
  elseif option then
    local value = words[at + 1] or ''
    -- One option and LINE, as clients send them.
    local is_short = accepted == CHECK and words[at + 2] == 'LINE' and not words[at + 3] and #value < 16
    if is_short and option == 'COST' and algorithm.takes ~= ' ID ' and find(value, '^[1-9]%d*$') then
      r.form, r.cost, at = 'LINE', value + 0, at + 3
    elseif is_short and option == 'ID' and algorithm.takes == ' ID ' and value ~= '' then
      r.form, r.ID, at = 'LINE', value, at + 3
    else
      at = parse_options(r, words, at, accepted)
      r.cost = r.COST or 1
    end
--@if ANCHOR
    r.anchor_ms = r.ANCHOR and r.ANCHOR * 1000
--@end
  end
  local is_plain = #limit < 16 and find(limit, '^[1-9]%d*$')
  r.limit = is_plain and limit + 0 or parse_count('limit', limit, 0)
  local number, unit = match(window, '^([1-9]%d*)(%l*)$')
  local scale = number and #window < 16 and scale_of(unit)
  local window_ms = scale and number * scale
  if not window_ms or window_ms < 1 or window_ms > 1e15 then
    window_ms = window_of(r, window)
  end
  r.window_ms, r.window, r.capacity = window_ms, window_ms < 9e12 and window_ms * 1000 or mul_large(window_ms, 1000), r.BURST or r.limit
--@if prepare
  if algorithm.prepare then
    algorithm.prepare(r)
  end
--@end
  return r, at
end
