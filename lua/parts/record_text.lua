-- Records: the algorithms whose state is a text of a few integers. They have `decode`, `encode` and `expires_at` (in ms).

local SLACK_MS = 5000 -- how much later than needed the expiry of a record may be

-- The integers of a record; nil if the text is no such record. The pattern finds their digits and what follows them.
local function words_of(text, pattern)
  local a, b, c, d, rest = match(text, pattern)
  if not a then
    return nil
  elseif find(text, ':0%d') then
    return nil
  end
  -- The last one is a time in µs, of 16 digits.
  local last = #d < 17 and d + 0
  return #a < 16 and a + 0 or parse_digits(a),
    #b < 16 and b + 0 or parse_digits(b),
    #c < 16 and c + 0 or parse_digits(c),
    last and last < 9e15 and last or parse_digits(d),
    rest
end

local function is_window(ms)
  return ms and ms - ms == 0 and ms >= 1 and ms <= 1e15
end
