import type { RequestHandler } from 'express'
import type { ClientRateLimitInfo, Options, RateLimitRequestHandler, Store, rateLimit } from 'express-rate-limit'

export type Algorithm = 'FIXED' | 'WINDOW' | 'SLIDING' | 'ROLLING' | 'COUNTER' | 'TOKEN' | 'LEAKY' | 'GCRA'

/** Sends a command and resolves with its reply. `key` is the key that decides the node of a cluster. */
export type SendCommand = (key: string, readOnly: boolean, words: string[]) => Promise<unknown>

/** A client of `redis` (createClient, createClientPool). */
type NodeRedis = { sendCommand(words: string[]): Promise<unknown> }
/** A client of `redis` (createCluster). */
type NodeRedisCluster = {
  masters: unknown
  sendCommand(key: string | undefined, readOnly: boolean | undefined, words: string[]): Promise<unknown>
}
/** A client of `ioredis` (Redis, Cluster). */
type IoRedis = { isCluster: boolean; call(command: string, ...words: string[]): Promise<unknown> }

export type StoreOptions = {
  /** A connected client, or a function that sends a command. */
  client: NodeRedis | NodeRedisCluster | IoRedis | SendCommand
  /** `FIXED` if not given. */
  algorithm?: Algorithm
  /** How much may pass at once (TOKEN, LEAKY, GCRA). The limit if not given. */
  burst?: number
  /** What the keys in Redis begin with. `rl:<algorithm>:` if not given. Each limiter needs its own. */
  prefix?: string
  /** How many milliseconds a request waits for the server at most. 250 if not given. */
  timeout?: number
  /**
   * Whether a request is allowed if the server cannot decide. If not, it is an error with status 503. `false` if not
   * given. An error about the call (a wrong policy, a key of another type, no module) has status 500 and is never
   * allowed.
   */
  failOpen?: boolean
  /** Keys have an HMAC of the caller instead of the caller (an address). All processes need the same secret. */
  secret?: string
  /** Called for each request without a decision. */
  onError?: (error: unknown, outcome: 'failedOpen' | 'failedClosed' | 'faults') => void
}

/** What happened since the start. */
export type Counters = {
  /** The server allowed the request. */
  allowed: number
  /** The server denied the request. */
  denied: number
  /** The server could not decide, and the request was allowed. */
  failedOpen: number
  /** The server could not decide, and the request was not allowed. */
  failedClosed: number
  /** The server rejected the call: the configuration is wrong. The request was not allowed. */
  faults: number
  /** Calls without a reply, and error replies, by code: `WRONGTYPE`, `ERR`, `timeout`, `connection` … */
  errors: Record<string, number>
}

/** A request without a decision that is not allowed: status 503 if the server cannot decide, else 500. */
export declare class RateLimitError extends Error {
  status: 500 | 503
}

/** Whether the server cannot decide now. Every other error is a fault of the configuration or of the request. */
export declare function isUnavailable(error: unknown): boolean

export declare class RedisRlStore implements Store {
  localKeys: boolean
  prefix: string
  readonly counters: Counters
  constructor(options: StoreOptions)
  init(options: Options): void
  increment(key: string): Promise<ClientRateLimitInfo>
  decrement(key: string): Promise<void>
  resetKey(key: string): Promise<void>
  get(key: string): Promise<ClientRateLimitInfo | undefined>
  shutdown(): void
}

/** Creates a limiter whose `limit` is a function: `perRequest(rateLimit, { limit: (request) => …, store })`. */
export declare function perRequest(
  limit: typeof rateLimit,
  options: Partial<Options>,
): RequestHandler & Pick<RateLimitRequestHandler, 'resetKey' | 'getKey'>
