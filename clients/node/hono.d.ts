import type { ClientRateLimitInfo, HonoConfigType, Store } from 'hono-rate-limiter'
import type { StoreCounters, StoreOptions } from './types.js'

/** Throws an HTTPException: with status 503 if the server cannot decide, with 500 if it rejects the call. */
export declare class RedisRlStore implements Store {
  localKeys: boolean
  prefix: string | undefined
  readonly counters: StoreCounters
  constructor(options: StoreOptions)
  init(options: Pick<HonoConfigType<any>, 'windowMs' | 'limit'>): void
  increment(key: string): Promise<ClientRateLimitInfo>
  decrement(key: string): Promise<void>
  resetKey(key: string): Promise<void>
  get(key: string): Promise<ClientRateLimitInfo | undefined>
}
