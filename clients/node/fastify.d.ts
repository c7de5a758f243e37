import type { FastifyRateLimitStoreCtor, RateLimitPluginOptions } from '@fastify/rate-limit'
import type { Counters, StoreOptions } from './types.js'

export type Settings = Pick<RateLimitPluginOptions, 'ban' | 'continueExceeding' | 'exponentialBackoff' | 'skipOnError' | 'max' | 'timeWindow' | 'global'>

/**
 * For the option `store` of @fastify/rate-limit. An error has `statusCode` 503 if the server cannot decide, 500 if it
 * rejects the call.
 */
export declare function redisRlStore(options: StoreOptions): FastifyRateLimitStoreCtor & { readonly counters: Counters }
