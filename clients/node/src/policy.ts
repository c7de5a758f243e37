// A limit: the words of a command after its key, checked when it is made.

export type Algorithm = 'FIXED' | 'WINDOW' | 'SLIDING' | 'ROLLING' | 'COUNTER' | 'TOKEN' | 'LEAKY' | 'GCRA' | 'LOCKOUT' | 'LEASE'

/** What each algorithm takes, as vectors/capabilities.json says. */
const TAKES: Record<Algorithm, string[]> = {
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

const UNITS: Record<string, number> = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DAY = 86_400_000
/** The days of each calendar word; months and years differ, and these are those of most. */
const CALENDAR: Record<string, number> = { day: 1, week: 7, month: 30, year: 365 }

/** A limit: the words of the command reference. */
export type PolicyOptions = {
  algorithm: Algorithm
  /** `'500ms'`, `'10s'`, `'5m'`, `'1h'`, `'1d'`; without a unit it is seconds. FIXED also takes `'day'`, `'week'`, `'month'`, `'year'`. */
  window: string | number
  /** How many units a window allows. 0 denies everything. */
  limit: number
  /** How much may pass at once (TOKEN, LEAKY, GCRA). The limit if not given. */
  burst?: number
  /** Where windows start (FIXED), in Unix seconds. */
  anchor?: number
  /** The length of the first lock (LOCKOUT): `'1m'`. The window if not given. */
  block?: string | number
  /** The length of the longest lock (LOCKOUT): `'1d'`. A day, or the first lock if that is longer, if not given. */
  max?: string | number
  /** Decides and counts, and denies nothing. */
  shadow?: boolean
  /** Its part of the keys, and its name in the headers. `token:60000ms` in the keys and `token` in the headers if not given. */
  name?: string
}

/** A text such as `'TOKEN 1m 60 BURST 10'`, options, or a Policy. */
export type AnyPolicy = string | PolicyOptions | Policy

function wrong(what: string, expected: string): never {
  throw new TypeError(`${what}: expected ${expected}`)
}

/** The milliseconds of a span such as `90`, `500ms` or `1m`. `name` is the option, for the error. */
export function milliseconds(name: string, span: unknown): number {
  const found = /^([1-9][0-9]*)(|ms|s|m|h|d)$/.exec(String(span))
  const ms = found ? Number(found[1]) * UNITS[found[2]] : NaN
  return Number.isSafeInteger(ms) ? ms : wrong(name, "a positive integer of seconds, or one with a unit: '500ms', '10s', '5m', '1h', '1d'")
}

function integer(name: string, value: unknown, least: number): number {
  const number = typeof value === 'string' && /^(0|[1-9][0-9]*)$/.test(value) ? Number(value) : value
  if (!Number.isSafeInteger(number) || Number(number) < least) wrong(name, `an integer from ${least} to 2^53 - 1`)
  return Number(number)
}

/** The options that a text such as `TOKEN 1m 60 BURST 10` says. */
function options(text: string): any {
  const [algorithm, window, limit, ...rest] = text.trim().split(/\s+/)
  if (limit === undefined) wrong('policy', `an algorithm, a window and a limit, as in 'TOKEN 1m 60', not '${text}'`)
  const found: Record<string, unknown> = { algorithm, window, limit }
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

/** Texts that were read, so that a text costs its reading once. */
const read = new Map<string, Policy>()

/** A limit, checked when it is made: what is wrong is a TypeError that names the option. */
export class Policy {
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

  /** From a text such as `'TOKEN 1m 60 BURST 10'`, or options. */
  static of(policy: AnyPolicy): Policy {
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

  constructor({ algorithm, window, limit, name, shadow = false, ...values }: PolicyOptions) {
    this.algorithm = String(algorithm).toUpperCase() as Algorithm
    const takes = TAKES[this.algorithm] ?? wrong('algorithm', `one of ${Object.keys(TAKES).join(', ')}`)
    for (const [option, value] of Object.entries(values)) {
      if (value === undefined || takes.includes(option)) continue
      const others = Object.entries(TAKES).flatMap(([name, words]) => (words.includes(option) ? [name] : []))
      throw new TypeError(`${option}: ${others.length ? `${this.algorithm} takes none; ${others.join(', ')} do` : 'a policy has no such option'}`)
    }
    const days = takes.includes('anchor') && CALENDAR[window]
    this.windowMs = days ? days * DAY : milliseconds('window', window)
    this.window = days ? String(window) : `${this.windowMs}ms`
    this.limit = integer('limit', limit, 0)
    const { burst, anchor, block, max } = values
    this.anchor = anchor === undefined ? 0 : integer('anchor', anchor, 0)
    this.words = [this.window, String(this.limit)]
    if (burst !== undefined) this.words.push('BURST', String(integer('burst', burst, 1)))
    if (anchor !== undefined) this.words.push('ANCHOR', String(this.anchor))
    if (block !== undefined) this.words.push('BLOCK', `${milliseconds('block', block)}ms`)
    if (max !== undefined) this.words.push('MAX', `${milliseconds('max', max)}ms`)
    if (max !== undefined && milliseconds('max', max) < milliseconds('block', block ?? window)) wrong('max', 'no less than block')
    if (shadow) this.words.push('SHADOW')
    this.isShadow = shadow
    if (name !== undefined && !/^[\w.-]{1,64}$/.test(name)) wrong('name', '1 to 64 of the characters A-Z a-z 0-9 . _ -')
    this.label = name ?? this.algorithm.toLowerCase()
    this.name = name ?? [this.label, this.window, ...(anchor === undefined ? [] : [anchor])].join(':')
  }

  /** How long the window is that the server's time `at` is in. Months differ. */
  windowAt(at: number): number {
    const months = ({ month: 1, year: 12 } as Record<string, number>)[this.window]
    if (!months) return this.windowMs
    const anchor = new Date(this.anchor * 1000)
    // The nth period after that of the anchor begins on its day, or on the last one of a shorter month.
    const begin = (n: number): number => {
      const month = anchor.getUTCMonth() + n * months
      const last = new Date(Date.UTC(anchor.getUTCFullYear(), month + 1, 0)).getUTCDate()
      return Date.UTC(anchor.getUTCFullYear(), month, Math.min(anchor.getUTCDate(), last)) + (Number(anchor) % DAY)
    }
    let n = Math.floor((at - Number(anchor)) / (months * 30 * DAY))
    while (begin(n) > at) n -= 1
    while (begin(n + 1) <= at) n += 1
    return begin(n + 1) - begin(n)
  }
}
