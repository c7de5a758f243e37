// @ts-check
// Reservations: an estimate that is charged once, settled once, and comes back by itself if nobody settles it.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CircuitOpen, Guard, LONGEST_TIMER, LeaseLost, RateLimitError, isUnavailable } from './guard.js'
import { bounded } from './keys.js'
import { Link } from './link.js'
import { accepts, milliseconds, validate } from './options.js'

const RESERVES = ['FIXED', 'WINDOW', 'COUNTER', 'ROLLING']
/** The options that a value follows. */
const VALUED = ['COST', 'ANCHOR', 'AS']
/** The pause before a settlement is sent again that had no reply, and the longest. */
const PAUSE = 50
const LONGEST_PAUSE = 5000

/** @typedef {import('./index.js').Policy} Policy */
/** @typedef {import('./index.js').ReservationDecision} Decision */

/** @param {unknown} used */
function units(used) {
  if (!Number.isSafeInteger(used) || Number(used) < 0) {
    throw new TypeError('used: expected an integer of at least 0, or one for each of some keys')
  }
  return Number(used)
}

/** What a reservation sends, and what it was told. It has no reference to the Reservation. */
class Charge {
  /**
   * What was used of a limit with COST, by its key as the caller named it.
   * @type {Map<string, number>}
   */
  used = new Map()
  reported = false
  called = false
  settled = false
  #lost = false
  /** Whether the loss was counted and logged. */
  told = false
  /**
   * Why a lease was not renewed last.
   * @type {unknown}
   */
  notRenewed
  /** Aborted when it is settled. */
  over = new AbortController()

  /**
   * @param {Policy[]} policies
   * @param {string | number} ttl
   * @param {string | undefined} id
   */
  constructor(policies, ttl, id) {
    const isPolicy = (/** @type {Policy} */ policy) => Array.isArray(policy) && policy.length >= 4
    if (!Array.isArray(policies) || policies.length === 0 || !policies.every(isPolicy)) {
      throw new TypeError('policies: expected arrays of an algorithm, a key, a window, a limit, and options')
    }
    this.limits = policies.map((policy) => {
      // Callers whose key is undefined would share one limit.
      if (!policy.every((word) => typeof word === 'string' || Number.isFinite(word))) {
        throw new TypeError('policies: expected each word to be a string or a finite number')
      }
      const [algorithm, ...words] = policy.map(String)
      if (words[0] === '') throw new TypeError('policies: expected a key that is not empty')
      const name = algorithm.toUpperCase()
      if (name !== 'LEASE' && !RESERVES.includes(name)) {
        throw new TypeError(`policies: ${name} takes no reservation; expected ${RESERVES.join(', ')} or LEASE`)
      }
      /** @type {Record<string, string | undefined>} */
      const values = {}
      for (let at = 3; at < words.length; at += 1) {
        const option = words[at].toUpperCase()
        // The server rejects an option without its value.
        if (VALUED.includes(option)) values[option] = words[(at += 1)]
      }
      const [named, window] = words
      words[0] = bounded(named)
      return { name, words, named, key: words[0], window, cost: values.COST, anchor: values.ANCHOR }
    })
    this.ttl = milliseconds(ttl)
    this.isNew = id === undefined
    this.id = id ?? randomUUID()
    const length = Buffer.byteLength(this.id)
    if (length < 1 || length > 128) throw new TypeError('id: expected 1 to 128 bytes')
    this.leases = this.limits.flatMap(({ name, key, window, words }, at) => {
      if (name !== 'LEASE') return []
      return [{ at, key, window, ms: milliseconds(window), limit: Number(words[2]), ends: 0, isHeld: false }]
    })
    /** The leases that are renewed. */
    this.kept = this.leases
  }

  /**
   * @param {Decision} found
   * @param {number} sent when the request was sent; the server counted the window from a later moment
   */
  taken({ limits }, sent) {
    for (const lease of this.leases) {
      lease.ends = sent + lease.ms
      // Shadow mode allows what is above the limit, and takes no lease for it. Without a decision nobody knows.
      lease.isHeld = limits.length > 0 && limits[lease.at][1] < lease.limit
    }
  }

