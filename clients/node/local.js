// @ts-check
// The limit of this process while the server cannot decide: a plain counter for each key.
import { decision, shared } from './decision.js'

const MOST_KEYS = 10_000

/** @typedef {import('./link.js').Limit} Limit */
/** @typedef {{limit: Limit, allowed: boolean, most: number, used: number, end: number}} Found */

export class Local {
  /**
   * The units of a key, and when its window ends. The first to begin is first.
   * @type {Map<string, {used: number, end: number}>}
   */
  #counts = new Map()
  /** Until then a full table stays full. */
  #fullUntil = 0
  #instances

  /** @param {number} instances how many processes share each limit */
  constructor(instances) {
    this.#instances = instances
  }

  /**
   * Charges all limits, or none. Time is an argument, in milliseconds that never go back.
   * @type {(limits: Limit[], now: number, charges?: boolean) => import('./decision.js').Decision[]}
   */
  decide(limits, now, charges = true) {
    const asked = limits.map((limit) => this.#look(limit, now))
    const charged = charges && asked.every(({ limit, allowed }) => allowed || limit.policy.isShadow)
    return asked.map((found) => this.#charge(found, charged && found.allowed ? found.limit.cost : 0, now))
  }

  /**
   * The first limit that allows pays, and those after it are charged too.
   * @type {(limits: Limit[], now: number) => import('./index.js').Shared}
   */
  share(limits, now) {
    const asked = limits.map((limit) => this.#look(limit, now))
    const payer = asked.findIndex(({ allowed }) => allowed)
    const found = asked.map((each, at) => this.#charge(each, payer >= 0 && payer <= at ? each.limit.cost : 0, now))
    const widest = found.length - 1
    return shared(payer < 0 && found[widest].isShadow ? widest + 1 : payer + 1, found)
  }

  /** @type {(found: Found, units: number, now: number) => import('./decision.js').Decision} */
  #charge({ limit, allowed, most, used, end }, units, now) {
    if (units > 0) this.#counts.set(limit.key, { used: used + units, end })
    const wait = Math.ceil(end - now)
    return decision({
      allowed: allowed || limit.policy.isShadow, count: used, limit: most, remaining: Math.max(most - used - units, 0),
      retryAfterMs: allowed ? 0 : limit.cost > most ? undefined : wait, nextMs: wait, resetMs: wait, delayMs: 0, at: Date.now(),
      isShadow: !allowed && limit.policy.isShadow, charged: units, source: 'local', policy: limit.policy,
    })
  }

  /**
   * Gives back what was counted here.
   * @param {Limit} limit
   */
  refund({ key, cost }) {
    const found = this.#counts.get(key)
    if (found) found.used = Math.max(found.used - cost, 0)
  }

  /** @type {(limit: Limit, now: number) => Found} */
  #look(limit, now) {
    const { policy, key, cost } = limit
    const most = Math.min(policy.limit, Math.max(1, Math.floor(policy.limit / this.#instances)))
    let found = this.#counts.get(key)
    if (found && found.end <= now) {
      this.#counts.delete(key)
      found = undefined
    }
    // Who holds a lease, and who is locked, only the server knows.
    const isCounted = policy.algorithm !== 'LEASE' && policy.algorithm !== 'LOCKOUT'
    const end = now + policy.windowMs
    if (!isCounted || (!found && !this.#hasPlace(now))) return { limit, allowed: false, most, used: most, end }
    const { used } = (found ??= { used: 0, end })
    return { limit, allowed: cost > 0 ? used + cost <= most : used < most, most, used, end: found.end }
  }

  /**
   * Whether a new key can be counted. What has ended makes place.
   * @param {number} now
   */
  #hasPlace(now) {
    if (this.#counts.size < MOST_KEYS) return true
    if (now < this.#fullUntil) return false
    this.#fullUntil = Infinity
    for (const [key, { end }] of this.#counts) {
      if (end <= now) this.#counts.delete(key)
      else this.#fullUntil = Math.min(this.#fullUntil, end)
    }
    return this.#counts.size < MOST_KEYS
  }
}
