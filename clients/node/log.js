// @ts-check
// The counters and the log of one limiter.
import { describe, kind } from './errors.js'

export class Log {
  /** @type {import('./types.js').Counters} */
  counters = { allowed: 0, denied: 0, local: 0, failedOpen: 0, failedClosed: 0, faults: 0, errors: {} }
  /** @type {import('./types.js').Logger} */
  logger = console
  /** @type {Map<string, {at: number, leftOut: number}>} */
  #logged = new Map()

  /**
   * Counts why there is no reply, and returns it.
   * @param {unknown} error
   */
  counted(error) {
    const found = kind(error)
    this.counters.errors[found] = (this.counters.errors[found] ?? 0) + 1
    return error
  }

  /**
   * Logs one line a second at most of each kind.
   * @type {(level: 'warn' | 'error', what: string, error?: unknown) => void}
   */
  limited(level, what, error) {
    const name = error === undefined ? what : `${what}: ${kind(error)}`
    const now = performance.now()
    const last = this.#logged.get(name)
    if (last && now - last.at < 1000) {
      last.leftOut += 1
      return
    }
    this.#logged.set(name, { at: now, leftOut: 0 })
    const text = error === undefined ? what : `${what}: ${describe(error)}`
    this.logger[level](`redis-rl: ${text}${last?.leftOut ? ` (and ${last.leftOut} more)` : ''}`)
  }
}
