// @ts-check
import { STATUS_CODES } from 'node:http'
import { HttpException } from '@nestjs/common'
import { Core } from './core.js'

/** @typedef {import('@nestjs/throttler').ThrottlerStorage} ThrottlerStorage */

/** @implements {ThrottlerStorage} */
export class RedisRlThrottlerStorage {
  #core

  /** @param {import('./types.js').StoreOptions} options */
  constructor(options) {
    this.#core = new Core(options)
    this.counters = this.#core.counters
  }

  /**
   * Times are milliseconds. `blockDuration` is `ttl` if it was not set, 0 or less for none.
   * @type {ThrottlerStorage['increment']}
   */
  async increment(key, ttl, limit, blockDuration, throttlerName) {
    try {
      if (blockDuration !== ttl && blockDuration > 0) {
        const text = 'blockDuration: expected none; a denial ends when the limit allows the request'
        this.#core.withoutDecision(new TypeError(text), ttl, false)
      }
      const call = { key, windowMs: ttl, limit, scope: `${throttlerName}:` }
      const { allowed, totalHits, ms = ttl } = await this.#core.decide(call)
      const seconds = Math.ceil(ms / 1000)
      return { totalHits, timeToExpire: seconds, isBlocked: !allowed, timeToBlockExpire: allowed ? 0 : seconds }
    } catch (error) {
      const { status } = /** @type {import('./guard.js').RateLimitError} */ (error)
      throw new HttpException(String(STATUS_CODES[status]), status, { cause: error })
    }
  }
}
