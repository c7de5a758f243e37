// @ts-check
// What a request gets, and the HTTP headers that say so: those that HEADERS of the command replies.

/** The largest integer of a structured header field (RFC 9651, section 3.3.1). A larger one voids the whole header. */
const MAX_INTEGER = 999_999_999_999_999

/** Rounded up. @param {number} ms */
const seconds = (ms) => Math.ceil(ms / 1000)

/** @param {number} ms -1 for never */
const wait = (ms) => (ms < 0 ? undefined : ms)

/** @typedef {import('./policy.js').Policy} Policy */
/** @typedef {import('./types.js').Figures} Figures */
/** @typedef {import('./index.js').Decision} Decision */
/** @typedef {import('./index.js').Decisions} Decisions */

/** @this {Figures} */
function ownHeaders() {
  return headers([this])
}

/** @type {(figures: Figures) => Decision} */
export const decision = (figures) => Object.assign(figures, { headers: ownHeaders })

/**
 * What the figures of LINE say.
 * @type {(line: unknown, policy: Policy, cost: number | undefined, isPartial: boolean) => Decision}
 */
export function decided(line, policy, cost, isPartial) {
  const [first, count, , limit, remaining, retry, next, reset, delayMs, at, shadow, charged] = String(line).split(' ').map(Number)
  if (charged === undefined || Number.isNaN(charged)) throw new Error('ERR the reply has not the twelve figures of LINE')
  // With COST 0 and PARTIAL it charges 0 units in either case.
  const allowed = isPartial && cost === 0 ? retry === 0 : first > 0
  return decision({
    allowed, count, limit, remaining, retryAfterMs: wait(retry), nextMs: wait(next), resetMs: wait(reset), delayMs, at,
    isShadow: shadow === 1, charged, source: 'server', policy,
  })
}

/**
 * The decision of a fallback: nothing is known of what remains.
 * @type {(allowed: boolean, policy: Policy) => Decision}
 */
export function undecided(allowed, policy) {
  const waits = { retryAfterMs: allowed ? 0 : 1000, nextMs: undefined, resetMs: undefined, delayMs: 0, at: Date.now() }
  const source = allowed ? 'allow' : 'deny'
  return decision({ allowed, count: 0, limit: policy.limit, remaining: 0, ...waits, isShadow: false, charged: 0, source, policy })
}

/**
 * What a request under several limits gets.
 * @type {(allowed: boolean, limits: Decision[]) => Decisions}
 */
export function decisions(allowed, limits) {
  const waits = limits.flatMap((each) => (allowed || each.allowed ? [] : [each.retryAfterMs ?? Infinity]))
  const longest = Math.max(0, ...waits)
  return { allowed, limits, retryAfterMs: longest === Infinity ? undefined : longest, headers: () => headers(limits) }
}

/**
 * What a request gets from limits that share. `paid` is the place of the one that paid, from 1; 0 is a denial.
 * @type {(paid: number, limits: Decision[]) => import('./index.js').Shared}
 */
export function shared(paid, limits) {
  const wait = (/** @type {Figures} */ { retryAfterMs = Infinity }) => retryAfterMs
  const deciding = limits[paid - 1] ?? limits.reduce((first, next) => (wait(next) < wait(first) ? next : first))
  return { allowed: paid > 0, paid, limits, retryAfterMs: paid > 0 ? 0 : deciding.retryAfterMs, headers: () => headers(limits, deciding) }
}

/**
 * Denied before allowed, then the longest wait, then the least remaining.
 * @type {(a: Figures, b: Figures) => number}
 */
function strictness(a, b) {
  if (a.allowed !== b.allowed) return a.allowed ? 1 : -1
  const [first, second] = [a, b].map(({ retryAfterMs = Infinity }) => retryAfterMs)
  return first === second ? a.remaining - b.remaining : second > first ? 1 : -1
}

/**
 * The headers of a response to a request under these limits: all policies are listed, and the other figures are those of
 * one of them, the strictest if none is named.
 * @param {Figures[]} limits
 */
function headers(limits, deciding = [...limits].sort(strictness)[0]) {
  /** @type {string[]} */
  const names = []
  for (const { policy } of limits) {
    let name = policy.label
    for (let n = 2; names.includes(name); n += 1) name = `${policy.label}-${n}`
    names.push(name)
  }
  const { allowed, limit, remaining, retryAfterMs, nextMs, resetMs, at, source } = deciding
  /** @type {Record<string, string>} */
  const found = {}
  const isKnown = source !== 'allow' && source !== 'deny'
  if (isKnown) {
    found['X-RateLimit-Limit'] = String(limit)
    found['X-RateLimit-Remaining'] = String(remaining)
    if (resetMs !== undefined) found['X-RateLimit-Reset'] = String(seconds(at + resetMs))
  }
  found['RateLimit-Policy'] = limits.map((each, i) => item(each, names[i])).join(', ')
  if (isKnown) {
    const more = nextMs === undefined ? '' : `;t=${Math.min(seconds(nextMs), MAX_INTEGER)}`
    found.RateLimit = `"${names[limits.indexOf(deciding)]}";r=${Math.min(remaining, MAX_INTEGER)}${more}`
  }
  if (!allowed && retryAfterMs !== undefined) found['Retry-After'] = String(seconds(retryAfterMs))
  return found
}

/**
 * The policy in `RateLimit-Policy`. Its window is a whole number of seconds, so the limit of another window is given for
 * the smallest whole multiple that is: 10 in 500 ms are 20 in 1 s.
 * @type {(decision: Figures, name: string) => string}
 */
function item({ policy, at }, name) {
  const window = policy.windowAt(at)
  // How many at once does not depend on the window.
  if (policy.algorithm === 'LEASE') return `"${name}";q=${Math.min(policy.limit, MAX_INTEGER)};w=${seconds(window)};qu="concurrent-requests"`
  let windows = 1
  while ((window * windows) % 1000 !== 0) windows += 1
  const [quota, length] = [policy.limit * windows, (window * windows) / 1000].map((n) => Math.min(n, MAX_INTEGER))
  return `"${name}";q=${quota};w=${length}`
}
