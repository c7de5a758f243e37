-- Integers: all are 0 or more, and exact. One below 2^53 is a Lua number. A larger one is a list of digits in base 2^24,
-- lowest first. The functions take and return both forms. Almost all integers are numbers; the other form is for
-- products, for GCRA's nanoseconds and for what a key may hold.
--
-- `n - n == 0` tells a number from the other form, and from infinity. A call of `type` takes the server some 500
-- instructions. Of numbers below 2^53, `a % b` and `(a - a % b) / b` are exact: a quotient that is no integer is too far
-- from the next one to be rounded to it.

--@late
local find, format, match, part_of = string.find, string.format, string.match, string.sub
local byte_of, char_of = string.byte, string.char

--@hot
local EXACT = 2 ^ 53 -- from here on, doubles skip integers
local NEVER = 1 / 0 -- a time that is later than any other
local BASE = 2 ^ 24

local MAX_COUNT_DIGITS = '9223372036854775807' -- 2^63 − 1
local MAX_UNSIGNED_DIGITS = '18446744073709551615' -- 2^64 − 1: the module's times end there

--@cold
local LARGE = {
  __sub = function()
    return 1
  end,
}

--@late
local MAX_COUNT = setmetatable({ BASE - 1, BASE - 1, 2 ^ 15 - 1 }, LARGE)
local MAX_UNSIGNED = setmetatable({ BASE - 1, BASE - 1, 2 ^ 16 - 1 }, LARGE)
local MAX_SPAN = setmetatable({ 6553600, 11973543, 3552 }, LARGE) -- 10^18 microseconds
local MAX_TOLERANCE = setmetatable({ 9437184, 14339741, 14210 }, LARGE) -- 4 × 10^18 nanoseconds

--@cold
local function digits_of(n)
  if n - n ~= 0 then
    return n
  end
  local digits, count = {}, 0
  while n > 0 do
    local digit = n % BASE
    count = count + 1
    digits[count] = digit
    n = (n - digit) / BASE
  end
  return digits
end

local function from_digits(digits)
  local count = #digits
  while count > 0 and digits[count] == 0 do
    digits[count] = nil
    count = count - 1
  end
  if count > 3 or (count == 3 and digits[3] >= EXACT / BASE / BASE) then
    return setmetatable(digits, LARGE)
  end
  return (digits[1] or 0) + (digits[2] or 0) * BASE + (digits[3] or 0) * BASE * BASE
end

local function less_large(a, b)
  local a_is_number, b_is_number = a - a == 0, b - b == 0
  if a_is_number or b_is_number then
    return a_is_number
  elseif #a ~= #b then
    return #a < #b
  end
  for n = #a, 1, -1 do
    if a[n] ~= b[n] then
      return a[n] < b[n]
    end
  end
  return false
end

