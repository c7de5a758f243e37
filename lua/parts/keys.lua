-- Keys: a call names every key that it uses. docs/lua.md has the names.

--@cold
local function has_name_of_reservations(key)
  return key:sub(-9) == ':reserved' or key:sub(-14) == ':reserved:ends'
end

-- Rejects a key of a limit that has the name of reservations: one with a suffix, without that.
local function require_other_name(key)
  if has_name_of_reservations(key) then
    fail('RESERVED_KEY')
  end
end

-- The names of the windows of FIXED that a call can be in, now and next.
local function both_suffixes(r)
  local algorithm = r.algorithm
  return algorithm.suffix(r) .. ' ' .. algorithm.next_suffix(r)
end

-- RL.RESET deletes a key with such a name if an earlier version has left a state there, and not the order of a HASH.
local function require_left_over(r, exists)
  local hash = match(r.name, '^(.*:reserved):ends$')
  if not exists or hash and redis.pcall('TYPE', hash).ok == 'hash' then
    require_other_name(r.name)
  end
end

local function fail_by_clock(r)
  fail_with(format('ERR clock %.0f %s', r.now_ms, both_suffixes(r)))
end

-- Takes the keys of the reservations. `key` is that of the limit, without the suffix of FIXED.
local function take_book(r, keys, at, key)
  local algorithm = r.algorithm
  local hash, ends = keys[at] or '', keys[at + 1]
  local name = (algorithm.infix and algorithm.infix(r) or '') .. ':reserved'
  if (hash ~= key .. name and hash ~= '{' .. key .. '}' .. name) or ends ~= hash .. ':ends' then
    fail('KEYS')
  end
  r.hash, r.ends = hash, ends
  return at + 2
end

-- The keys of a call that names only that of the limit. The others have its name and a suffix.
local function derive_keys(r, keys, with_book)
  local algorithm = r.algorithm
  local key = keys[1]
  local all = { key }
--@if suffix
  if algorithm.suffix then
    all = { key .. algorithm.suffix(r), '' }
  end
--@end
  if with_book then
    local hash = key .. (algorithm.infix and algorithm.infix(r) or '') .. ':reserved'
    all[#all + 1], all[#all + 2] = hash, hash .. ':ends'
  end
  return all
end

--@hot
-- Takes the keys of a limit from the index `at` on. Returns the index of the next one. `is_reset`: the key may have the
-- name of reservations, since an earlier version may have left a state there.
local function take_keys(r, keys, at, with_book, is_reset)
  local algorithm = r.algorithm
  local key = keys[at]
--@if suffix
  if algorithm.suffix then
    local own, other = algorithm.suffix(r), keys[at + 1]
    local length = #own
    if not other then
      fail('KEYS')
    elseif part_of(key, -length) ~= own then
      key = other
      if part_of(key, -length) ~= own then
        r.wrong_clock = true
      end
    end
    r.key, key, at = key, part_of(key, 1, -length - 1), at + 2
  else
--@end
    if not key then
      fail('KEYS')
    end
    r.key, at = key, at + 1
--@if suffix
  end
--@end
  -- Most keys cost this one call.
  if is_reset then
    r.name = key
  elseif find(key, ':reserved', 1, true) then
    require_other_name(key)
  end
--@if RESERVE
  if with_book then
    -- Without the right window the key is not known either: the reply is the clock.
    at = r.wrong_clock and at + 2 or take_book(r, keys, at, key)
  end
--@end
  return at
end
