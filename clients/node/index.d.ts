// It names no type of express or express-rate-limit, which an application with a Limiter only does not have.
import type { Counters, Logger, StoreCounters, StoreOptions } from './types.js'

export * from './types.js'

/** What this package uses of a response of express. */
type Response = {
  headersSent: boolean
  getHeader(name: string): unknown
  set(headers: Record<string, string>): unknown
  status(code: number): { type(type: string): { send(body: string): unknown } }
}

export type LimiterCounters = Counters & {
  /** Reservations that stay charged with their estimate until they end by themselves. */
  unsettled: number
  /** Reservations with a lease that ended before it was released. */
  leasesLost: number
}

/** A request without a decision that is not allowed: status 503 if the server cannot decide, else 500. */
export declare class RateLimitError extends Error {
  status: 500 | 503
  /** `Retry-After` with status 503. */
  headers: Record<string, string>
}

/** Responses of the type `application/problem+json`. */
export declare const problem: {
  /** For the option `handler` of express-rate-limit. */
  denied(request: unknown, response: Response): void
  /** For `app.use`, after the routes: a RateLimitError. It hands every other error on. */
  error(error: unknown, request: unknown, response: Response, next: (error: unknown) => void): void
}

/** Whether the server cannot decide now. Every other error is a fault of the configuration or of the request. */
export declare function isUnavailable(error: unknown): boolean

/** The hits that are counted, and when more is available. */
export type Hits = { totalHits: number; resetTime: Date | undefined }

/** For the option `store` of express-rate-limit. */
export declare class RedisRlStore {
  localKeys: boolean
  prefix: string
  readonly counters: StoreCounters
  constructor(options: StoreOptions)
  init(options: { windowMs: number; limit: unknown; passOnStoreError?: boolean; logger?: Logger }): void
  increment(key: string): Promise<Hits>
  decrement(key: string): Promise<void>
  resetKey(key: string): Promise<void>
  /** Undefined if nothing is counted: also after everything was given back. */
  get(key: string): Promise<Hits | undefined>
  shutdown(): void
}

/** The words of one limit: `['ROLLING', '{org:7}:tokens', '1m', 90000, 'COST', 3500, 'AS', 'tokens']` */
export type Policy = (string | number)[]

/**
 * The options of the store that a Limiter takes too, for its calls. `onError` is called for each request without a
 * decision; for a settlement that is given up; for a renewal that is rejected; and for a lease that is lost.
 */
export type LimiterOptions = Pick<StoreOptions, 'client' | 'timeout' | 'failOpen' | 'module' | 'onError'> & {
  /** The console if not given. */
  logger?: Logger
}

export type ReserveOptions = {
  /**
   * A call with the id of an open reservation is charged nothing more, so it may be repeated after an error. The party
   * that is limited must not choose it. If not given, a new one.
   */
  id?: string
  /**
   * When it is aborted, the reservation ends, as with `close`. Before there is one, nothing is charged; but what has a
   * given `id` stays, since another caller may hold it.
   */
  signal?: AbortSignal
}

/**
 * What was used in all so far: of every limit with COST, or of some, by their keys: `{ '{org:7}:input': 900 }`. What is
 * said of a key holds until something else is said of it; a limit of which nothing was said keeps its estimate.
 */
export type Used = number | Record<string, number>

/** What the server replied to a request for a reservation. */
export type ReservationDecision = {
  allowed: boolean
  /** `allowed`, `count` and `ttl` of each limit; empty without a decision of the server. */
  limits: number[][]
  /** The HTTP headers of the limits, with `Retry-After` on a denial that can be allowed later. */
  headers: Record<string, string>
}

/** The attempts of a login: see {@link Limiter.lockout}. */
export type Lockout = {
  /** Charges an attempt of all limits, or of none. Before the password is checked, so that ten at once are ten. */
  check(): Promise<ReservationDecision>
  /** After a success: forgets the attempts of the user, and gives one back to the address. Without a reply they stay. */
  succeed(): Promise<void>
}

/** Reserves units of several limits in one decision. */
export declare class Limiter {
  readonly counters: LimiterCounters
  constructor(options: LimiterOptions)
  /**
   * Charges all limits, or none, in one RL.MULTI. A limit with COST is charged that estimate, which is settled later; one
   * without COST counts the request. Both are reservations that end by themselves after `ttl`, which must be longer than
   * the work takes. A LEASE is renewed until the reservation is settled.
   */
  reserve(policies: Policy[], ttl: string | number, options?: ReserveOptions): Promise<Reservation>
  /**
   * Limits a login by limits of the user, such as `['LOCKOUT', 'user:ann', '1d', 5, 'BLOCK', '1m']`, and limits that other
   * users share, such as those of the address.
   */
  lockout(users: Policy[], addresses?: Policy[]): Lockout
}

/**
 * An estimate that is charged, and the leases that are held with it. It is settled once: by `settle` or `cancel`, or by
 * `close`, at the end of `await using`, or when its signal is aborted. At that end it settles with the usage reported so
 * far. If nothing was reported, the whole estimate stays charged, unless the caller said that the upstream was not
 * `called`. A settlement without a reply is sent again until the reservation can no longer be settled.
 */
export declare class Reservation {
  private constructor()
  /** A random UUID, unless it was given. */
  readonly id: string
  readonly decision: ReservationDecision
  /** Whether the request is allowed. If not, nothing is charged, and there is nothing to settle. */
  readonly allowed: boolean
  /**
   * Whether a lease may have ended although it was not released: it could not be renewed in time, or the server does
   * not have it any more. Another holder may have been allowed since. What is lost stays lost. A request that was allowed
   * without a decision, or by shadow mode above the limit, holds no lease.
   */
  readonly isLost: boolean
  /** Says whether the upstream was called, or is called next. A reservation counts as called. */
  called(called?: boolean): void
  /** Says that so many units were used in all so far: tokens that were streamed, for example. */
  report(used: Used): void
  /** Settles with what the request has used. A limit without COST stays charged 1. */
  settle(actual: Used): Promise<void>
  /** Charges nothing, no request either: the upstream was not called. */
  cancel(): Promise<void>
  /** Settles in the background what is not settled. */
  close(): void
}