  /**
   * @param {(typeof this.leases)[0]} lease
   * @param {boolean} found
   * @param {number} sent when the renewal was sent
   */
  renewed(lease, found, sent) {
    if (found) {
      lease.ends = sent + lease.ms
      lease.isHeld = true
    } else if (lease.isHeld) this.#lost = true
    else this.kept = this.kept.filter((kept) => kept !== lease)
  }

  /** Whether another holder may have been allowed since a lease was taken. What was lost stays lost. */
  isLost() {
    const now = performance.now()
    this.#lost ||= !this.settled && this.kept.some(({ isHeld, ends }) => isHeld && now >= ends)
    return this.#lost
  }

  /**
   * The milliseconds of a part of the leases' window, at most until the first one ends.
   * @param {number} part
   */
  left(part) {
    const now = performance.now()
    const ms = Math.min(...this.kept.map(({ ms, ends }) => Math.min(ms / part, ends - now)))
    // A timer may be early by a part of a millisecond.
    return Math.min(Math.max(ms, 0) + 1, LONGEST_TIMER)
  }

  /** @param {import('./index.js').Used} used */
  report(used) {
    const keys = this.limits.filter(({ cost }) => cost !== undefined).map(({ named }) => named)
    if (typeof used !== 'object' || used === null) {
      const all = units(used)
      this.used = new Map(keys.map((key) => [key, all]))
    } else {
      const named = Object.entries(used)
      if (!named.every(([key]) => keys.includes(key))) throw new TypeError('used: expected keys of limits with COST')
      for (const [, each] of named) units(each)
      this.used = new Map([...this.used, ...named])
    }
    this.reported = true
  }

  reserve() {
    const words = this.limits.flatMap(({ name, words }) => [
      name,
      ...words,
      ...(name === 'LEASE' ? ['ID', this.id] : ['RESERVE', this.id, `${this.ttl}ms`]),
    ])
    return ['RL.MULTI', String(this.limits.length), ...words, 'HEADERS']
  }

  /** What settles it, the first time. Nothing after that. The leases come first, since others wait for them. */
  settle() {
    if (this.settled) return []
    this.isLost()
    this.settled = true
    this.over.abort()
    const charged = this.called || this.reported
    /** @type {string[][]} */
    const calls = this.leases.map(({ key }) => ['RL.RELEASE', key, this.id])
    for (const { name, words, named, cost, anchor } of this.limits) {
      if (name === 'LEASE') continue
      // A limit with COST counts what is used, any other one the request itself.
      const actual = !charged ? 0 : cost === undefined ? 1 : (this.used.get(named) ?? cost)
      const end = ['RESERVATION', this.id, 'ACTUAL', String(actual)]
      calls.push(['RL.SETTLE', name, ...words.slice(0, 3), ...end, ...(anchor === undefined ? [] : ['ANCHOR', anchor])])
    }
    return calls
  }
}

/**
 * The words of a limit of a login.
 * @param {Policy} policy
 */
function attempt(policy) {
  if (!Array.isArray(policy) || policy.length < 4 || String(policy[0]).toUpperCase() !== 'LOCKOUT' || policy[1] === '') {
    throw new TypeError("policies: expected arrays of 'LOCKOUT', a key, a window, a limit, and options")
  }
  const words = policy.map(String)
  words[1] = bounded(words[1])
  return words
}

/**
 * The options that RL.REFUND takes too.
 * @param {string[]} words
 */
function locks(words) {
  const found = []
  for (let at = 4; at < words.length; at += 1) {
    const option = words[at].toUpperCase()
    if (option === 'BLOCK' || option === 'MAX') found.push(option, words[at + 1])
    if (option !== 'SHADOW') at += 1 // the others have a value
  }
  return found
}

/** @param {any} reply @returns {Decision} */
function decision([allowed, limits, headers]) {
  const pairs = headers.map(String)
  return {
    // A client can be told to reply with texts or with BigInt.
    allowed: Number(allowed) === 1,
    limits: limits.map((/** @type {any[]} */ limit) => limit.map(Number)),
    headers: Object.fromEntries(
      pairs.flatMap((/** @type {string} */ name, /** @type {number} */ i) => (i % 2 ? [] : [[name, pairs[i + 1]]])),
    ),
  }
}

export class Reservation {
  #charge
  #end

