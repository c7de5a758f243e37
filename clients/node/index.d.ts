// It names no type of express or express-rate-limit, which an application with a Limiter only does not have.
import type {
  Algorithm, AnyPolicy, CheckOptions, Counters, Figures, Lease, LimiterOptions, Logger, PolicyOptions, Settlement, StoreCounters, StoreOptions,
} from './types.js'

export * from './types.js'

/** A limit, checked when it is made: what is wrong is a TypeError that names the option. */
export declare class Policy {
  constructor(options: PolicyOptions)
  /** From a text such as `'TOKEN 1m 60 BURST 10'`, or options. */
  static of(policy: AnyPolicy): Policy
  readonly algorithm: Algorithm
  readonly window: string
  readonly windowMs: number
  readonly limit: number
  readonly anchor: number
  readonly isShadow: boolean
  /** The words of the command after the key. */
  readonly words: string[]
  /** Its part of each key. */
  readonly name: string
  /** Its name in the headers. */
  readonly label: string
  /** How long the window is that the server's time `at` is in. Months differ. */
  windowAt(at: number): number
}

/** What a request gets. The figures are those after it. */
export interface Decision extends Figures {
  /** The HTTP headers: X-RateLimit-*, RateLimit-Policy, RateLimit, and Retry-After on a denial that can be allowed later. */
  headers(): Record<string, string>
}

/** What a request under several limits gets: all are charged, or none. */
export interface Decisions {
  readonly allowed: boolean
  /** In the order of the limits. */
  readonly limits: Decision[]
  /** The longest wait of those that deny; undefined for never. */
  readonly retryAfterMs: number | undefined
  /** All policies are listed; the other figures are those of the strictest limit. */
  headers(): Record<string, string>
}

/** What a request gets from limits that share. Those after the one that paid are charged whatever they say. */
export interface Shared extends Decisions {
  /** The place of the limit that paid, from 1; 0 is a denial, which charged nothing. */
  readonly paid: number
  /** The shortest wait of those that deny; undefined for never. */
  readonly retryAfterMs: number | undefined
}

/**
 * Checks requests against limits.
 *
 * ```js
 * const limiter = new Limiter({ client, prefix: 'app:' })
 * const { allowed } = await limiter.check('TOKEN 1m 60', 'user:42')
 * ```
 */
export declare class Limiter {
  readonly counters: Counters
  constructor(options: LimiterOptions)
  /** Charges a request if the limit allows it. */
  check(policy: AnyPolicy, who: string | number, options?: CheckOptions): Promise<Decision>
  /** Charges all limits, or none, in one decision. In a cluster the prefix needs a hash tag. */
  checkAll(limits: [policy: AnyPolicy, who: string | number, options?: CheckOptions][]): Promise<Decisions>
  /**
   * A part of one's own, and what others leave of the whole: 2 to 8 limits, the narrowest first, of FIXED, WINDOW, COUNTER,
   * ROLLING or TOKEN. The first that allows pays: it is charged, and each one after it.
   */
  share(limits: [policy: AnyPolicy, who: string | number, options?: CheckOptions][]): Promise<Shared>
  /** What `check` would reply. Changes nothing. */
  peek(policy: AnyPolicy, who: string | number, options?: CheckOptions): Promise<Decision>
  /** Checks until the request is allowed. A RangeError if it never is, or not within `timeout` milliseconds. */
  wait(policy: AnyPolicy, who: string | number, options?: CheckOptions & { timeout?: number; signal?: AbortSignal }): Promise<Decision>
  /** Gives units back; the decision is that of a peek afterwards. `at`: the `at` of the decision that charged them. */
  refund(policy: AnyPolicy, who: string | number, options?: { cost?: number; at?: number }): Promise<Decision>
  /** Corrects a charge whose cost is known now. */
  settle(policy: AnyPolicy, who: string | number, charge: Settlement): Promise<Decision>
  /** Forgets what is counted. False if nothing was. */
  reset(policy: AnyPolicy, who: string | number): Promise<boolean>
  /** One of at most `limit` holders at once. `await using` releases it. */
  lease(policy: AnyPolicy, who: string | number, options?: { id?: string }): Promise<Lease & AsyncDisposable>
  /** A policy that is fixed when the program starts. A TypeError if another one of this name has other words. */
  fixed(policy: AnyPolicy): Policy
  /** The key in Redis: `<prefix><name>:{<who>}`. */
  key(policy: AnyPolicy, who: string | number): string
}

/** A request without a decision that is not allowed: status 503 if the server cannot decide, else 500. */
export declare class RateLimitError extends Error {
  status: 500 | 503
  /** `Retry-After` with status 503. */
  headers: Record<string, string>
}

/** What this package uses of a response of Express. */
export type Response = {
  headersSent: boolean
  getHeader(name: string): unknown
  set(headers: Record<string, string>): unknown
  status(code: number): { type(type: string): { send(body: string): unknown } }
}

/** One limit of a middleware: `policy` may be a function of the request, as `key` (whom to limit) and `cost` are. */
export type RequestLimit<Request> = {
  policy: AnyPolicy | ((request: Request) => AnyPolicy | Promise<AnyPolicy>)
  key: (request: Request) => string | number | Promise<string | number>
  cost?: (request: Request) => number | Promise<number>
}

/** A middleware of Express: all limits are charged, or none. A denial is 429 with a body of the type problem+json. */
export declare function limit<Request = any>(
  limiter: Limiter,
  limits: RequestLimit<Request>[],
): (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void>

/** Responses of the type `application/problem+json`. */
export declare const problem: {
  /** For the option `handler` of express-rate-limit. */
  denied(request: unknown, response: Response): void
  /** For `app.use`, after the routes: a RateLimitError. It hands every other error on. */
  error(error: unknown, request: unknown, response: Response, next: (error: unknown) => void): void
}

/** An address as a caller to limit: IPv4 inside IPv6 as IPv4, IPv6 as its network of 64 bits. */
export declare function addressKey(address: string): string

/** Whether the server cannot decide now. Every other error is a fault of the configuration or of the request. */
export declare function isUnavailable(error: unknown): boolean

/** The hits that are counted, and when more is available. */
export type Hits = { totalHits: number; resetTime: Date | undefined }

/** For the option `store` of express-rate-limit. */
export declare class RedisRlStore {
  localKeys: boolean
  prefix: string | undefined
  readonly counters: StoreCounters
  constructor(options: StoreOptions)
  init(options: { windowMs: number; limit: unknown; passOnStoreError?: boolean; logger?: Logger }): void
  increment(key: string): Promise<Hits>
  decrement(key: string): Promise<void>
  resetKey(key: string): Promise<void>
  /** Undefined if nothing is counted: also after everything was given back. */
  get(key: string): Promise<Hits | undefined>
}
