--@cold
-- Reservations: a HASH at `<key>:reserved`, of FIXED at `<key>:<window>:reserved`. A field is { cost, charged_at, ends_at,
-- counts_until, ttl }, in ms; `cost` is nil in a mark: a reservation that has ended. Beside it is their order, a ZSET
-- at `<HASH>:ends`: the ids, scored with their ends. The field with the empty name is 0 if the order has each field; an
-- earlier version writes another number. A book is what one call knows of both: `own` is the field of its id.

local MOST_RESERVATIONS = 100000

local function number_of_field(text)
  local digits = digits_up_to(text, MAX_COUNT_DIGITS) or fail('FOREIGN_RESERVATION')
  local n = from_text(digits)
  return n - n == 0 and n or fail('INEXACT_STATE')
end

local function decode_field(text)
  local cost, charged_at, ends_at, counts_until, ttl = match(text, '^(%d*):(%d+):(%d+):(%d+):(%d+)$')
  if not cost or #ttl > 16 or tonumber(ttl) > 1e15 or ttl == '0' then
    fail('FOREIGN_RESERVATION')
  end
  return {
    cost = cost ~= '' and number_of_field(cost) or nil,
    charged_at = number_of_field(charged_at),
    ends_at = number_of_field(ends_at),
    counts_until = number_of_field(counts_until),
    ttl = number_of_field(ttl),
  }
end

local function encode_field(field)
  local words = { field.cost and text_of(field.cost) or '' }
  for n, value in ipairs({ field.charged_at, field.ends_at, field.counts_until, field.ttl }) do
    words[n + 1] = text_of(value)
  end
  return table.concat(words, ':')
end

-- Whether a call has written the HASH.
local function has_book(r)
  local earliest = redis.pcall('HGET', r.hash, '')
  return type(earliest) == 'string' and digits_up_to(earliest, MAX_UNSIGNED_DIGITS)
end

-- The mark of a reservation that has ended; nil if its time is over too.
local function mark_of(ended, now_ms)
  local was = ended.was
  if now_ms >= was.ends_at + was.ttl then
    return nil
  end
  return {
    charged_at = was.charged_at,
    ends_at = was.ends_at + was.ttl,
    -- What stays charged must not be charged again.
    counts_until = (ended.given_back or was.cost == 0) and was.counts_until or 0,
    ttl = was.ttl,
  }
end

local function matters_until(field)
  return field.cost and math.max(field.ends_at + field.ttl, field.counts_until) or field.ends_at
end

