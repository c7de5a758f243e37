// @ts-check
// What the stores of all frameworks share: a decision, and what a request gets without one.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Guard, LONGEST_TIMER, RateLimitError } from './guard.js'
import { bounded } from './keys.js'
import { Link } from './link.js'
import { accepts, integer, oneOf, validate } from './options.js'

const ALGORITHMS = ['FIXED', 'WINDOW', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'LEAKY', 'GCRA', 'LOCKOUT']

const TAKES_BURST = ['TOKEN', 'LEAKY', 'GCRA']
const TAKES_LOCK = ['LOCKOUT']

// The largest limit that the scripts take, which decide without the module.
const LARGEST = String(Number.MAX_SAFE_INTEGER)

/** @param {unknown} value */
function isLength(value) {
  return typeof value === 'string' && /^[1-9][0-9]*(ms|s|m|h|d)$/.test(value)
}

/** What the options of a store are, beside those of options.js. */
const OPTIONS = {
  algorithm: oneOf(ALGORITHMS),
  burst: integer(1, Number.MAX_SAFE_INTEGER),
  block: accepts("a text as '1m'", isLength),
  max: accepts("a text as '1d'", isLength),
  prefix: accepts('a text of at most 256 bytes', (value) => typeof value === 'string' && Buffer.byteLength(value) <= 256),
  secret: accepts('a text that is not empty', (value) => typeof value === 'string' && value !== ''),
}

/**
 * Whom to limit, and how. The key in Redis is the prefix, the scope and the key.
 * @typedef {{key: string, scope?: string, windowMs: number, limit: number | Function}} Call
 */

/**
 * @typedef {{allowed: boolean, count: number, remaining: number, retryAfter: number, next: number, delay: number,
 *   now: number, isShadow: boolean}} Figures
 */

/**
 * Frameworks deny if `totalHits > limit`, and send `limit - totalHits` as what remains. `ms`: until more is available
 * or, on a denial, until the next request is allowed; undefined for never. `at`: the server's time of the charge.
 * @typedef {{allowed: boolean, totalHits: number, ms: number | undefined, charged: boolean, at: number}} Decision
 */

export class Core {
  /** @type {string[]} */
  #options = []
  #link
  #secret
  #failOpen
  guard = new Guard()
  counters = this.guard.counters

  /** @param {import('./types.js').StoreOptions} options */
  constructor(options) {
    validate(options, OPTIONS)
    const { client, algorithm = 'FIXED', burst, block, max, prefix, timeout = 100, failOpen = false, secret, onError, module } = options
    if (burst !== undefined && !TAKES_BURST.includes(algorithm)) {
      throw new TypeError(`burst: ${algorithm} takes none; expected it with ${TAKES_BURST.join(', ')}`)
    }
    for (const [name, value] of Object.entries({ block, max })) {
      if (value !== undefined && !TAKES_LOCK.includes(algorithm)) throw new TypeError(`${name}: ${algorithm} takes none`)
      if (value !== undefined) this.#options.push(name.toUpperCase(), value)
    }
    this.algorithm = algorithm
    if (burst !== undefined) this.#options.push('BURST', String(burst))
    this.#link = new Link(client, timeout, this.guard, module)
    this.#failOpen = failOpen
    this.#secret = secret
    this.guard.onError = onError
    // No algorithm reads the state of another, so each has its own keys.
    this.prefix = prefix ?? `rl:${algorithm.toLowerCase()}:`
  }

  /**
   * Decides on a request. One that LEAKY allows is held for its delay.
   * @param {Call} call
   * @param {boolean} passes whether the framework allows a request if this throws
   * @returns {Promise<Decision>}
   */
  async decide(call, passes = false) {
    let reply
    try {
      reply = await this.#ask(`RL.${this.algorithm}`, [], call, [])
    } catch (error) {
      return this.withoutDecision(error, call.windowMs, passes)
    }
    if (reply.allowed) this.counters.allowed += 1
    else this.counters.denied += 1
    const ms = reply.allowed ? reply.next : reply.retryAfter
    const delay = Math.min(reply.delay, LONGEST_TIMER)
    if (delay > 0) await sleep(delay)
    return {
      allowed: reply.allowed,
      totalHits: this.#hits(reply, Number(this.#limit(call.limit))),
      ms: ms < 0 ? undefined : Math.max(ms - delay, 0),
      charged: this.algorithm === 'FIXED' ? reply.count > 0 : reply.allowed && !reply.isShadow,
      at: reply.now,
    }
  }

