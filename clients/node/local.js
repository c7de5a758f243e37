// @ts-check
// The limit of this process while the server cannot decide: a plain counter for each key.
import { decision, decisions, shared } from './decision.js'

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
   * The decisions on a call: all limits are charged, or none; of SHARE the first limit that allows, and each one after it.
   * A refund gives back what was counted here. Time is an argument, in milliseconds that never go back.
   * @type {(verb: import('./link.js').Call['verb'], limits: Limit[], now: number) => import('./decision.js').Decisions}
   */
  decide(verb, limits, now) {
    const counted = this.#counts.get(limits[0].key)
    if (verb === 'REFUND' && counted) counted.used = Math.max(counted.used - limits[0].cost, 0)
    const asked = limits.map((limit) => this.#look(limit, now))
    if (verb === 'SHARE') {
      const payer = asked.findIndex(({ allowed }) => allowed)
      const found = asked.map((each, at) => this.#decision(each, payer >= 0 && payer <= at, now))
      return shared(payer < 0 && found[found.length - 1].isShadow ? found.length : payer + 1, found)
    }
    const charges = verb !== 'PEEK' && verb !== 'REFUND' && asked.every(({ limit, allowed }) => allowed || limit.policy.isShadow)
    const found = asked.map((each) => this.#decision(each, charges && each.allowed, now))
    return decisions(found.every(({ allowed }) => allowed), found)
  }

  /** @type {(found: Found, isCharged: boolean, now: number) => import('./decision.js').Decision} */
  #decision({ limit, allowed, most, used, end }, isCharged, now) {
    // A wider limit of SHARE may be charged though it denies, but not without a place in the table.
    const units = isCharged && (allowed || this.#counts.has(limit.key)) ? limit.cost : 0
    if (units > 0) this.#counts.set(limit.key, { used: used + units, end })
    const wait = Math.ceil(end - now)
    return decision({
      allowed: allowed || limit.policy.isShadow, count: used, limit: most, remaining: Math.max(most - used - units, 0),
      retryAfterMs: allowed ? 0 : limit.cost > most ? undefined : wait, nextMs: wait, resetMs: wait, delayMs: 0, at: Date.now(),
      isShadow: !allowed && limit.policy.isShadow, charged: units, source: 'local', policy: limit.policy,
    })
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
    // Only the server knows who holds a lease and who is locked.
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
