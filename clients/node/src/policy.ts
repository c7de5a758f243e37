// A limit: the words of a command after its key, checked when it is made.

export type Algorithm = 'FIXED' | 'WINDOW' | 'SLIDING' | 'ROLLING' | 'COUNTER' | 'TOKEN' | 'LEAKY' | 'GCRA' | 'LOCKOUT' | 'LEASE'

/** The options of each algorithm, as vectors/capabilities.json says. ANCHOR stands for the windows of the calendar too. */
const TAKES: Record<Algorithm, string[]> = {
  FIXED: ['ANCHOR'],
  WINDOW: [],
  SLIDING: [],
  ROLLING: [],
  COUNTER: [],
  TOKEN: ['BURST'],
  LEAKY: ['BURST'],
  GCRA: ['BURST'],
  LOCKOUT: ['BLOCK', 'MAX'],
  LEASE: [],
}

const UNITS: Record<string, number> = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DAY = 86_400_000
/** The days of each calendar word; months and years differ, and these are those of most. */
const CALENDAR = new Map([['day', 1], ['week', 7], ['month', 30], ['year', 365]])

/** The words of the command reference, such as `'TOKEN 1m 60 BURST 10'`, or a Policy made of them. */
export type AnyPolicy = string | Policy

function wrong(what: string, expected: string): never {
  throw new TypeError(`${what}: expected ${expected}`)
}

/** The milliseconds of a span such as `90`, `500ms` or `1m`. `name` is the option, for the error. */
export function milliseconds(name: string, span: unknown): number {
  const found = /^([1-9][0-9]*)(|ms|s|m|h|d)$/.exec(String(span))
  const ms = found ? Number(found[1]) * UNITS[found[2]] : NaN
  return Number.isSafeInteger(ms) ? ms : wrong(name, "a positive integer of seconds, or one with a unit: '500ms', '10s', '5m', '1h', '1d'")
}

function integer(name: string, text: string, least: number): number {
  const number = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(number) && number >= least ? number : wrong(name, `an integer from ${least} to 2^53 - 1`)
}

/** The options of a policy: what each word is followed by, which for SHADOW is nothing. */
function options(algorithm: Algorithm, words: string[]): Map<string, string> {
  const accepted = [...(TAKES[algorithm] ?? wrong('algorithm', `one of ${Object.keys(TAKES).join(', ')}`)), 'AS', 'SHADOW']
  const found = new Map<string, string>()
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at].toUpperCase()
    if (!accepted.includes(word)) throw new TypeError(`${word.toLowerCase()}: ${algorithm} takes ${accepted.join(', ')}`)
    if (found.has(word)) throw new TypeError(`policy: ${word} is given twice`)
    found.set(word, word === 'SHADOW' ? '' : (words[(at += 1)] ?? wrong(`policy: after ${word}`, 'a value')))
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
  /** Its name in the headers. */
  readonly label: string
  /** What its keys begin with, after the prefix of the limiter. @internal */
  keys: string

  static of(policy: AnyPolicy): Policy {
    if (policy instanceof Policy) return policy
    let found = read.get(policy)
    if (!found) {
      // A program has few policies; one that makes texts without end does not fill the memory.
      if (read.size >= 1000) read.clear()
      read.set(policy, (found = new Policy(policy)))
    }
    return found
  }

  constructor(text: string) {
    const [algorithm, window, limit, ...rest] = String(text).trim().split(/\s+/)
    if (limit === undefined) wrong('policy', `an algorithm, a window and a limit, as in 'TOKEN 1m 60', not '${text}'`)
    this.algorithm = algorithm.toUpperCase() as Algorithm
    const given = options(this.algorithm, rest)
    const days = this.algorithm === 'FIXED' && CALENDAR.get(window)
    this.windowMs = days ? days * DAY : milliseconds('window', window)
    this.window = days ? window : `${this.windowMs}ms`
    this.limit = integer('limit', limit, 0)
    const [burst, anchor, block, max, name] = ['BURST', 'ANCHOR', 'BLOCK', 'MAX', 'AS'].map((word) => given.get(word))
    this.anchor = integer('anchor', anchor ?? '0', 0)
    this.words = [this.window, String(this.limit)]
    if (burst !== undefined) this.words.push('BURST', String(integer('burst', burst, 1)))
    if (anchor !== undefined) this.words.push('ANCHOR', String(this.anchor))
    if (block !== undefined) this.words.push('BLOCK', `${milliseconds('block', block)}ms`)
    if (max !== undefined) this.words.push('MAX', `${milliseconds('max', max)}ms`)
    if (max !== undefined && milliseconds('max', max) < milliseconds('block', block ?? window)) wrong('max', 'no less than block')
    this.isShadow = given.has('SHADOW')
    if (this.isShadow) this.words.push('SHADOW')
    if (name !== undefined && !/^[\w.-]{1,64}$/.test(name)) wrong('name', '1 to 64 of the characters A-Z a-z 0-9 . _ -')
    this.label = name ?? this.algorithm.toLowerCase()
    this.keys = `${name ?? [this.label, this.window, ...(anchor === undefined ? [] : [anchor])].join(':')}:`
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
