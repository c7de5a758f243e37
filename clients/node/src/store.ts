// What the stores of all frameworks share. Frameworks deny if the hits are above the limit, and send `limit - hits` as what
// remains.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Limit } from './call.js'
import type { Decision, Decisions } from './decision.js'
import { LONGEST_TIMER, Limiter, type LimiterOptions } from './limiter.js'
import type { Counters } from './log.js'
import { type Algorithm, Policy, type PolicyOptions } from './policy.js'

/** The options of a limiter and of a policy. Window and limit are those of the framework. */
export type StoreOptions = LimiterOptions &
  Partial<Pick<PolicyOptions, 'burst' | 'block' | 'max' | 'name'>> & {
    /** `FIXED` if not given. */
    algorithm?: Exclude<Algorithm, 'LEASE'>
    /** What the keys begin with, in place of the policy's name. Each limiter needs its own. */
    prefix?: string
  }

export type StoreCounters = Counters & {
  /** Requests that were to be given back and stay charged. */
  unrefunded: number
}

/**
 * Whom to limit, and how. `part` of the keys is the framework's. `lock`: the request is limited by LOCKOUT with this lock, in
 * milliseconds. `wrong`: why each request is an error.
 */
export type Asked = { who: string; windowMs: number; limit: unknown; part?: string; lock?: { block: number; max: number }; wrong?: unknown }

/** `ms`: until more is available or, on a denial, until the next request is allowed; undefined for never. `at`: the server's time of the charge. */
export type Counted = { allowed: boolean; hits: number; ms: number | undefined; charged: boolean; at: number }

/** More hits than any limit. */
const DENIED = Number.MAX_SAFE_INTEGER

export class Store {
  readonly algorithm: Algorithm
  readonly limiter: Limiter
  readonly counters: StoreCounters
  #prefix: string | undefined
  /** The words of a policy after its limit, and of its name. */
  #options: string
  #name: string

  constructor(options: StoreOptions) {
    const { algorithm = 'FIXED', burst, block, max, name, ...rest } = options
    // What is wrong with the options is an error now. Window and limit come with each request.
    const policy = new Policy({ algorithm, window: 1, limit: 1, burst, block, max, name })
    this.algorithm = policy.algorithm
    this.#name = name === undefined ? '' : `AS ${name}`
    this.#options = policy.words.slice(2).join(' ')
    this.#prefix = rest.prefix
    this.limiter = new Limiter(rest)
    this.counters = Object.assign(this.limiter.counters, { unrefunded: 0 })
    if (this.algorithm === 'LEASE') throw new TypeError('algorithm: LEASE is not for requests')
  }

  /** Throws if another limit has the keys of this one. */
  register(asked: Asked): void {
    const policy = this.#policy(asked)
    this.limiter.register(policy, this.#scope(policy, asked))
  }

  #policy({ windowMs, limit, lock }: Asked): Policy {
    const words = lock ? `BLOCK ${lock.block}ms MAX ${lock.max}ms` : this.#options
    return Policy.of(`${lock ? 'LOCKOUT' : this.algorithm} ${windowMs}ms ${this.#number(limit)} ${words} ${this.#name}`)
  }

  /** What the keys begin with: the prefix of this store, else the name of the policy. */
  #scope(policy: Policy, { part = '' }: Asked): string {
    return `${this.#prefix ?? `${policy.name}:`}${part}`
  }

  #limit(asked: Asked, cost?: number): Limit {
    if (asked.wrong) throw asked.wrong
    const policy = this.#policy(asked)
    return this.limiter.limit(policy, asked.who, { cost }, this.#scope(policy, asked))
  }

  /** What a program does wrong is never allowed. */
  #decide(verb: 'CHECK' | 'PEEK', asked: Asked, cost?: number): Promise<Decisions> | Decisions {
    let limits
    try {
      limits = [this.#limit(asked, cost)]
    } catch (error) {
      return this.limiter.rejected(error, [Policy.of('FIXED 1s 0')])
    }
    return this.limiter.decide(verb, limits)
  }

  /** Decides on a request. One that LEAKY allows is held for its delay. */
  async count(asked: Asked): Promise<Counted> {
    const { limits: [found] } = await this.#decide('CHECK', asked)
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

  /** What is counted; undefined if nothing is. */
  async peek(asked: Asked): Promise<{ hits: number; ms: number | undefined } | undefined> {
    const { limits: [found] } = await this.#decide('PEEK', asked, 0)
    if (found.source === 'deny') return { hits: DENIED, ms: found.retryAfterMs }
    if (found.count === 0) return undefined
    const hits = found.policy.algorithm === 'FIXED' ? found.count : this.#number(asked.limit) - found.remaining
    return { hits, ms: found.nextMs }
  }

  /** Gives a request back. What cannot be given back is counted, and no error: the request has its response. */
  async refund(asked: Asked, at: number | undefined): Promise<void> {
    try {
      const limit = this.#limit(asked)
      // RL.REFUND FIXED gives back from the smaller of counter and limit, and the counter may be above the limit.
      if (limit.policy.algorithm === 'FIXED') limit.words[1] = String(DENIED)
      await this.limiter.decide('REFUND', [limit], at)
    } catch (error) {
      const { status, cause } = error as { status?: number; cause?: unknown }
      this.counters.unrefunded += 1
      if (status === 500) this.counters.faults += 1
      this.limiter.log.limited(status === 503 ? 'warn' : 'error', 'not given back', cause ?? error)
    }
  }

  async reset(asked: Asked): Promise<void> {
    await this.limiter.forget(this.#limit(asked))
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
    if (this.algorithm === 'FIXED') return Number.MAX_SAFE_INTEGER
    throw new TypeError('limit: a store does not see a limit that is a function: use limit() of rate-limit-redis-rl, or FIXED')
  }
}
