// @ts-check
// A limit: the words of a command after its key, checked when it is made.

/** What each algorithm takes, as vectors/capabilities.json says. */
const TAKES = {
  FIXED: ['anchor'],
  WINDOW: [],
  SLIDING: [],
  ROLLING: [],
  COUNTER: [],
  TOKEN: ['burst'],
  LEAKY: ['burst'],
  GCRA: ['burst'],
  LOCKOUT: ['block', 'max'],
  LEASE: [],
}

/** @typedef {keyof typeof TAKES} Algorithm */

/** @type {Record<string, number>} */
const UNITS = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** The days of each calendar word; those of a month and a year are of one without ANCHOR, and differ. */
const CALENDAR = { day: 1, week: 7, month: 30, year: 365 }
const DAY = 86_400_000

/** @type {(what: string, expected: string) => never} */
function wrong(what, expected) {
  throw new TypeError(`${what}: expected ${expected}`)
}

/**
 * The milliseconds of a span such as `90`, `500ms` or `1m`.
 * @param {string} name the option, for the error
 * @param {unknown} span
 */
export function milliseconds(name, span) {
  const found = /^([1-9][0-9]*)(|ms|s|m|h|d)$/.exec(String(span))
  const ms = found ? Number(found[1]) * UNITS[found[2]] : NaN
  return Number.isSafeInteger(ms) ? ms : wrong(name, "a positive integer of seconds, or one with a unit: '500ms', '10s', '5m', '1h', '1d'")
}

/** @type {(name: string, value: unknown, least: number) => number} */
function integer(name, value, least) {
  const number = typeof value === 'string' && /^(0|[1-9][0-9]*)$/.test(value) ? Number(value) : value
  if (!Number.isSafeInteger(number) || Number(number) < least) wrong(name, `an integer from ${least} to 2^53 - 1`)
  return Number(number)
}

/** Texts that were read, so that a text costs its reading once. */
const read = new Map()

export class Policy {
  /**
   * @param {string | Policy | import('./types.js').PolicyOptions} policy
   * @returns {Policy}
   */
  static of(policy) {
    if (policy instanceof Policy) return policy
    if (typeof policy !== 'string') return new Policy(policy)
    let found = read.get(policy)
    if (!found) {
      // A program has few policies; one that makes texts without end does not fill the memory.
      if (read.size >= 1000) read.clear()
      read.set(policy, (found = new Policy(options(policy))))
    }
    return found
  }

  /** @param {import('./types.js').PolicyOptions} options */
  constructor({ algorithm, window, limit, name, shadow = false, ...values }) {
    const word = String(algorithm).toUpperCase()
    const takes = TAKES[/** @type {Algorithm} */ (word)] ?? wrong('algorithm', `one of ${Object.keys(TAKES).join(', ')}`)
    this.algorithm = /** @type {Algorithm} */ (word)
    for (const [option, value] of Object.entries(values)) {
      if (value === undefined) continue
      if (takes.includes(/** @type {never} */ (option))) continue
      const who = Object.entries(TAKES).flatMap(([name, words]) => (words.includes(/** @type {never} */ (option)) ? [name] : []))
      throw new TypeError(who.length ? `${option}: ${word} takes none; ${who.join(', ')} do` : `${option}: a policy has no such option`)
    }
    const days = takes.includes(/** @type {never} */ ('anchor')) && CALENDAR[/** @type {keyof typeof CALENDAR} */ (window)]
    this.windowMs = days ? days * DAY : milliseconds('window', window)
    this.window = days ? String(window) : `${this.windowMs}ms`
    this.limit = integer('limit', limit, 0)
    const { burst, anchor, block, max } = values
    this.anchor = anchor === undefined ? 0 : integer('anchor', anchor, 0)
    /** The words of the command after the key. */
    this.words = [this.window, String(this.limit)]
    if (burst !== undefined) this.words.push('BURST', String(integer('burst', burst, 1)))
    if (anchor !== undefined) this.words.push('ANCHOR', String(this.anchor))
    if (block !== undefined) this.words.push('BLOCK', `${milliseconds('block', block)}ms`)
    if (max !== undefined) this.words.push('MAX', `${milliseconds('max', max)}ms`)
    if (max !== undefined && milliseconds('max', max) < milliseconds('block', block ?? window)) wrong('max', 'no less than block')
    if (shadow) this.words.push('SHADOW')
    this.isShadow = shadow
    if (name !== undefined && !/^[\w.-]{1,64}$/.test(name)) wrong('name', '1 to 64 of the characters A-Z a-z 0-9 . _ -')
    /** Its part of each key. */
    this.name = name ?? [word.toLowerCase(), this.window, ...(anchor === undefined ? [] : [anchor])].join(':')
    /** Its name in the headers. */
    this.label = name ?? word.toLowerCase()
  }

  /**
   * How long the window is that the server's time `at` is in. Months differ.
   * @param {number} at
   */
  windowAt(at) {
    const months = { month: 1, year: 12 }[this.window]
    if (!months) return this.windowMs
    const anchor = new Date(this.anchor * 1000)
    const [year, month, day] = [anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate()]
    const clock = (this.anchor * 1000) % DAY
    // The nth period after that of the anchor begins on its day, or on the last one of a shorter month.
    const begin = (/** @type {number} */ n) => {
      const last = new Date(Date.UTC(year, month + n * months + 1, 0)).getUTCDate()
      return Date.UTC(year, month + n * months, Math.min(day, last)) + clock
    }
    const now = new Date(at)
    let n = Math.floor(((now.getUTCFullYear() - year) * 12 + now.getUTCMonth() - month) / months)
    while (begin(n) > at) n -= 1
    while (begin(n + 1) <= at) n += 1
    return begin(n + 1) - begin(n)
  }
}

/**
 * The options that a text such as `TOKEN 1m 60 BURST 10` says.
 * @param {string} text
 * @returns {any}
 */
function options(text) {
  const [algorithm, window, limit, ...rest] = text.trim().split(/\s+/)
  if (limit === undefined) wrong('policy', `an algorithm, a window and a limit, as in 'TOKEN 1m 60', not '${text}'`)
  /** @type {Record<string, unknown>} */
  const found = { algorithm, window, limit }
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at].toLowerCase()
    const name = word === 'as' ? 'name' : word
    if (Object.hasOwn(found, name)) throw new TypeError(`policy: ${word.toUpperCase()} is given twice`)
    if (name === 'shadow') found.shadow = true
    else if (rest[(at += 1)] === undefined) wrong(`policy: after ${word.toUpperCase()}`, 'a value')
    else found[name] = rest[at]
  }
  return found
}
