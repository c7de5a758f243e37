// What the stores of all frameworks share. Frameworks deny if the hits are above the limit, and send `limit - hits` as what
// remains.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Decision, undecided } from './decision.js'
import { RateLimitError } from './errors.js'
import { LONGEST_TIMER, Limiter, type LimiterOptions } from './limiter.js'
import type { Counters } from './log.js'
import { type Algorithm, Policy } from './policy.js'

/** The options of a limiter, and those of a policy but for window and limit, which are those of the framework. */
export type StoreOptions = LimiterOptions & {
  /** `FIXED` if not given. */
  algorithm?: Exclude<Algorithm, 'LEASE'>
  burst?: number
  name?: string
  /** What the keys begin with, in place of the policy's name. Each limiter needs its own. */
  prefix?: string
}

export type StoreCounters = Counters & {
  /** Requests that were to be given back and stay charged. */
  unrefunded: number
}

/**
 * Whom to limit, and how. `part` of the keys is the framework's. `lock`: the request is limited by LOCKOUT with this lock, in
 * milliseconds.
 */
export type Asked = { who: string; windowMs: number; limit: unknown; part?: string; lock?: { block: number; max: number } }

/** `ms`: until more is available or, on a denial, until the next request is allowed; undefined for never. `at`: the server's time of the charge. */
export type Counted = { allowed: boolean; hits: number; ms: number | undefined; charged: boolean; at: number }

/** More hits than any limit. */
const DENIED = Number.MAX_SAFE_INTEGER

export class Store {
  readonly limiter: Limiter
  readonly counters: StoreCounters
  #algorithm: Algorithm
  /** The words of a policy after its limit. */
  #burst: string
  #name: string
  #hasPrefix: boolean
  #policies = new Map<string, Policy>()
  #passesErrors = false
  /** Why each request is an error. */
  #wrong: unknown

  constructor({ algorithm = 'FIXED', burst, name, ...options }: StoreOptions) {
    this.#burst = burst === undefined ? '' : `BURST ${burst}`
    this.#name = name === undefined ? '' : `AS ${name}`
    // What is wrong with the options is an error now. Window and limit come with each request.
    this.#algorithm = new Policy(`${algorithm} 1 1 ${this.#burst} ${this.#name}`).algorithm
    if (this.#algorithm === 'LEASE') throw new TypeError('algorithm: LEASE is not for requests')
    this.#hasPrefix = options.prefix !== undefined
    this.limiter = new Limiter(options)
    this.counters = Object.assign(this.limiter.counters, { unrefunded: 0 })
  }

  /** The framework allows a request if this throws. So a call that the server rejects is denied. */
  passErrors(): void {
    this.#passesErrors = true
    if (this.limiter.unavailable === 'error') this.limiter.unavailable = 'allow'
  }

  /** Throws if the limit is wrong, or if another one has its keys. A framework may log that and go on. */
  register(asked: Asked): void {
    try {
      this.limiter.fixed(this.#policy(asked))
    } catch (error) {
      this.#wrong = error
      throw error
    }
  }

  #policy({ windowMs, limit, part = '', lock }: Asked): Policy {
    if (this.#wrong) throw this.#wrong
    const words = lock ? `BLOCK ${lock.block}ms MAX ${lock.max}ms` : this.#burst
    const text = `${lock ? 'LOCKOUT' : this.#algorithm} ${windowMs}ms ${this.#number(limit)} ${words} ${this.#name}`
    let policy = this.#policies.get(part + text)
    if (!policy) {
      // A framework may ask for other limits without end.
      if (this.#policies.size >= 1000) this.#policies.clear()
      policy = new Policy(text)
      policy.keys = this.#hasPrefix ? part : policy.keys + part
      this.#policies.set(part + text, policy)
    }
    return policy
  }

  /** Decides on a request. One that LEAKY allows is held for its delay. */
  async count(asked: Asked): Promise<Counted> {
    let found: Decision
    try {
      found = await this.limiter.check(this.#policy(asked), asked.who)
    } catch (error) {
      // What a program does wrong is never allowed either.
      const fault = error instanceof RateLimitError ? error : this.limiter.rejected(error)
      if (!this.#passesErrors) throw fault
      found = undecided(false, Policy.of('FIXED 1s 0'))
    }
    const isKnown = found.source === 'server' || found.source === 'local'
    const ms = !isKnown ? asked.windowMs || 1000 : found.allowed ? found.nextMs : found.retryAfterMs
    const delay = Math.min(found.delayMs, LONGEST_TIMER)
    if (delay > 0) await sleep(delay)
    return {
      allowed: found.allowed,
      hits: this.#hits(found, asked.limit),
      ms: ms === undefined ? undefined : Math.max(ms - delay, 0),
      charged: found.source === 'server' && (found.policy.algorithm === 'FIXED' ? found.count > 0 : found.charged > 0),
      at: found.at,
    }
  }

  /** Gives a request back. What cannot be given back is counted, and no error: the request has its response. */
  async refund(asked: Asked, at: number | undefined): Promise<void> {
    try {
      // RL.REFUND FIXED gives back from the smaller of counter and limit, and the counter may be above the limit.
      const limit = this.#algorithm === 'FIXED' ? DENIED : asked.limit
      await this.limiter.refund(this.#policy({ ...asked, limit }), asked.who, { at })
    } catch (error) {
      this.counters.unrefunded += 1
      this.limiter.log.limited('warn', 'not given back', (error as Error).cause ?? error)
    }
  }

  async reset(asked: Asked): Promise<void> {
    await this.limiter.reset(this.#policy(asked), asked.who)
  }

  /**
   * The number that makes what frameworks compare and send true to the decision is `limit - remaining`, and `limit + 1` for a
   * denial. FIXED counts every request whatever the limit is, denied ones too, so there it is the counter.
   */
  #hits({ allowed, count, remaining, policy, source }: Decision, limit: unknown): number {
    if (source === 'deny') return DENIED
    const most = this.#number(limit)
    const counted = source === 'allow' ? 1 : policy.algorithm === 'FIXED' && source === 'server' ? count : most - remaining
    // Less than 1 with a BURST above the limit, more than the limit if the server is in shadow mode.
    return allowed ? Math.min(Math.max(counted, 1), most) : Math.max(counted, most + 1)
  }

  /** The limit as a policy takes it. */
  #number(limit: unknown): number {
    if (typeof limit === 'number' && !Number.isNaN(limit)) return Math.min(Math.max(0, Math.floor(limit)), Number.MAX_SAFE_INTEGER)
    if (typeof limit !== 'function') throw new TypeError(`limit: expected a number, not ${JSON.stringify(limit)}`)
    // express-rate-limit does not tell a store the limit of a request. FIXED counts the same under every limit;
    // express-rate-limit then compares with that of the request.
    if (this.#algorithm === 'FIXED') return Number.MAX_SAFE_INTEGER
    throw new TypeError('limit: a store does not see a limit that is a function: use limit() of rate-limit-redis-rl, or FIXED')
  }
}
