// The limit of this process while the server cannot decide: a plain counter for each key.
import type { Call, Limit } from './call.js'
import { type Decision, type Decisions, decision, decisions } from './decision.js'

const MOST_KEYS = 10_000

type Found = { limit: Limit; allowed: boolean; most: number; used: number; end: number }

export class Local {
  /** The units of a key, and when its window ends. */
  #counts = new Map<string, { used: number; end: number }>()
  /** Until then a full table stays full. */
  #fullUntil = 0
  #instances: number

  /** `instances`: how many processes share each limit. */
  constructor(instances: number) {
    this.#instances = instances
  }

  /**
   * The decisions on a call: all limits are charged, or none; of SHARE the first limit that allows, and each one after it.
   * A refund gives back what was counted here. Time is an argument, in milliseconds that never go back.
   */
  decide(verb: Call['verb'], limits: Limit[], now: number): Decisions {
    const counted = this.#counts.get(limits[0].key)
    if (verb === 'REFUND' && counted) counted.used = Math.max(counted.used - limits[0].cost, 0)
    const asked = limits.map((limit) => this.#look(limit, now))
    if (verb === 'SHARE') {
      const payer = asked.findIndex(({ allowed }) => allowed)
      const found = asked.map((each, at) => this.#decision(each, payer >= 0 && payer <= at, now))
      return decisions(verb, payer < 0 && found[found.length - 1].isShadow ? found.length : payer + 1, found)
    }
    const isAllowed = asked.every(({ limit, allowed }) => allowed || limit.policy.isShadow)
    const charges = isAllowed && verb !== 'PEEK' && verb !== 'REFUND'
    return decisions(verb, Number(isAllowed), asked.map((each) => this.#decision(each, charges && each.allowed, now)))
  }

  #decision({ limit, allowed, most, used, end }: Found, isCharged: boolean, now: number): Decision {
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

  #look(limit: Limit, now: number): Found {
    const { policy, key, cost } = limit
    const most = Math.min(policy.limit, Math.max(1, Math.floor(policy.limit / this.#instances)))
    if ((this.#counts.get(key)?.end ?? Infinity) <= now) this.#counts.delete(key)
    const found = this.#counts.get(key)
    const { used, end } = found ?? { used: 0, end: now + policy.windowMs }
    // Only the server knows who holds a lease and who is locked.
    const isCounted = policy.algorithm !== 'LEASE' && policy.algorithm !== 'LOCKOUT'
    if (!isCounted || (!found && !this.#hasPlace(now))) return { limit, allowed: false, most, used: most, end }
    return { limit, allowed: cost > 0 ? used + cost <= most : used < most, most, used, end }
  }

  /** Whether a new key can be counted. What has ended makes place. */
  #hasPlace(now: number): boolean {
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
