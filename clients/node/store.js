// @ts-check
// What the stores of all frameworks share. Frameworks deny if the hits are above the limit, and send `limit - hits` as what
// remains.
import { setTimeout as sleep } from 'node:timers/promises'
import { RateLimitError } from './errors.js'
import { Limiter, validate } from './limiter.js'
import { Policy } from './policy.js'

/** A longer timer of Node.js ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** The options of a store, beside those of a Limiter. Policy says what they must be. @type {Record<string, [string, () => boolean]>} */
const OWN = Object.fromEntries(['algorithm', 'burst', 'block', 'max', 'name'].map((name) => [name, ['', () => true]]))

/**
 * Whom to limit, and how. `lock`: the request is limited by LOCKOUT with this lock, in milliseconds. `wrong`: why each request
 * is an error.
 * @typedef {{who: string, windowMs: number, limit: unknown, scope?: string, lock?: {block: number, max: number}, wrong?: unknown}} Call
 */

/** `ms`: until more is available or, on a denial, until the next request is allowed; undefined for never. `at`: the server's time of the charge. */
/** @typedef {{allowed: boolean, hits: number, ms: number | undefined, charged: boolean, at: number}} Counted */

export class Store {
  #prefix
  /** The words of a policy after its limit, and those of a lock. */
  #options
  #name

  /** @param {import('./types.js').StoreOptions} options */
  constructor(options) {
    validate(options, OWN)
    const { algorithm = 'FIXED', burst, block, max, name, prefix, ...rest } = options
    // What is wrong with the options is an error now. Window and limit come with each request.
    const policy = new Policy({ algorithm, window: 1, limit: 1, burst, block, max, name })
    this.algorithm = policy.algorithm
    this.#name = name === undefined ? '' : ` AS ${name}`
    this.#options = [...policy.words.slice(2), this.#name].join(' ')
    this.#prefix = prefix
    this.limiter = new Limiter(rest)
    this.counters = Object.assign(this.limiter.counters, { unrefunded: 0 })
    if (this.algorithm === 'LEASE') throw new TypeError('algorithm: LEASE is not for requests')
  }

  /**
   * The policy of a window and a limit.
   * @type {(windowMs: number, limit: unknown, lock?: Call['lock']) => Policy}
   */
  policy(windowMs, limit, lock) {
    const text = `${windowMs}ms ${this.#number(limit)}`
    if (lock) return Policy.of(`LOCKOUT ${text} BLOCK ${lock.block}ms MAX ${lock.max}ms${this.#name}`)
    return Policy.of(`${this.algorithm} ${text} ${this.#options}`)
  }

  /**
   * What the keys begin with: the prefix of this store, else the name of the policy. `part` is one of the framework's.
   * @type {(policy: Policy, part?: string) => string}
   */
  scope(policy, part = '') {
    return `${this.#prefix ?? `${policy.name}:`}${part}`
  }

