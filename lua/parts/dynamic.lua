-- The algorithms of a call, by their words. Each is built when it is first named.

local ALGORITHMS = {}

--@cold
local function build_named(word)
  word = word:upper()
  local algorithm = ALGORITHMS[word]
  if not algorithm then
    algorithm = build_algorithm(word) or fail('ALGORITHM')
    ALGORITHMS[word] = algorithm
  end
  return algorithm
end

--@hot
local function select_algorithm(word)
  return ALGORITHMS[word] or build_named(word)
end

-- The algorithm of a command with one limit.
local function selected(words)
  local word = words[1]
  if not words[2] then
    fail('ARITY')
  end
  return select_algorithm(word)
end

local function leases()
  return select_algorithm('LEASE')
end