  /**
   * @param {Charge} charge
   * @param {Decision} found
   * @param {(charge: Charge) => Promise<void>} end
   */
  constructor(charge, found, end) {
    this.#charge = charge
    this.#end = end
    this.decision = found
  }

  get id() {
    return this.#charge.id
  }

  get allowed() {
    return this.decision.allowed
  }

  get isLost() {
    return this.#charge.isLost()
  }

  called(called = true) {
    this.#charge.called = called
  }

  /** @param {import('./index.js').Used} used */
  report(used) {
    this.#charge.report(used)
  }

  /** @param {import('./index.js').Used} actual */
  async settle(actual) {
    this.report(actual)
    await this.#end(this.#charge)
  }

  async cancel() {
    this.#charge.reported = false
    this.#charge.called = false
    await this.#end(this.#charge)
  }

  close() {
    this.#end(this.#charge).catch(() => {}) // the log has the error
  }
}

// Node.js 18.18 and newer; older ones have no `await using`.
if (Symbol.asyncDispose) {
  Object.defineProperty(Reservation.prototype, Symbol.asyncDispose, {
    async value() {
      this.close()
    },
  })
}

/** Settles what nobody has any more, when the garbage collector finds it. */
const dropped = new FinalizationRegistry((/** @type {() => void} */ settle) => settle())

export class Limiter {
  #link
  #failOpen
  #guard = new Guard()

