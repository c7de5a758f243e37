import type { FastifyRateLimitStoreCtor, RateLimitPluginOptions } from '@fastify/rate-limit'
import type { RateLimitError } from './errors.js'
import { type Asked, Store as Shared, type StoreCounters, type StoreOptions } from './store.js'

type Settings = Pick<RateLimitPluginOptions, 'ban' | 'continueExceeding' | 'exponentialBackoff' | 'skipOnError' | 'max' | 'timeWindow' | 'global'>
type Callback = (error: Error | null, result?: { current: number; ttl: number }) => void

const DAY = 86_400_000

/**
 * For the option `store` of @fastify/rate-limit. An error has `statusCode` 503 if the server cannot decide, 500 if it
 * rejects the call.
 */
export function redisRlStore(options: StoreOptions): FastifyRateLimitStoreCtor & { readonly counters: StoreCounters } {
  const shared = new Shared(options)
  class Store {
    static counters = shared.counters
    #part: string
    /** How many denials come before a ban; undefined for none. */
    #ban: number | undefined
    #backsOff: boolean

    constructor({ ban = -1, continueExceeding, exponentialBackoff = false, skipOnError, max, timeWindow, global }: Settings, part = '') {
      if (continueExceeding) throw new TypeError('continueExceeding: expected none; a denial ends when the limit allows the request')
      this.#ban = ban >= 0 ? ban : undefined
      this.#backsOff = exponentialBackoff
      this.#part = part
      if (skipOnError) shared.passErrors()
      if (typeof max === 'number' && typeof timeWindow === 'number' && global !== false) shared.register(this.#asked('', timeWindow, max))
    }

    /** A route with limits of its own has keys of its own. */
    child(settings: Settings & { routeInfo: { method?: string | string[]; url?: string } }): Store {
      const { method = 'createRateLimit', url = '' } = settings.routeInfo
      return new Store(settings, `${method} ${url}:`)
    }

    /** `timeWindow` is in milliseconds. */
    incr(key: string, callback: Callback, timeWindow: number, max: number): void {
      shared.count(this.#asked(key, timeWindow, max)).then(
        ({ hits, ms = timeWindow }) => callback(null, { current: hits, ttl: ms }),
        // Fastify sends the message.
        ({ title, status, headers, cause }: RateLimitError) => callback(Object.assign(new Error(title, { cause }), { statusCode: status, headers })),
      )
    }

    /**
     * `ban` and `exponentialBackoff` are LOCKOUT, of which each denial extends nothing. Those before a ban are requests that
     * LOCKOUT allows and whose hits are above the limit; Fastify bans what is further above it.
     */
    #asked(who: string, windowMs: number, max: number): Asked {
      const asked = { who, windowMs, limit: max + (this.#ban ?? 0), part: this.#part }
      if (this.#ban === undefined && !this.#backsOff) return asked
      return { ...asked, lock: { block: windowMs, max: this.#backsOff ? Math.max(DAY, windowMs) : windowMs } }
    }
  }
  return Store as any
}
