// @ts-check
import { AsyncLocalStorage } from 'node:async_hooks'
import { Core } from './core.js'
import { RateLimitError, isUnavailable } from './guard.js'
import { problem } from './problem.js'
import { Limiter, Reservation } from './reservation.js'

export { Limiter, RateLimitError, Reservation, isUnavailable, problem }

export class RedisRlStore {
  /** The keys are those of a server that others use too. */
  localKeys = false

  /** @type {number} */
  #windowMs = 0
  /** @type {any} */
  #limit = 0
  /** Whether express-rate-limit allows a request if this store throws. */
  #passes = false
  #core

  /**
   * What increment() charged for the request at hand, for decrement(), which is told the key only. One asynchronous
   * function of express-rate-limit calls both, so what increment() enters here is there in decrement().
   * @type {AsyncLocalStorage<{key: string, charged: boolean, at: number}>}
   */
  #charges = new AsyncLocalStorage()

  /** @param {import('./types.js').StoreOptions} options */
  constructor(options) {
    this.#core = new Core(options)
    this.counters = Object.assign(this.#core.counters, { unrefunded: 0 })
    this.prefix = this.#core.prefix
  }

  /** @type {import('./index.js').RedisRlStore['init']} */
  init({ windowMs, limit, passOnStoreError, logger }) {
    if (!Number.isSafeInteger(windowMs) || windowMs < 1) {
      // express-rate-limit logs this. Each request is then an error of the module.
      throw new TypeError('windowMs: expected a positive integer of milliseconds')
    }
    this.#windowMs = windowMs
    this.#limit = limit
    this.#passes = passOnStoreError === true
    if (logger) this.#core.guard.logger = logger
  }

  /** @param {string} key */
  async increment(key) {
    const charge = { key, charged: false, at: 0 }
    // Before the first await: what is entered later is not seen by the caller.
    this.#charges.enterWith(charge)
    const { totalHits, ms, charged, at } = await this.#core.decide(this.#call(key), this.#passes)
    Object.assign(charge, { charged, at })
    return { totalHits, resetTime: timeIn(ms) }
  }

  /** @param {string} key */
  async decrement(key) {
    const charge = this.#charges.getStore()
    const own = charge?.key === key
    // express-rate-limit also takes back a request that was denied. FIXED counted that one, the others did not.
    if (own && !charge.charged) return
    try {
      await this.#core.refund(this.#call(key), own ? ['AT', String(charge.at)] : [])
    } catch (error) {
      // Not every version of express-rate-limit catches it, and the request has its response.
      const unavailable = isUnavailable(error)
      this.counters.unrefunded += 1
      if (!unavailable) this.counters.faults += 1
      this.#core.guard.tell(unavailable ? 'warn' : 'error', 'not given back', error, 'unrefunded')
    }
  }

  /** @param {string} key */
  async resetKey(key) {
    await this.#core.reset(this.#call(key))
  }

  /** @param {string} key */
  async get(key) {
    const found = await this.#core.peek(this.#call(key))
    return found && { totalHits: found.totalHits, resetTime: timeIn(found.ms) }
  }

  /** Ends the timers. The connection belongs to the caller, who closes it. */
  shutdown() {
    this.#core.close()
  }

  /** @param {string} key */
  #call(key) {
    return { key, windowMs: this.#windowMs, limit: this.#limit }
  }
}

/** @param {number | undefined} ms undefined for never */
function timeIn(ms) {
  return ms === undefined ? undefined : new Date(Date.now() + ms)
}
