// What a request gets, and the HTTP headers that say so: those that HEADERS of the command replies.
import type { Call, Limit } from './call.js'
import type { Policy } from './policy.js'

/** The largest integer of a structured header field (RFC 9651, section 3.3.1). A larger one voids the whole header. */
const MAX_INTEGER = 999_999_999_999_999

/**
 * What a request gets: the figures of FULL in the command reference, after this request. Times are milliseconds; undefined is
 * never.
 */
export interface Decision {
  readonly allowed: boolean
  readonly count: number
  /** What `remaining` counts down from: the burst if given, else the limit. */
  readonly limit: number
  /** The cost that would be allowed right now. */
  readonly remaining: number
  /** 0 if it is allowed. */
  readonly retryAfterMs: number | undefined
  /** Until `remaining` grows, and until the whole limit is available. */
  readonly nextMs: number | undefined
  readonly resetMs: number | undefined
  /** LEAKY: how long to hold the request. */
  readonly delayMs: number
  /** The time of the server that decided, in Unix milliseconds. */
  readonly at: number
  /** Whether shadow mode allowed what the limit denies. */
  readonly isShadow: boolean
  /** The units that this call charged. */
  readonly charged: number
  /** Who decided: the server, the limit of this process, or `unavailable`. With the last two, nothing is known of what remains. */
  readonly source: 'server' | 'local' | 'allow' | 'deny'
  readonly policy: Policy
  /** The HTTP headers: X-RateLimit-*, RateLimit-Policy, RateLimit, and Retry-After on a denial that can be allowed later. */
  headers(): Record<string, string>
}

/** What a request under several limits gets. */
export interface Decisions {
  readonly allowed: boolean
  /** Of `share`: the place of the limit that paid, from 1; 0 is a denial, which charged nothing. */
  readonly paid: number
  /** In the order of the limits. */
  readonly limits: Decision[]
  /** The wait of the strictest limit; of `share`, of the one that allows first. Undefined for never. */
  readonly retryAfterMs: number | undefined
  /** All policies are listed; the other figures are those of the strictest limit or, of `share`, of the one that paid. */
  headers(): Record<string, string>
}

function ownHeaders(this: Decision): Record<string, string> {
  return headers([this], this)
}

export const decision = (figures: Omit<Decision, 'headers'>): Decision => Object.assign(figures, { headers: ownHeaders })

/** What the figures of LINE say of a limit of a call. */
export function decided(line: unknown, { policy, cost, words }: Limit): Decision {
  const [first, count, , limit, remaining, retry, next, reset, delayMs, at, shadow, charged] = String(line).split(' ').map(Number)
  if (charged === undefined || Number.isNaN(charged)) throw new Error('ERR the reply has not the twelve figures of LINE')
  const wait = (ms: number): number | undefined => (ms < 0 ? undefined : ms)
  // With COST 0 and PARTIAL it charges 0 units in either case.
  const allowed = cost === 0 && words.includes('PARTIAL') ? retry === 0 : first > 0
  return decision({
    allowed, count, limit, remaining, retryAfterMs: wait(retry), nextMs: wait(next), resetMs: wait(reset), delayMs, at,
    isShadow: shadow === 1, charged, source: 'server', policy,
  })
}

/** The decision of a fallback: nothing is known of what remains. */
export function undecided(allowed: boolean, policy: Policy): Decision {
  return decision({
    allowed, count: 0, limit: policy.limit, remaining: 0, retryAfterMs: allowed ? 0 : 1000, nextMs: undefined, resetMs: undefined,
    delayMs: 0, at: Date.now(), isShadow: false, charged: 0, source: allowed ? 'allow' : 'deny', policy,
  })
}

const waitOf = ({ retryAfterMs = Infinity }: Decision): number => retryAfterMs

/** Denied before allowed, then the longest wait, then the least remaining. */
function isStricter(a: Decision, b: Decision): boolean {
  if (a.allowed !== b.allowed) return b.allowed
  return waitOf(a) === waitOf(b) ? a.remaining < b.remaining : waitOf(a) > waitOf(b)
}

/** What a request gets. `first` is 1 if it is allowed or, of SHARE, the place of the limit that paid; 0 if it is denied. */
export function decisions(verb: Call['verb'], first: number, limits: Decision[]): Decisions {
  const isShared = verb === 'SHARE'
  const precedes = isShared ? (a: Decision, b: Decision) => waitOf(a) < waitOf(b) : isStricter
  const paid = isShared ? first : 0
  const deciding = limits[paid - 1] ?? limits.reduce((found, next) => (precedes(next, found) ? next : found))
  return { allowed: first > 0, paid, limits, retryAfterMs: deciding.retryAfterMs, headers: () => headers(limits, deciding) }
}

/** The headers of a response to a request under these limits: all policies are listed, the other figures are those of one. */
function headers(limits: Decision[], deciding: Decision): Record<string, string> {
  const names: string[] = []
  for (const { policy } of limits) {
    let name = policy.label
    for (let n = 2; names.includes(name); n += 1) name = `${policy.label}-${n}`
    names.push(name)
  }
  const { allowed, limit, remaining, retryAfterMs, nextMs, resetMs, at, source } = deciding
  const found: Record<string, string> = { 'RateLimit-Policy': limits.map((each, i) => item(each, names[i])).join(', ') }
  if (source === 'server' || source === 'local') {
    found['X-RateLimit-Limit'] = String(limit)
    found['X-RateLimit-Remaining'] = String(remaining)
    if (resetMs !== undefined) found['X-RateLimit-Reset'] = String(seconds(at + resetMs))
    const more = nextMs === undefined ? '' : `;t=${Math.min(seconds(nextMs), MAX_INTEGER)}`
    found.RateLimit = `"${names[limits.indexOf(deciding)]}";r=${Math.min(remaining, MAX_INTEGER)}${more}`
  }
  if (!allowed && retryAfterMs !== undefined) found['Retry-After'] = String(seconds(retryAfterMs))
  return found
}

/** Rounded up. */
const seconds = (ms: number): number => Math.ceil(ms / 1000)

/**
 * The policy in `RateLimit-Policy`. Its window is a whole number of seconds, so the limit of another window is given for
 * the smallest whole multiple that is: 10 in 500 ms are 20 in 1 s.
 */
function item({ policy, at }: Decision, name: string): string {
  const window = policy.windowAt(at)
  // How many at once does not depend on the window.
  if (policy.algorithm === 'LEASE') return `"${name}";q=${Math.min(policy.limit, MAX_INTEGER)};w=${seconds(window)};qu="concurrent-requests"`
  let windows = 1
  while ((window * windows) % 1000 !== 0) windows += 1
  const [quota, length] = [policy.limit * windows, (window * windows) / 1000].map((n) => Math.min(n, MAX_INTEGER))
  return `"${name}";q=${quota};w=${length}`
}
