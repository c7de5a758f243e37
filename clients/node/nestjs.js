// @ts-check
import { STATUS_CODES } from 'node:http'
import { HttpException } from '@nestjs/common'
import { Store } from './store.js'

/** @typedef {import('@nestjs/throttler').ThrottlerStorage} ThrottlerStorage */

/** @implements {ThrottlerStorage} */
export class RedisRlThrottlerStorage {
  #store

  /** @param {import('./types.js').StoreOptions} options */
  constructor(options) {
    this.#store = new Store(options)
    this.counters = this.#store.counters
  }

  /**
   * Times are milliseconds. `blockDuration` is `ttl` if it was not set, 0 or less for none. Another one is a lock of this
   * length, by LOCKOUT.
   * @type {ThrottlerStorage['increment']}
   */
  async increment(key, ttl, limit, blockDuration, throttlerName) {
    const lock = blockDuration !== ttl && blockDuration > 0 ? { block: blockDuration, max: blockDuration } : undefined
    try {
      const call = { who: key, windowMs: ttl, limit, scope: `${throttlerName}:`, lock }
      const { allowed, hits, ms = ttl } = await this.#store.count(call)
      const seconds = Math.ceil(ms / 1000)
      return { totalHits: hits, timeToExpire: seconds, isBlocked: !allowed, timeToBlockExpire: allowed ? 0 : seconds }
    } catch (error) {
      const { status } = /** @type {import('./errors.js').RateLimitError} */ (error)
      throw new HttpException(String(STATUS_CODES[status]), status, { cause: error })
    }
  }
}