  /** @param {import('./index.js').LimiterOptions} options */
  constructor(options) {
    validate(options, { logger: accepts('an object', (value) => typeof value === 'object') })
    const { client, timeout = 100, failOpen = false, onError, logger, module } = options
    this.#link = new Link(client, timeout, this.#guard, module)
    this.#failOpen = failOpen
    this.#guard.onError = onError
    if (logger) this.#guard.logger = logger
    this.counters = Object.assign(this.#guard.counters, { unsettled: 0, leasesLost: 0 })
  }

  /**
   * @type {(policies: Policy[], ttl: string | number, options?: import('./index.js').ReserveOptions) =>
   *   Promise<Reservation>}
   */
  async reserve(policies, ttl, { id, signal } = {}) {
    signal?.throwIfAborted()
    const charge = new Charge(policies, ttl, id)
    const sent = performance.now()
    let found
    try {
      found = decision(await this.#call(charge.reserve()))
    } catch (error) {
      found = this.#withoutDecision(error, charge)
    }
    if (found.allowed && signal?.aborted) {
      // Not called. Another caller may hold what has a given id.
      if (charge.isNew) this.#settle(charge).catch(() => {})
      signal.throwIfAborted()
    }
    if (!found.allowed) charge.settled = true
    this.counters.allowed += Number(found.limits.length > 0 && found.allowed)
    this.counters.denied += Number(!found.allowed)
    charge.called = true
    const reservation = new Reservation(charge, found, (charge) => this.#settle(charge))
    if (!charge.settled) {
      charge.taken(found, sent)
      void this.#renew(charge)
      const settle = () => void this.#settle(charge).catch(() => {})
      dropped.register(reservation, settle)
      signal?.addEventListener('abort', settle, { signal: charge.over.signal })
    }
    return reservation
  }

  /** @type {import('./index.js').Limiter['lockout']} */
  lockout(users, addresses = []) {
    const [own, shared] = [users.map(attempt), addresses.map(attempt)]
    const all = [...own, ...shared]
    if (all.length === 0) throw new TypeError('policies: expected at least one')
    return {
      check: async () => {
        /** @type {Decision} */
        let found = { allowed: true, limits: [], headers: {} }
        try {
          found = decision(await this.#call(['RL.MULTI', String(all.length), ...all.flat(), 'HEADERS']))
          this.counters[found.allowed ? 'allowed' : 'denied'] += 1
        } catch (error) {
          const outcome = this.#guard.undecided(error, this.#failOpen)
          if (outcome !== 'failedOpen') throw new RateLimitError(outcome === 'faults' ? 500 : 503, error)
        }
        return found
      },
      succeed: async () => {
        const calls = [
          ...own.map(([name, key, window]) => ['RL.RESET', name, key, window]),
          // An attacker with a login of his own must not clear the address.
          ...shared.map((words) => ['RL.REFUND', ...words.slice(0, 4), ...locks(words)]),
        ]
        for (const result of await Promise.allSettled(calls.map((words) => this.#call(words)))) {
          if (result.status === 'fulfilled') continue
          if (!isUnavailable(result.reason)) this.counters.faults += 1
          this.#guard.log('warn', 'an attempt stays counted', result.reason)
        }
      },
    }
  }

  /** @type {(error: unknown, charge: Charge) => Decision} */
  #withoutDecision(error, charge) {
    const outcome = this.#guard.undecided(error, this.#failOpen)
    // What was not sent is not charged; but an earlier call with a given id may have been.
    if (charge.isNew && error instanceof CircuitOpen) charge.settled = true
    if (outcome !== 'failedOpen') {
      // The server may have charged it after all.
      if (charge.isNew && outcome === 'failedClosed') this.#settle(charge).catch(() => {})
      throw new RateLimitError(outcome === 'faults' ? 500 : 503, error)
    }
    return { allowed: true, limits: [], headers: {} }
  }

  /**
   * Settles, again and again while the server does not reply and the reservation can be settled.
   * @param {Charge} charge
   */
  async #settle(charge) {
    const calls = charge.settle()
    this.#isLost(charge)
    // It can be settled for one more `ttl` after its end.
    const until = performance.now() + 2 * charge.ttl
    for (let pause = PAUSE; calls.length > 0; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const results = await Promise.allSettled(calls.map((words) => this.#call(words)))
      /** @type {unknown[]} */
      const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
      const again = errors.find((error) => isUnavailable(error))
      if (errors.length === 0) return
      if (again === undefined || performance.now() + pause >= until) {
        const error = again ?? errors[0]
        this.counters.unsettled += 1
        if (!isUnavailable(error)) this.counters.faults += 1
        this.#guard.tell('error', 'not settled', error, 'unsettled')
        throw error
      }
      this.#guard.log('warn', 'settling again', again)
      await sleep(pause, undefined, { ref: false })
    }
  }

  /**
   * Renews the leases until they are released or lost.
   * @param {Charge} charge
   */
  async #renew(charge) {
    for (let part = 3; charge.kept.length > 0 && !this.#isLost(charge); ) {
      await sleep(charge.left(part), undefined, { ref: false, signal: charge.over.signal }).catch(() => {})
      if (charge.settled || this.#isLost(charge)) return
      const sent = performance.now()
      // A lease that was perhaps never taken has ended by now.
      const kept = (charge.kept = charge.kept.filter(({ isHeld, ends }) => isHeld || sent < ends))
      const results = await Promise.allSettled(
        kept.map(({ key, window }) => this.#call(['RL.RENEW', key, window, charge.id], charge.left(1))),
      )
      if (charge.settled || this.#isLost(charge)) return
      part = results.some(({ status }) => status === 'rejected') ? 10 : 3
      for (const [at, result] of results.entries()) {
        if (result.status === 'fulfilled') charge.renewed(kept[at], Number(result.value) !== 0, sent)
        else this.#notRenewed(charge, result.reason)
      }
    }
  }

  /** @type {(charge: Charge, error: unknown) => void} */
  #notRenewed(charge, error) {
    charge.notRenewed = error
    if (isUnavailable(error)) return this.#guard.log('warn', 'renewing again', error)
    this.counters.faults += 1
    this.#guard.tell('error', 'a renewal was rejected, a fault of the configuration', error, 'faults')
  }

  /**
   * Whether a lease is lost. The first time it is counted.
   * @param {Charge} charge
   */
  #isLost(charge) {
    const isLost = charge.isLost()
    if (isLost && !charge.told) {
      charge.told = true
      this.counters.leasesLost += 1
      this.#guard.tell('error', 'a lease is lost', new LeaseLost(charge.notRenewed), 'leasesLost')
    }
    return isLost
  }

  /** @type {(words: string[], longest?: number) => Promise<unknown>} */
  #call(words, longest) {
    // The key decides the node of a cluster.
    const key = words[0] === 'RL.MULTI' ? words[3] : ['RL.SETTLE', 'RL.RESET', 'RL.REFUND'].includes(words[0]) ? words[2] : words[1]
    return this.#link.call(key, false, words, longest)
  }
}