-- Takes notice of what has ended: { id, field }, which has the id of the call if that has ended.
local function review(book, found)
  book.ended, book.gone = {}, {}
  for _, one in ipairs(found) do
    if one.field.cost then
      book.ended[#book.ended + 1] = { id = one.id, was = one.field }
    elseif one.id ~= book.id then
      book.gone[#book.gone + 1] = one.id
    end
  end
  ended_left = math.max(0, ended_left - #book.ended - #book.gone)
  table.sort(book.ended, function(a, b)
    if a.was.charged_at ~= b.was.charged_at then
      return a.was.charged_at < b.was.charged_at
    end
    return bytes_before(a.id, b.id)
  end)
  book.reviewed = true
end

-- Reads what has ended in the order: as much as the budget allows, and the id of the call. Whether each of these is
-- in the HASH as the order says.
local function review_ordered(book)
  local first = call('ZRANGE', book.ends, '0', format('%.0f', ended_left), 'WITHSCORES')
  local ids, ends, found, own_found = {}, {}, {}, false
  book.next_end = nil
  for n = 1, #first, 2 do
    local ends_at = tonumber(first[n + 1])
    if ends_at > book.now_ms or #ids == ended_left then
      book.next_end = ends_at
      break
    end
    ids[#ids + 1], ends[#ends + 1] = first[n], ends_at
  end
  local texts = #ids > 0 and call('HMGET', book.key, unpack(ids)) or {}
  for n, id in ipairs(ids) do
    local field = texts[n] and decode_field(texts[n])
    if not field or field.ends_at ~= ends[n] then
      return false
    end
    found[n] = { id = id, field = field }
    own_found = own_found or id == book.id
  end
  if book.own and book.own.ends_at <= book.now_ms and not own_found then
    found[#found + 1] = { id = book.id, field = book.own }
  end
  review(book, found)
  -- If these are all fields beside that of the call, the others need nothing.
  local own_ended = 0
  for _, ended in ipairs(book.ended) do
    own_ended = ended.id == book.id and 1 or own_ended
  end
  local others_ended = #book.ended + #book.gone - own_ended
  book.needed = book.len - (book.stored and 1 or 0) == others_ended and 0 or nil
  return true
end

-- Reads all fields, where the order does not have each: it is written anew.
local function review_all(book)
  local ended, stay, own = {}, {}, nil
  local all = call('HGETALL', book.key)
  for n = 1, #all, 2 do
    local id = all[n]
    if id ~= '' then
      local one = { id = id, field = decode_field(all[n + 1]) }
      if one.field.ends_at <= book.now_ms then
        ended[#ended + 1] = one
      elseif id ~= book.id then
        stay[#stay + 1] = one
      end
    end
  end
  if #ended > ended_left then
    table.sort(ended, function(a, b)
      if a.field.ends_at ~= b.field.ends_at then
        return a.field.ends_at < b.field.ends_at
      end
      return bytes_before(a.id, b.id)
    end)
    for n = #ended, ended_left + 1, -1 do
      local one = table.remove(ended, n)
      if one.id == book.id then
        own = one
      else
        stay[#stay + 1] = one
      end
    end
    ended[#ended + 1] = own
  end
  book.next_end, book.needed, book.order = nil, 0, stay
  for _, one in ipairs(stay) do
    book.next_end = math.min(book.next_end or one.field.ends_at, one.field.ends_at)
    book.needed = math.max(book.needed, matters_until(one.field))
  end
  review(book, ended)
end

-- Reads some of many fields, where the order does not have each: it gets them. What has ended counts until the order is
-- complete, but for that of the call's id. The member with the empty name says where the next step begins.
local function add_to_order(book, most)
  local step = book.earliest == 1 and call('ZSCORE', book.ends, '')
  book.has_step = step and true or false
  book.next_end = nil
  if most > 0 then
    local found = call('HSCAN', book.key, step and text_of(-1 - tonumber(step)) or '0', 'COUNT', text_of(most))
    book.next_step, book.anew, book.order = tonumber(found[1]), not step, {}
    for n = 1, #found[2], 2 do
      local id = found[2][n]
      if id ~= '' and id ~= book.id then
        book.order[#book.order + 1] = { id = id, field = decode_field(found[2][n + 1]) }
      elseif id ~= '' then
        decode_field(found[2][n + 1])
      end
    end
    table.sort(book.order, function(a, b)
      return bytes_before(a.id, b.id)
    end)
    book.complete = book.next_step == 0
  end
  if book.own and book.own.ends_at <= book.now_ms then
    review(book, { { id = book.id, field = book.own } })
    book.needed = book.len == 1 and 0 or nil
  end
end

local function load_book(r, id)
  local key = r.hash
  local found = call('HMGET', key, id, '')
  local book = { key = key, ends = r.ends, id = id, now_ms = r.now_ms, ended = {}, gone = {} }
  book.stored = found[1] and decode_field(found[1]) or nil
  book.own = book.stored
  book.earliest = found[2] and number_of_field(found[2]) or nil
  book.len = call('HLEN', key) - (book.earliest and 1 or 0)
  book.expires_at = expiry_of(key, book.now_ms)
  book.order_len = call('ZCARD', book.ends)
  book.next_end = score_at(book.ends, 0)
  local ordered = book.len == book.order_len and (book.earliest == 0 or book.len == 0 and not book.earliest)
  local first_end = math.min(book.next_end or math.huge, book.own and book.own.ends_at or math.huge)
  book.complete = ordered and (first_end > book.now_ms or review_ordered(book))
  if not book.complete then
    local fields = book.len + (book.earliest and 1 or 0)
    local most = fields <= unordered_left and fields or math.min(unordered_left, MAX_STEP)
    unordered_left = unordered_left - most
    if most == fields then
      book.complete, book.anew = true, true
      review_all(book)
    else
      add_to_order(book, most)
    end
  end
  return book
end

-- Gives back what has ended, in what is loaded only: `commit_change` writes it.
local function give_back_book(r)
  local book = r.book
  local algorithm = r.algorithm
--@if give_back
  if algorithm.give_back then
    algorithm.give_back(r, book.ended)
  else
--@end
    for _, ended in ipairs(book.ended) do
      if ended.was.cost > 0 and book.now_ms < ended.was.counts_until then
        local change, after = algorithm.settle_reserved(r, ended.was, 0)
        if change ~= 'keep' then
          if not r.gave_back then
            r.gave_back, r.stored = true, r.state
          end
          ended.given_back = true
          r.state = state_after(change, after, r.state)
        end
      end
    end
--@if give_back
  end
--@end
  if book.own and book.own.ends_at <= book.now_ms then
    book.own = nil
    for _, ended in ipairs(book.ended) do
      if ended.id == book.id then
        book.own = mark_of(ended, book.now_ms)
      end
    end
  end
end

-- The open reservation of the id.
local function open_of_book(book)
  return book.own and book.own.cost and book.own or nil
end

-- The fields that the call leaves beside that of its id: how many, the earliest end, and until when they matter.
local function others_of_book(book)
  local count, earliest, needed = book.len - (book.stored and 1 or 0) - #book.gone, book.next_end, book.needed or 0
  for _, ended in ipairs(book.ended) do
    local mark = ended.id ~= book.id and mark_of(ended, book.now_ms)
    if mark then
      earliest = math.min(earliest or mark.ends_at, mark.ends_at)
      needed = math.max(needed, mark.ends_at)
    elseif ended.id ~= book.id then
      count = count - 1
    end
  end
  return count, earliest, needed
end

-- The ms until one ends, if there is no room for another; else nil.
local function full_for_book(book)
  local count, earliest = others_of_book(book)
  if book.own or count < MOST_RESERVATIONS then
    return nil
  end
  return math.max(1, (earliest or 0) - book.now_ms)
end

local function open_book(book, cost, ttl, counts_until)
  local now_ms = book.now_ms
  book.own = { cost = cost, charged_at = now_ms, ends_at = now_ms + ttl, counts_until = counts_until, ttl = ttl }
end

-- Lets an open reservation end `ttl` from now, if that is later.
local function prolong_book(book, open, ttl)
  if open.ends_at < book.now_ms + ttl then
    open_book(book, open.cost, ttl, open.counts_until)
    book.own.charged_at = open.charged_at
  end
end

local function commit_book(book)
  local count, _, needed = others_of_book(book)
  if count == 0 and not book.own then
    if book.len > 0 or book.earliest then
      call('UNLINK', book.key)
    end
    if book.order_len > 0 then
      call('UNLINK', book.ends)
    end
    return
  end
  local fields, members, removed = {}, {}, {}
  local function set(list, first, second)
    list[#list + 1] = first
    list[#list + 1] = second
  end
  for _, id in ipairs(book.gone) do
    removed[#removed + 1] = id
  end
  for _, one in ipairs(book.order or {}) do
    set(members, text_of(one.field.ends_at), one.id)
  end
  for _, ended in ipairs(book.ended) do
    local mark = ended.id ~= book.id and mark_of(ended, book.now_ms)
    if mark then
      set(fields, ended.id, encode_field(mark))
      set(members, text_of(mark.ends_at), ended.id)
    elseif ended.id ~= book.id then
      removed[#removed + 1] = ended.id
    end
  end
  if book.own and book.own ~= book.stored then
    set(fields, book.id, encode_field(book.own))
  elseif not book.own and book.stored then
    removed[#removed + 1] = book.id
  end
  if book.own then
    needed = math.max(needed, matters_until(book.own))
    local has_moved = not book.stored or book.own.ends_at ~= book.stored.ends_at
    if book.anew or book.has_step or book.complete and has_moved then
      set(members, text_of(book.own.ends_at), book.id)
    end
  end
  local mark_of_order = book.complete and 0 or 1
  if book.earliest ~= mark_of_order then
    set(fields, '', text_of(mark_of_order))
  end
  call_in_parts({ 'HSET', book.key }, fields)
  call_in_parts({ 'HDEL', book.key }, removed)
  if book.next_step and book.next_step > 0 then
    set(members, '-' .. text_of(book.next_step + 1), '')
  end
  if book.anew and book.order_len > 0 then
    call('UNLINK', book.ends)
  end
  -- The key goes with its last member, and would lose its expiry: new members come first.
  call_in_parts({ 'ZADD', book.ends }, members)
  if book.next_step == 0 then
    removed[#removed + 1] = ''
  end
  call_in_parts({ 'ZREM', book.ends }, removed)
  local held, latest, expires_at = book.expires_at, needed + SLACK_MS, nil
  local unknown = not held and not book.needed and book.len > 0
  if not unknown and (not held or held < needed or (book.needed and held > latest)) then
    expires_at = latest
  end
  set_expiry(book.key, expires_at)
  if expires_at or book.anew and held then
    set_expiry(book.ends, expires_at or held)
  end
end