local function add_large(a, b)
  a, b = digits_of(a), digits_of(b)
  local sum, carry = {}, 0
  for n = 1, math.max(#a, #b) + 1 do
    local digit = (a[n] or 0) + (b[n] or 0) + carry
    carry = digit >= BASE and 1 or 0
    sum[n] = digit - carry * BASE
  end
  return from_digits(sum)
end

local function sub_large(a, b)
  if not less_large(b, a) then
    return 0
  end
  b = digits_of(b)
  local difference, borrow = {}, 0
  for n = 1, #a do
    local digit = a[n] - (b[n] or 0) - borrow
    borrow = digit < 0 and 1 or 0
    difference[n] = digit + borrow * BASE
  end
  return from_digits(difference)
end

local function mul_large(a, b)
  a, b = digits_of(a), digits_of(b)
  local product = {}
  for n = 1, #a + #b do
    product[n] = 0
  end
  for n = 1, #a do
    local carry = 0
    for m = 1, #b do
      -- At most (2^24 − 1)² + 2 × 2^24: exact.
      local digit = product[n + m - 1] + a[n] * b[m] + carry
      carry = math.floor(digit / BASE)
      product[n + m - 1] = digit - carry * BASE
    end
    product[n + #b] = carry
  end
  return from_digits(product)
end

--@hot
local function less(a, b)
  if a - a == 0 and b - b == 0 then
    return a < b
  end
  return less_large(a, b)
end

local function min(a, b)
  return less(b, a) and b or a
end

local function add(a, b)
  if a - a == 0 and b - b == 0 and a + b < EXACT then
    return a + b
  end
  return add_large(a, b)
end

-- a − b, or 0 if b is larger.
local function sub(a, b)
  if a - a == 0 and b - b == 0 then
    return a > b and a - b or 0
  end
  return sub_large(a, b)
end

local function mul(a, b)
  if a - a == 0 and b - b == 0 and a * b < EXACT then
    return a * b
  end
  return mul_large(a, b)
end

--@cold
-- The nearest double, almost: with a relative error below 2^-50.
local function approximately(n)
  if n - n == 0 then
    return n
  end
  local sum = 0
  for index = #n, 1, -1 do
    sum = sum * BASE + n[index]
  end
  return sum
end

local function divide_large(a, b)
  local quotient = 0
  while not less(a, b) do
    -- Too small by a little, never too large. Each round leaves a 2^-40th of `a` at most, so there are few.
    local part = math.max(1, math.floor(approximately(a) / approximately(b) * (1 - 2 ^ -45)))
    part = from_digits(digits_of(part))
    quotient = add(quotient, part)
    a = sub(a, mul(part, b))
  end
  return quotient, a
end

--@hot
-- Quotient and remainder. b is not 0.
local function divide(a, b)
  if a - a == 0 and b - b == 0 then
    local rest = a % b
    return (a - rest) / b, rest
  end
  return divide_large(a, b)
end

local function divide_up(a, b)
  if a - a == 0 and b - b == 0 then
    local rest = a % b
    return rest == 0 and a / b or (a - rest) / b + 1
  end
  local quotient, rest = divide_large(a, b)
  return rest == 0 and quotient or add(quotient, 1)
end

--@cold
local function text_of_large(n)
  local tail = ''
  while n - n ~= 0 do
    local rest
    n, rest = divide(n, 10000000)
    tail = format('%07.0f', rest) .. tail
  end
  return format('%.0f', n) .. tail
end

-- Whether a text comes before another in the order of their bytes. `<` uses the order of the server's locale.
local function bytes_before(a, b)
  for at = 1, math.min(#a, #b) do
    local x, y = a:byte(at), b:byte(at)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

-- The integer of decimal digits.
local function from_text(digits)
  if #digits <= 15 or (#digits == 16 and bytes_before(digits, '9007199254740992')) then
    return digits + 0
  end
  local head = #digits % 7
  local n = head > 0 and digits:sub(1, head) + 0 or 0
  for at = head + 1, #digits, 7 do
    n = add(mul(n, 10000000), digits:sub(at, at + 6) + 0)
  end
  return n
end

-- The text, if it is an integer in the form that Redis requires and at most `most`; else nil.
local function digits_up_to(text, most)
  if text ~= '0' and not find(text, '^[1-9]%d*$') then
    return nil
  end
  return (#text < #most or (#text == #most and not bytes_before(most, text))) and text or nil
end

-- The integer of decimal digits; nil if there is a leading zero or if they are more than 64 bits.
local function parse_digits(digits)
  if #digits > 1 and digits:byte() == 48 then
    return nil
  elseif #digits < 20 or (#digits == 20 and not bytes_before(MAX_UNSIGNED_DIGITS, digits)) then
    return from_text(digits)
  end
end

-- Whether an integer is beyond 2^63 − 1.
local function is_beyond_count(n)
  return less(MAX_COUNT, n)
end

--@hot
local function text_of(n)
  if n - n ~= 0 then
    return text_of_large(n)
  end
  return format('%.0f', n)
end

-- A number that is part of a reply, below 2^53.
local function exact(n)
  if n - n ~= 0 or n >= EXACT then
    fail('INEXACT_REPLY')
  end
  return n
end

-- Milliseconds as seconds, rounded up. −1, never, stays −1.
local function seconds_of(ms)
  local rest = ms % 1000
  return ms < 0 and -1 or rest == 0 and ms / 1000 or (ms - rest) / 1000 + 1
end
