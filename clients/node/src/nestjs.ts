import { HttpException } from '@nestjs/common'
import type { ThrottlerStorage } from '@nestjs/throttler'
import type { RateLimitError } from './errors.js'
import { Store, type StoreCounters, type StoreOptions } from './store.js'

/** For the option `storage` of ThrottlerModule. */
export class RedisRlThrottlerStorage implements ThrottlerStorage {
  readonly counters: StoreCounters
  #store: Store

  constructor(options: StoreOptions) {
    this.#store = new Store(options)
    this.counters = this.#store.counters
  }

  /**
   * An HttpException with status 503 if the server cannot decide, with 500 if it rejects the call. Times are milliseconds.
   * `blockDuration` is `ttl` if it was not set, 0 or less for none. Another one is a lock of this length, by LOCKOUT.
   */
  async increment(...words: Parameters<ThrottlerStorage['increment']>): ReturnType<ThrottlerStorage['increment']> {
    const [who, windowMs, limit, blockDuration, throttlerName] = words
    const lock = blockDuration !== windowMs && blockDuration > 0 ? { block: blockDuration, max: blockDuration } : undefined
    try {
      const { allowed, hits, ms = windowMs } = await this.#store.count({ who, windowMs, limit, part: `${throttlerName}:`, lock })
      const seconds = Math.ceil(ms / 1000)
      return { totalHits: hits, timeToExpire: seconds, isBlocked: !allowed, timeToBlockExpire: allowed ? 0 : seconds }
    } catch (error) {
      const { status, title } = error as RateLimitError
      throw new HttpException(title, status, { cause: error })
    }
  }
}