  /**
   * What a request gets without a decision: it is allowed only if the server cannot decide.
   * @type {(error: unknown, windowMs: number, passes: boolean) => Decision}
   */
  withoutDecision(error, windowMs, passes) {
    const outcome = this.guard.undecided(error, this.#failOpen || passes)
    const none = { ms: windowMs || 1000, charged: false, at: 0 }
    if (outcome === 'failedOpen' && !passes) return { allowed: true, totalHits: 1, ...none }
    // The framework would allow whatever this throws, so this is denied.
    if (outcome === 'faults' && passes) return { allowed: false, totalHits: Number.MAX_SAFE_INTEGER, ...none }
    throw new RateLimitError(outcome === 'faults' ? 500 : 503, error)
  }

  /**
   * @param {Call} call
   * @returns {Promise<{totalHits: number, ms: number | undefined} | undefined>} undefined if nothing is counted
   */
  async peek(call) {
    const reply = await this.#ask('RL.PEEK', [this.algorithm], call, ['COST', '0'], true)
    if (reply.count === 0) return undefined
    const totalHits = this.algorithm === 'FIXED' ? reply.count : Number(this.#limit(call.limit)) - reply.remaining
    return { totalHits, ms: reply.next < 0 ? undefined : reply.next }
  }

  /**
   * @param {Call} call
   * @param {string[]} at the time of the charge, if it is known
   */
  refund(call, at) {
    // RL.REFUND FIXED gives back from the smaller of counter and limit, and the counter may be above the limit.
    const limit = this.algorithm === 'FIXED' ? Infinity : call.limit
    return this.#ask('RL.REFUND', [this.algorithm], { ...call, limit }, at)
  }

  /** @param {Call} call */
  reset(call) {
    const key = this.#key(call)
    return this.#link.call(key, false, ['RL.RESET', this.algorithm, key, `${call.windowMs}ms`])
  }

  /** Ends the timers. */
  close() {
    this.#link.close()
  }

  /**
   * The number that makes what frameworks compare and send true to the module's reply is `limit - remaining`, and
   * `limit + 1` for a denial.
   *
   * FIXED counts every request whatever the limit is, denied ones too, so there it is the counter.
   * @type {(reply: Figures, limit: number) => number}
   */
  #hits(reply, limit) {
    const counted = this.algorithm === 'FIXED' ? reply.count : limit - reply.remaining
    if (!reply.allowed) return Math.max(counted, limit + 1)
    // More than `limit` if the server is in shadow mode, less than 1 with a BURST above the limit.
    return Math.min(Math.max(counted, 1), limit)
  }

  /**
   * The limit as the module takes it.
   * @param {Call['limit']} limit
   */
  #limit(limit) {
    if (typeof limit === 'number') {
      return limit > Number.MAX_SAFE_INTEGER ? LARGEST : String(Math.max(0, Math.floor(limit)))
    }
    if (typeof limit !== 'function') throw new TypeError(`limit: expected a number, not ${JSON.stringify(limit)}`)
    // express-rate-limit does not tell a store the limit of a request. FIXED counts the same under every limit;
    // express-rate-limit then compares with that of the request.
    if (this.algorithm === 'FIXED') return LARGEST
    throw new TypeError("The limit is a function: create a limiter for each limit, or use algorithm: 'FIXED'")
  }

  /**
   * The figures of LINE that are used here.
   * @type {(command: string, algorithm: string[], call: Call, options: string[], readOnly?: boolean) => Promise<Figures>}
   */
  async #ask(command, algorithm, call, options, readOnly = false) {
    const key = this.#key(call)
    const words = [command, ...algorithm, key, `${call.windowMs}ms`, this.#limit(call.limit), ...this.#options, ...options]
    words.push('LINE')
    const line = String(await this.#link.call(key, readOnly, words)).split(' ')
    return {
      allowed: line[0] === '1',
      count: Number(line[1]),
      remaining: Number(line[4]),
      retryAfter: Number(line[5]),
      next: Number(line[6]),
      delay: Number(line[8]),
      now: Number(line[9]),
      isShadow: line[10] === '1',
    }
  }

  /** @param {Call} call */
  #key({ key, scope = '' }) {
    // Callers whose key is undefined would share one limit.
    if (typeof key !== 'string' && !Number.isFinite(key)) {
      throw new TypeError('keyGenerator: expected a string or a finite number')
    }
    key = String(key)
    if (this.#secret !== undefined) key = createHmac('sha256', this.#secret).update(key).digest('hex').slice(0, 32)
    return bounded(key, this.prefix + scope)
  }

}
