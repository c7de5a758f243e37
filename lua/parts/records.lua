-- Records: how they are loaded and written.

local function load_record(r)
  local text = call('GET', r.key)
  if text then
    local algorithm = r.algorithm
    r.state = algorithm.decode(text) or fail_with_foreign_value(text, algorithm.word, 'FOREIGN_VALUE')
  end
end

--@cold
-- Every expiry moves back with the state, also one that other arguments need.
local function moved_expiry(held, needed_before, needed)
  if held - held ~= 0 then
    fail('INEXACT_STATE')
  end
  local moved = sub(held, sub(needed_before, needed))
  moved = less(moved, needed) and needed or moved
  return moved ~= held and moved or nil
end

--@hot
-- The expiry to set with a change, in ms; nil leaves it as it is. It may be a little later than needed, so that it is
-- not written each time. How long a state is needed can depend on arguments that it does not hold. A denied call then
-- extends the expiry if it needs the state for longer, and a write keeps a later expiry if that is for a call with
-- other arguments.
local function expiry_after(r, change, after)
  local algorithm = r.algorithm
  local before, depends = r.state, algorithm.expiry_depends_on_policy
  if change == 'keep' and (not before or not depends) then
    return nil
  end
  local held = before and expiry_of(r.key, r.now_ms)
  if held and held >= EXACT then
    held = from_digits(digits_of(held))
  end
  if change == 'keep' then
    local needed = algorithm.expires_at(r, before)
    return held and less(held, needed) and add(needed, SLACK_MS) or nil
  end
  local needed = algorithm.expires_at(r, after)
  local latest = add(needed, SLACK_MS)
  if not before then
    return latest
  elseif not held then
    --@rare
    return latest
  end
  if depends and change == 'rebase' then
    return moved_expiry(held, algorithm.expires_at(r, before), needed)
  elseif less(held, needed) then
    return latest
  elseif not less(latest, held) or (depends and less(add(algorithm.expires_at(r, before), SLACK_MS), held)) then
    return nil
  end
  return latest
end

local function commit_record(r, change, after)
  local key = r.key
  if change == 'delete' then
    call('UNLINK', key)
    return
  end
  local algorithm = r.algorithm
  local expires_at = expiry_after(r, change, after)
  if change == 'keep' then
    set_expiry(key, expires_at)
  elseif expires_at then
    -- SET takes no expiry of 0. Either is over.
    call('SET', key, algorithm.encode(after), 'PXAT', expires_at == 0 and '1' or text_of(expires_at))
  else
    call('SET', key, algorithm.encode(after), 'KEEPTTL')
  end
end
