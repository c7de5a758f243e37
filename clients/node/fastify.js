// @ts-check
import { STATUS_CODES } from 'node:http'
import { Store as Shared } from './store.js'

/** @typedef {import('./fastify.js').Settings} Settings */

const DAY = 86_400_000

/** @param {import('./types.js').StoreOptions} options */
export function redisRlStore(options) {
  const shared = new Shared(options)
  return class Store {
    static counters = shared.counters
    #part
    #allowsErrors
    /** How many denials come before a ban; undefined for none. @type {number | undefined} */
    #ban
    #backsOff

    /** @param {Settings} settings */
    constructor(settings, part = '') {
      const { ban = -1, continueExceeding, exponentialBackoff = false, skipOnError } = settings
      if (continueExceeding) throw new TypeError('continueExceeding: expected none; a denial ends when the limit allows the request')
      this.#ban = ban >= 0 ? ban : undefined
      this.#backsOff = exponentialBackoff
      this.#part = part
      this.#allowsErrors = skipOnError === true
      if (typeof settings.max === 'number' && typeof settings.timeWindow === 'number' && settings.global !== false) {
        const { windowMs, limit, lock } = this.#call('', settings.timeWindow, settings.max)
        const policy = shared.policy(windowMs, limit, lock)
        shared.limiter.fixed(policy, shared.scope(policy, part))
      }
    }

    /**
     * A route with limits of its own has keys of its own.
     * @param {Settings & {routeInfo: {method?: string | string[], url?: string}}} settings
     */
    child(settings) {
      const { method = 'createRateLimit', url = '' } = settings.routeInfo
      return new Store(settings, `${method} ${url}:`)
    }

    /**
     * @param {string} key
     * @param {Callback} callback
     * @param {number} timeWindow in milliseconds
     * @param {number} max
     */
    incr(key, callback, timeWindow, max) {
      reply(shared.count(this.#call(key, timeWindow, max), this.#allowsErrors), callback, timeWindow)
    }

    /**
     * What is counted, for `{ increment: false }`. Nothing is charged.
     * @type {Store['incr']}
     */
    read(key, callback, timeWindow, max) {
      const found = shared.peek(this.#call(key, timeWindow, max), this.#allowsErrors)
      reply(found.then((counted) => counted ?? { hits: 0, ms: 0 }), callback, timeWindow)
    }

    /**
     * `ban` and `exponentialBackoff` are LOCKOUT, of which each denial extends nothing. Those before a ban are requests that
     * LOCKOUT allows and whose hits are above the limit; Fastify bans what is further above it.
     * @type {(key: string, timeWindow: number, max: number) => import('./store.js').Call}
     */
    #call(who, windowMs, max) {
      const call = { who, windowMs, limit: max + (this.#ban ?? 0), scope: this.#part }
      if (this.#ban === undefined && !this.#backsOff) return call
      return { ...call, lock: { block: windowMs, max: this.#backsOff ? Math.max(DAY, windowMs) : windowMs } }
    }
  }
}

/** @typedef {(error: Error | null, result?: {current: number, ttl: number}) => void} Callback */

/** @type {(found: Promise<{hits: number, ms: number | undefined}>, callback: Callback, timeWindow: number) => void} */
function reply(found, callback, timeWindow) {
  found.then(
    ({ hits, ms = timeWindow }) => callback(null, { current: hits, ttl: ms }),
    // Fastify sends the message.
    ({ status = 500, headers, cause }) => {
      callback(Object.assign(new Error(STATUS_CODES[status], { cause }), { statusCode: status, headers }))
    },
  )
}