  /**
   * Decides on a request. One that LEAKY allows is held for its delay. `allowsErrors`: the framework allows a request if this
   * throws.
   * @type {(call: Call, allowsErrors?: boolean) => Promise<Counted>}
   */
  async count(call, allowsErrors = false) {
    let limits
    try {
      if (call.wrong) throw call.wrong
      limits = [this.#limit(call)]
    } catch (error) {
      // What a program does wrong is never allowed.
      this.limiter.rejected(error)
      if (!allowsErrors) throw new RateLimitError(500, error)
      return { allowed: false, hits: Number.MAX_SAFE_INTEGER, ms: call.windowMs || 1000, charged: false, at: 0 }
    }
    const { limits: [found] } = await this.limiter.decide('CHECK', limits, allowsErrors)
    const isKnown = found.source === 'server' || found.source === 'local'
    const ms = !isKnown ? call.windowMs : found.allowed ? found.nextMs : found.retryAfterMs
    const delay = Math.min(found.delayMs, LONGEST_TIMER)
    if (delay > 0) await sleep(delay)
    return {
      allowed: found.allowed,
      hits: this.#hits(found, Number(this.#number(call.limit)), isKnown),
      ms: ms === undefined ? undefined : Math.max(ms - delay, 0),
      charged: found.source === 'server' && (found.policy.algorithm === 'FIXED' ? found.count > 0 : found.charged > 0),
      at: found.at,
    }
  }

  /**
   * What is counted; undefined if nothing is. `allowsErrors` as above.
   * @type {(call: Call, allowsErrors?: boolean) => Promise<{hits: number, ms: number | undefined} | undefined>}
   */
  async peek(call, allowsErrors) {
    const { limits: [found] } = await this.limiter.decide('PEEK', [this.#limit(call, 0)], allowsErrors)
    if (found.source === 'deny') return { hits: Number.MAX_SAFE_INTEGER, ms: found.retryAfterMs }
    if (found.count === 0) return undefined
    const hits = found.policy.algorithm === 'FIXED' ? found.count : Number(this.#number(call.limit)) - found.remaining
    return { hits, ms: found.nextMs }
  }

  /**
   * Gives a request back. What cannot be given back is counted, and no error: the request has its response.
   * @type {(call: Call, at: number | undefined) => Promise<void>}
   */
  async refund(call, at) {
    try {
      // RL.REFUND FIXED gives back from the smaller of counter and limit, and the counter may be above the limit.
      const limit = this.algorithm === 'FIXED' ? Infinity : call.limit
      const { policy } = this.#limit(call)
      await this.limiter.refund(this.policy(call.windowMs, limit), call.who, { at, scope: this.scope(policy, call.scope) })
    } catch (error) {
      const { status, cause } = /** @type {RateLimitError} */ (error)
      this.counters.unrefunded += 1
      if (status === 500) this.counters.faults += 1
      this.limiter.log.limited(status === 503 ? 'warn' : 'error', 'not given back', cause ?? error)
    }
  }

  /** @param {Call} call */
  async reset(call) {
    const { policy } = this.#limit(call)
    await this.limiter.reset(policy, call.who, { scope: this.scope(policy, call.scope) })
  }

  /** @type {(call: Call, cost?: number) => import('./link.js').Limit} */
  #limit({ who, windowMs, limit, scope, lock }, cost) {
    const policy = this.policy(windowMs, limit, lock)
    return this.limiter.limit(policy, who, { cost, scope: this.scope(policy, scope) })
  }

  /**
   * The number that makes what frameworks compare and send true to the decision is `limit - remaining`, and `limit + 1` for a
   * denial. FIXED counts every request whatever the limit is, denied ones too, so there it is the counter.
   * @type {(found: import('./decision.js').Decision, limit: number, isKnown: boolean) => number}
   */
  #hits({ allowed, count, remaining, policy, source }, limit, isKnown) {
    const counted = !isKnown ? 1 : policy.algorithm === 'FIXED' && source === 'server' ? count : limit - remaining
    if (!allowed) return isKnown ? Math.max(counted, limit + 1) : Number.MAX_SAFE_INTEGER
    // More than `limit` if the server is in shadow mode, less than 1 with a BURST above the limit.
    return Math.min(Math.max(counted, 1), limit)
  }

  /**
   * The limit as a policy takes it.
   * @param {unknown} limit
   */
  #number(limit) {
    if (typeof limit === 'number' && !Number.isNaN(limit)) return Math.min(Math.max(0, Math.floor(limit)), Number.MAX_SAFE_INTEGER)
    if (typeof limit !== 'function') throw new TypeError(`limit: expected a number, not ${JSON.stringify(limit)}`)
    // express-rate-limit does not tell a store the limit of a request. FIXED counts the same under every limit;
    // express-rate-limit then compares with that of the request.
    if (this.algorithm === 'FIXED') return Number.MAX_SAFE_INTEGER
    throw new TypeError('limit: a store does not see a limit that is a function: use limit() of rate-limit-redis-rl, or FIXED')
  }
}
