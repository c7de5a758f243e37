// @ts-check
import { STATUS_CODES } from 'node:http'
import { Core } from './core.js'

/** @typedef {import('./fastify.js').Settings} Settings */

/** @param {import('./types.js').StoreOptions} options */
export function redisRlStore(options) {
  const core = new Core(options)
  return class Store {
    static counters = core.counters
    #scope
    #passes

    /** @param {Settings} settings */
    constructor(settings, scope = '* ') {
      const { ban = -1, continueExceeding, exponentialBackoff, skipOnError } = settings
      for (const [name, isSet] of Object.entries({ ban: ban >= 0, continueExceeding, exponentialBackoff })) {
        if (isSet) throw new TypeError(`${name}: expected none; a denial ends when the limit allows the request`)
      }
      this.#scope = scope
      this.#passes = skipOnError === true
    }

    /**
     * A route with limits of its own has keys of its own.
     * @param {Settings & {routeInfo: {method?: string | string[], url?: string}}} settings
     */
    child(settings) {
      const { method = 'createRateLimit', url = '' } = settings.routeInfo
      return new Store(settings, `${method} ${url} `)
    }

    /**
     * @param {string} key
     * @param {(error: Error | null, result?: {current: number, ttl: number}) => void} callback
     * @param {number} timeWindow in milliseconds
     * @param {number} max
     */
    incr(key, callback, timeWindow, max) {
      const call = { key, windowMs: timeWindow, limit: max, scope: this.#scope }
      reply(core.decide(call, this.#passes), callback, timeWindow)
    }

    /**
     * What is counted, for `{ increment: false }`. Nothing is charged.
     * @type {Store['incr']}
     */
    read(key, callback, timeWindow, max) {
      const call = { key, windowMs: timeWindow, limit: max, scope: this.#scope }
      const none = { totalHits: 0, ms: 0 }
      const found = core.peek(call).catch((error) => core.withoutDecision(error, timeWindow, this.#passes))
      reply(found.then((hits) => hits ?? none), callback, timeWindow)
    }
  }
}

/**
 * @param {Promise<{totalHits: number, ms: number | undefined}>} found
 * @param {(error: Error | null, result?: {current: number, ttl: number}) => void} callback
 * @param {number} timeWindow
 */
function reply(found, callback, timeWindow) {
  found.then(
    ({ totalHits, ms = timeWindow }) => callback(null, { current: totalHits, ttl: ms }),
    // Fastify sends the message.
    ({ status, headers, cause }) => {
      callback(Object.assign(new Error(STATUS_CODES[status], { cause }), { statusCode: status, headers }))
    },
  )
}
