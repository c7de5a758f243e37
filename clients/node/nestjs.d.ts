import type { ThrottlerStorage } from '@nestjs/throttler'
import type { Counters, StoreOptions } from './types.js'

/** For the option `storage` of ThrottlerModule. */
export declare class RedisRlThrottlerStorage implements ThrottlerStorage {
  readonly counters: Counters
  constructor(options: StoreOptions)
  /** An HttpException with status 503 if the server cannot decide, with 500 if it rejects the call. */
  increment: ThrottlerStorage['increment']
}
