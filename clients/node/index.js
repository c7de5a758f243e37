// @ts-check
import { AsyncLocalStorage } from 'node:async_hooks'
import { RateLimitError, isUnavailable } from './errors.js'
import { addressKey } from './keys.js'
import { Limiter } from './limiter.js'
import { Policy } from './policy.js'
import { problem } from './problem.js'
import { Store } from './store.js'

export { Limiter, Policy, RateLimitError, addressKey, isUnavailable, limit, problem }

/**
 * A middleware of Express: one or several limits, each with a key of its own.
 * @type {typeof import('./index.js').limit}
 */
function limit(limiter, limits) {
  const own = limits.map(({ policy, ...rest }) => ({ ...rest, policy: typeof policy === 'function' ? policy : limiter.fixed(policy) }))
  if (own.length === 0) throw new TypeError('limits: expected at least one')
  return async (request, response, next) => {
    try {
      const asked = own.map(async ({ policy, key, cost }) => {
        return [typeof policy === 'function' ? await policy(request) : policy, await key(request), { cost: await cost?.(request) }]
      })
      const found = await limiter.checkAll(/** @type {any} */ (await Promise.all(asked)))
      for (const [name, value] of Object.entries(found.headers())) response.set({ [name]: value })
      if (found.allowed) return next()
      const violated = found.limits.flatMap(({ allowed, policy }) => (allowed ? [] : [policy.label]))
      problem.quotaExceeded(response, violated)
    } catch (error) {
      next(error)
    }
  }
}

/** For the option `store` of express-rate-limit. */
export class RedisRlStore {
  /** The keys are those of a server that others use too. */
  localKeys = false

  #windowMs = 0
  /** @type {unknown} */
  #limit = 0
  /** Whether express-rate-limit allows a request if this store throws. */
  #allowsErrors = false
  /** @type {unknown} */
  #wrong
  #store

  /**
   * What increment() charged for the request at hand, for decrement(), which is told the key only. One asynchronous
   * function of express-rate-limit calls both, so what increment() enters here is there in decrement().
   * @type {AsyncLocalStorage<{key: string, charged: boolean, at: number}>}
   */
  #charges = new AsyncLocalStorage()

  /** @param {import('./types.js').StoreOptions} options */
  constructor(options) {
    this.#store = new Store(options)
    this.counters = this.#store.counters
    this.prefix = options.prefix
  }

  /** @type {import('./index.js').RedisRlStore['init']} */
  init({ windowMs, limit, passOnStoreError, logger }) {
    this.#windowMs = windowMs
    this.#limit = limit
    this.#allowsErrors = passOnStoreError === true
    if (logger) this.#store.limiter.log.logger = logger
    try {
      if (!Number.isSafeInteger(windowMs) || windowMs < 1) throw new TypeError('windowMs: expected a positive integer of milliseconds')
      if (typeof limit !== 'number') return
      const policy = this.#store.policy(windowMs, limit)
      this.#store.limiter.fixed(policy, this.#store.scope(policy))
    } catch (error) {
      // express-rate-limit logs this and goes on. Each request is an error then.
      this.#wrong = error
      throw error
    }
  }

  /** @param {string} key */
  async increment(key) {
    const charge = { key, charged: false, at: 0 }
    // Before the first await: what is entered later is not seen by the caller.
    this.#charges.enterWith(charge)
    const { hits, ms, charged, at } = await this.#store.count(this.#call(key), this.#allowsErrors)
    Object.assign(charge, { charged, at })
    return { totalHits: hits, resetTime: timeIn(ms) }
  }

  /** @param {string} key */
  async decrement(key) {
    const charge = this.#charges.getStore()
    const own = charge?.key === key
    // express-rate-limit also takes back a request that was denied. FIXED counted that one, the others did not.
    if (own && !charge.charged) return
    await this.#store.refund(this.#call(key), own ? charge.at : undefined)
  }

  /** @param {string} key */
  async resetKey(key) {
    await this.#store.reset(this.#call(key))
  }

  /** @param {string} key */
  async get(key) {
    const found = await this.#store.peek(this.#call(key))
    return found && { totalHits: found.hits, resetTime: timeIn(found.ms) }
  }

  /** @param {string} key */
  #call(key) {
    return { who: key, windowMs: this.#windowMs, limit: this.#limit, wrong: this.#wrong }
  }
}

/** @param {number | undefined} ms undefined for never */
function timeIn(ms) {
  return ms === undefined ? undefined : new Date(Date.now() + ms)
}
