// @ts-check
// Reservations: an estimate that is charged once, settled once, and comes back by itself if nobody settles it.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sender, within } from './client.js'
import { CircuitOpen, Guard, RateLimitError, isUnavailable } from './guard.js'

const RESERVES = ['FIXED', 'WINDOW', 'COUNTER', 'ROLLING']
/** @type {Record<string, number>} */
const UNITS = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** The options that a value follows. */
const VALUED = ['COST', 'ANCHOR', 'AS']
/** The pause before a settlement is sent again that had no reply, and the longest. */
const PAUSE = 50
const LONGEST_PAUSE = 5000

/** @typedef {import('./index.js').Policy} Policy */
/** @typedef {import('./index.js').ReservationDecision} Decision */

/**
 * The milliseconds of a window as the module writes it.
 * @param {string | number} window
 */
function milliseconds(window) {
  const found = /^([1-9][0-9]*)(|ms|s|m|h|d)$/.exec(String(window))
  if (!found) throw new TypeError('ttl or window: expected a positive integer of seconds, or one with ms, s, m, h or d')
  return Number(found[1]) * UNITS[found[2]]
}

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
   * What was used of a limit with COST, by its key.
   * @type {Map<string, number>}
   */
  used = new Map()
  reported = false
  called = false
  settled = false
  isLost = false

  /**
   * @param {Policy[]} policies
   * @param {string | number} ttl
   * @param {string | undefined} id
   */
  constructor(policies, ttl, id) {
    if (!Array.isArray(policies) || policies.length === 0 || !policies.every((policy) => policy.length >= 4)) {
      throw new TypeError('policies: expected arrays of an algorithm, a key, a window, a limit, and options')
    }
    this.limits = policies.map((policy) => {
      const [algorithm, ...words] = policy.map(String)
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
      return { name, words, key: words[0], window: words[1], cost: values.COST, anchor: values.ANCHOR }
    })
    this.ttl = milliseconds(ttl)
    this.isNew = id === undefined
    this.id = id ?? randomUUID()
    const length = Buffer.byteLength(this.id)
    if (length < 1 || length > 128) throw new TypeError('id: expected 1 to 128 bytes')
    this.key = this.limits[0].key
    this.leases = this.limits.filter(({ name }) => name === 'LEASE')
    this.renewAfter = Math.min(...this.leases.map(({ window }) => milliseconds(window))) / 3
  }

  /** @param {import('./index.js').Used} used */
  report(used) {
    const keys = this.limits.filter(({ cost }) => cost !== undefined).map(({ key }) => key)
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
    this.settled = true
    const charged = this.called || this.reported
    /** @type {string[][]} */
    const calls = this.leases.map(({ key }) => ['RL.RELEASE', key, this.id])
    for (const { name, words, key, cost, anchor } of this.limits) {
      if (name === 'LEASE') continue
      // A limit with COST counts what is used, any other one the request itself.
      const actual = !charged ? 0 : cost === undefined ? 1 : (this.used.get(key) ?? cost)
      const end = ['RESERVATION', this.id, 'ACTUAL', String(actual)]
      calls.push(['RL.SETTLE', name, ...words.slice(0, 3), ...end, ...(anchor === undefined ? [] : ['ANCHOR', anchor])])
    }
    return calls
  }

  renew() {
    return this.leases.map(({ key, window }) => ['RL.RENEW', key, window, this.id])
  }
}

/** @param {any} reply @returns {Decision} */
function decision([allowed, limits, headers]) {
  const pairs = headers.map(String)
  return {
    allowed: allowed === 1,
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
    return this.#charge.isLost
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
  #send
  #failOpen
  #onError
  #guard = new Guard()

  /** @param {import('./index.js').LimiterOptions} options */
  constructor({ client, timeout = 250, failOpen = false, onError, logger, ...others }) {
    for (const name of Object.keys(others)) {
      throw new TypeError(`${name}: there is no such option; expected client, timeout, failOpen, onError, logger`)
    }
    if (!Number.isInteger(timeout) || timeout < 1 || timeout > 3_600_000) {
      throw new TypeError('timeout: expected an integer of milliseconds from 1 to 3600000')
    }
    if (typeof failOpen !== 'boolean') throw new TypeError('failOpen: expected true or false')
    this.#send = within(timeout, sender(client))
    this.#failOpen = failOpen
    this.#onError = onError
    if (logger) this.#guard.logger = logger
  }

  get counters() {
    return this.#guard.counters
  }

  /**
   * @param {Policy[]} policies
   * @param {string | number} ttl
   * @param {import('./index.js').ReserveOptions} options
   */
  async reserve(policies, ttl, { id, signal } = {}) {
    signal?.throwIfAborted()
    const charge = new Charge(policies, ttl, id)
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
      if (charge.leases.length > 0) this.#renewLater(charge)
      const settle = () => void this.#settle(charge).catch(() => {})
      dropped.register(reservation, settle)
      signal?.addEventListener('abort', settle, { once: true })
    }
    return reservation
  }

  /**
   * @param {unknown} error
   * @param {Charge} charge
   * @returns {Decision}
   */
  #withoutDecision(error, charge) {
    const unavailable = isUnavailable(error)
    const outcome = !unavailable ? 'faults' : this.#failOpen ? 'failedOpen' : 'failedClosed'
    this.counters[outcome] += 1
    if (unavailable) this.#guard.log('warn', `no decision, failing ${this.#failOpen ? 'open' : 'closed'}`, error)
    else this.#guard.log('error', 'the call was rejected, a fault of the configuration', error)
    this.#onError?.(error, outcome)
    // What was not sent is not charged; but an earlier call with a given id may have been.
    if (charge.isNew && error instanceof CircuitOpen) charge.settled = true
    if (outcome !== 'failedOpen') {
      // The server may have charged it after all.
      if (charge.isNew && unavailable) this.#settle(charge).catch(() => {})
      throw new RateLimitError(unavailable ? 503 : 500, error)
    }
    return { allowed: true, limits: [], headers: {} }
  }

  /**
   * Settles, again and again while the server does not reply and the reservation can be settled.
   * @param {Charge} charge
   */
  async #settle(charge) {
    const calls = charge.settle()
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
        this.#guard.log('error', 'not settled', error)
        throw error
      }
      this.#guard.log('warn', 'settling again', again)
      await sleep(pause, undefined, { ref: false })
    }
  }

  /** @param {Charge} charge */
  #renewLater(charge) {
    const timer = setTimeout(async () => {
      if (charge.settled) return
      try {
        const renewed = await Promise.all(charge.renew().map((words) => this.#call(words)))
        if (renewed.includes(0)) charge.isLost = true
      } catch (error) {
        this.#guard.log('warn', 'renewing again', error)
      }
      if (!charge.settled && !charge.isLost) this.#renewLater(charge)
    }, charge.renewAfter)
    timer.unref()
  }

  /** @param {string[]} words */
  async #call(words) {
    // The key decides the node of a cluster.
    const key = words[0] === 'RL.MULTI' ? words[3] : words[0] === 'RL.SETTLE' ? words[2] : words[1]
    try {
      this.#guard.enter()
      const reply = await this.#send(key, false, words)
      this.#guard.replied()
      return reply
    } catch (error) {
      this.#guard.failed(error)
      throw error
    }
  }
}
