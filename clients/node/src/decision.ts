// What a request gets, and the HTTP headers that say so: those that HEADERS of the command replies.
import type { Policy } from './policy.js'

/** The largest integer of a structured header field (RFC 9651, section 3.3.1). A larger one voids the whole header. */
const MAX_INTEGER = 999_999_999_999_999

/** The figures of FULL in the command reference. Times are milliseconds; undefined is never. */
export type Figures = {
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
}

/** What a request gets. The figures are those after it. */
export type Decision = Figures & {
  /** The HTTP headers: X-RateLimit-*, RateLimit-Policy, RateLimit, and Retry-After on a denial that can be allowed later. */
  headers(): Record<string, string>
}

/** What a request under several limits gets: all are charged, or none. */
export interface Decisions {
  readonly allowed: boolean
  /** In the order of the limits. */
  readonly limits: Decision[]
  /** The longest wait of those that deny; undefined for never. */
  readonly retryAfterMs: number | undefined
  /** All policies are listed; the other figures are those of the strictest limit. */
  headers(): Record<string, string>
}

/**
 * What a request gets from limits that share. Those after the one that paid are charged whatever they say. A denial's
 * `retryAfterMs` is the shortest wait.
 */
export interface Shared extends Decisions {
  /** The place of the limit that paid, from 1; 0 is a denial, which charged nothing. */
  readonly paid: number
}

function ownHeaders(this: Decision): Record<string, string> {
  return headers([this], this)
}

export const decision = (figures: Figures): Decision => Object.assign(figures, { headers: ownHeaders })

/** What the figures of LINE say. */
export function decided(line: unknown, policy: Policy, cost: number | undefined, isPartial: boolean): Decision {
  const [first, count, , limit, remaining, retry, next, reset, delayMs, at, shadow, charged] = String(line).split(' ').map(Number)
  if (charged === undefined || Number.isNaN(charged)) throw new Error('ERR the reply has not the twelve figures of LINE')
  const wait = (ms: number): number | undefined => (ms < 0 ? undefined : ms)
  // With COST 0 and PARTIAL it charges 0 units in either case.
  const allowed = isPartial && cost === 0 ? retry === 0 : first > 0
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

const waitOf = ({ retryAfterMs = Infinity }: Figures): number => retryAfterMs

/** Denied before allowed, then the longest wait, then the least remaining. */
function strictness(a: Figures, b: Figures): number {
  return Number(a.allowed) - Number(b.allowed) || (waitOf(a) === waitOf(b) ? a.remaining - b.remaining : waitOf(b) > waitOf(a) ? 1 : -1)
}

const by = (deciding: Decision, allowed: boolean, limits: Decision[]): Decisions =>
  ({ allowed, limits, retryAfterMs: deciding.retryAfterMs, headers: () => headers(limits, deciding) })

/** What a request under several limits gets. The strictest of them decides. */
export function decisions(allowed: boolean, limits: Decision[]): Decisions {
  return by(limits.length === 1 ? limits[0] : [...limits].sort(strictness)[0], allowed, limits)
}

/** What a request gets from limits that share. `paid` is the place of the one that paid, from 1; 0 is a denial. */
export function shared(paid: number, limits: Decision[]): Shared {
  const deciding = limits[paid - 1] ?? limits.reduce((first, next) => (waitOf(next) < waitOf(first) ? next : first))
  return Object.assign(by(deciding, paid > 0, limits), { paid })
}

/** The headers of a response to a request under these limits: all policies are listed, the other figures are those of one. */
function headers(limits: Figures[], deciding: Figures): Record<string, string> {
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
function item({ policy, at }: Figures, name: string): string {
  const window = policy.windowAt(at)
  // How many at once does not depend on the window.
  if (policy.algorithm === 'LEASE') return `"${name}";q=${Math.min(policy.limit, MAX_INTEGER)};w=${seconds(window)};qu="concurrent-requests"`
  let windows = 1
  while ((window * windows) % 1000 !== 0) windows += 1
  const [quota, length] = [policy.limit * windows, (window * windows) / 1000].map((n) => Math.min(n, MAX_INTEGER))
  return `"${name}";q=${quota};w=${length}`
}
