// @ts-check
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Guard, LONGEST_TIMER, RateLimitError, isUnavailable } from './guard.js'
import { bounded } from './keys.js'
import { Link } from './link.js'
import { accepts, integer, oneOf, validate } from './options.js'
import { problem } from './problem.js'
import { Limiter, Reservation } from './reservation.js'

export { Limiter, RateLimitError, Reservation, isUnavailable, problem }

/** @typedef {import('express-rate-limit').Store} Store */

const ALGORITHMS = ['FIXED', 'WINDOW', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'LEAKY', 'GCRA']

const TAKES_BURST = ['TOKEN', 'LEAKY', 'GCRA']

// The largest limit that the module takes.
const LARGEST = '9223372036854775807'

/** What the options of a store are, beside those of options.js. */
const OPTIONS = {
  algorithm: oneOf(ALGORITHMS),
  burst: integer(1, Number.MAX_SAFE_INTEGER),
  prefix: accepts('a text of at most 256 bytes', (value) => typeof value === 'string' && Buffer.byteLength(value) <= 256),
  secret: accepts('a text that is not empty', (value) => typeof value === 'string' && value !== ''),
}

/** @implements {Store} */
export class RedisRlStore {
  /** The keys are those of a server that others use too. */
  localKeys = false

  /** @type {number} */
  #windowMs = 0
  /** @type {import('express-rate-limit').Options['limit']} */
  #limit = 0
  /** Whether express-rate-limit allows a request if this store throws. */
  #passes = false
  #algorithm
  #burst
  #link
  #secret
  #failOpen
  #guard = new Guard()
  #counters = Object.assign(this.#guard.counters, { unrefunded: 0 })

  /**
   * What increment() charged for the request at hand, for decrement(), which is told the key only. One asynchronous
   * function of express-rate-limit calls both, so what increment() enters here is there in decrement().
   * @type {AsyncLocalStorage<{key: string, charged: boolean, at: number}>}
   */
  #charges = new AsyncLocalStorage()

  /** @param {import('./index.js').StoreOptions} options */
  constructor(options) {
    validate(options, OPTIONS)
    const { client, algorithm = 'FIXED', burst, prefix, timeout = 100, failOpen = false, secret, onError } = options
    if (burst !== undefined && !TAKES_BURST.includes(algorithm)) {
      throw new TypeError(`burst: ${algorithm} takes none; expected it with ${TAKES_BURST.join(', ')}`)
    }
    this.#algorithm = algorithm
    this.#burst = burst === undefined ? [] : ['BURST', String(burst)]
    this.#link = new Link(client, timeout)
    this.#failOpen = failOpen
    this.#secret = secret
    this.#guard.onError = onError
    // No algorithm reads the state of another, so each has its own keys.
    this.prefix = prefix ?? `rl:${algorithm.toLowerCase()}:`
  }

  /** What happened since the start. */
  get counters() {
    return this.#counters
  }

  /** @param {import('express-rate-limit').Options} options */
  init({ windowMs, limit, passOnStoreError, logger }) {
    if (!Number.isSafeInteger(windowMs) || windowMs < 1) {
      // express-rate-limit logs this. Each request is then an error of the module.
      throw new TypeError('windowMs: expected a positive integer of milliseconds')
    }
    this.#windowMs = windowMs
    this.#limit = limit
    this.#passes = passOnStoreError === true
    if (logger) this.#guard.logger = /** @type {any} */ (logger)
  }

  /** @param {string} key */
  async increment(key) {
    const charge = { key, charged: false, at: 0 }
    // Before the first await: what is entered later is not seen by the caller.
    this.#charges.enterWith(charge)
    let limit, reply
    try {
      limit = this.#currentLimit()
      reply = await this.#ask(`RL.${this.#algorithm}`, [], key, limit, [...this.#burst, 'FULL'])
    } catch (error) {
      return this.#withoutDecision(error)
    }
    const hits = this.#hits(reply, Number(limit))
    charge.charged = this.#algorithm === 'FIXED' ? reply.count > 0 : reply.allowed === 1 && reply.shadow === 0
    charge.at = reply.now_ms
    if (reply.allowed) this.counters.allowed += 1
    else this.counters.denied += 1
    const resetTime = timeIn(reply.allowed ? reply.next_ms : reply.retry_after_ms)
    // The delay of LEAKY.
    if (reply.delay_ms > 0) await sleep(Math.min(reply.delay_ms, LONGEST_TIMER))
    return { totalHits: hits, resetTime }
  }

  /**
   * What a request gets without a decision: it is allowed only if the server cannot decide.
   * @param {unknown} error
   * @returns {import('express-rate-limit').ClientRateLimitInfo}
   */
  #withoutDecision(error) {
    const outcome = this.#guard.undecided(error, this.#failOpen || this.#passes)
    const resetTime = new Date(Date.now() + (this.#windowMs || 1000))
    if (outcome === 'failedOpen' && !this.#passes) return { totalHits: 1, resetTime }
    // express-rate-limit would allow whatever this throws, so this is denied.
    if (outcome === 'faults' && this.#passes) return { totalHits: Number.MAX_SAFE_INTEGER, resetTime }
    throw new RateLimitError(outcome === 'faults' ? 500 : 503, error)
  }

  /** @param {string} key */
  async decrement(key) {
    const charge = this.#charges.getStore()
    const own = charge?.key === key
    // express-rate-limit also takes back a request that was denied. FIXED counted that one, the others did not.
    if (own && !charge.charged) return
    try {
      // RL.REFUND FIXED gives back from the smaller of counter and limit, and the counter may be above the limit.
      const limit = this.#algorithm === 'FIXED' ? LARGEST : this.#currentLimit()
      await this.#ask('RL.REFUND', [this.#algorithm], key, limit, [
        ...this.#burst,
        ...(own ? ['AT', String(charge.at)] : []),
        'FULL',
      ])
    } catch (error) {
      // Not every version of express-rate-limit catches it, and the request has its response.
      const unavailable = isUnavailable(error)
      this.counters.unrefunded += 1
      if (!unavailable) this.counters.faults += 1
      this.#guard.tell(unavailable ? 'warn' : 'error', 'not given back', error, 'unrefunded')
    }
  }

  /** @param {string} key */
  async resetKey(key) {
    key = this.#key(key)
    await this.#call(key, false, ['RL.RESET', this.#algorithm, key, `${this.#windowMs}ms`])
  }

  /** @param {string} key */
  async get(key) {
    const limit = this.#currentLimit()
    const reply = await this.#ask('RL.PEEK', [this.#algorithm], key, limit, [...this.#burst, 'COST', '0', 'FULL'], true)
    if (reply.count === 0) return undefined
    const totalHits = this.#algorithm === 'FIXED' ? reply.count : Number(limit) - reply.remaining
    return { totalHits, resetTime: timeIn(reply.next_ms) }
  }

  /** Ends the timers. The connection belongs to the caller, who closes it. */
  shutdown() {
    this.#link.close()
  }

  /**
   * express-rate-limit denies if `totalHits > limit`, and sends `limit - totalHits` as what remains. The number that
   * makes both true to the module's reply is `limit - remaining`, and `limit + 1` for a denial.
   *
   * FIXED counts every request whatever the limit is, denied ones too, so there it is the counter.
   *
   * @param {Record<string, number>} reply
   * @param {number} limit
   */
  #hits(reply, limit) {
    const counted = this.#algorithm === 'FIXED' ? reply.count : limit - reply.remaining
    if (!reply.allowed) return Math.max(counted, limit + 1)
    // More than `limit` if the server is in shadow mode, less than 1 with a BURST above the limit.
    return Math.min(Math.max(counted, 1), limit)
  }

  /** The limit as the module takes it. */
  #currentLimit() {
    if (typeof this.#limit !== 'function') {
      return this.#limit > Number.MAX_SAFE_INTEGER ? LARGEST : String(Math.max(0, Math.floor(this.#limit)))
    }
    // express-rate-limit does not tell a store the limit of a request. FIXED counts the same under every limit;
    // express-rate-limit then compares with that of the request.
    if (this.#algorithm === 'FIXED') return LARGEST
    throw new TypeError("The limit is a function: create a limiter for each limit, or use algorithm: 'FIXED'")
  }

  /**
   * @param {string} command
   * @param {string[]} algorithm
   * @param {string} key
   * @param {string} limit
   * @param {string[]} options
   * @returns {Promise<Record<string, number>>} the reply of FULL
   */
  async #ask(command, algorithm, key, limit, options, readOnly = false) {
    key = this.#key(key)
    const words = [command, ...algorithm, key, `${this.#windowMs}ms`, limit, ...options]
    return fields(await this.#call(key, readOnly, words))
  }

  /** @param {string} key */
  #key(key) {
    // Callers whose key is undefined would share one limit.
    if (typeof key !== 'string' && !Number.isFinite(key)) {
      throw new TypeError('keyGenerator: expected a string or a finite number')
    }
    key = String(key)
    if (this.#secret !== undefined) key = createHmac('sha256', this.#secret).update(key).digest('hex').slice(0, 32)
    return bounded(key, this.prefix)
  }

  /**
   * @param {string} key
   * @param {boolean} readOnly
   * @param {string[]} words
   */
  #call(key, readOnly, words) {
    return this.#guard.counted(this.#link.call(key, readOnly, words))
  }
}

/** @param {number} ms -1 for never */
function timeIn(ms) {
  return ms < 0 ? undefined : new Date(Date.now() + ms)
}

/**
 * FULL is a map on RESP3, for which clients have their own types, and a flat array on RESP2.
 * @param {any} reply
 * @returns {Record<string, number>}
 */
function fields(reply) {
  let pairs
  if (Array.isArray(reply)) pairs = reply.flatMap((name, i) => (i % 2 ? [] : [[name, reply[i + 1]]]))
  else if (reply instanceof Map) pairs = [...reply]
  else pairs = Object.entries(reply)
  return Object.fromEntries(pairs.map(([name, value]) => [String(name), Number(value)]))
}
