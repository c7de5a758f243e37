// The counters and the log of one limiter.
import { describe, kind } from './errors.js'

/** What is logged to: the console, for example. */
export type Logger = { warn(text: string): void; error(text: string): void }

/** What happened since the start. */
export type Counters = {
  /** The server allowed the request. */
  allowed: number
  /** The server denied the request. */
  denied: number
  /** The server could not decide, and the limit of this process did. */
  local: number
  /** The server could not decide, and the request was allowed. */
  failedOpen: number
  /** The server could not decide, and the request was not allowed. */
  failedClosed: number
  /** The server rejected the call, which was not allowed: the configuration is wrong. */
  faults: number
  /** Calls without a reply, and error replies, by code: `WRONGTYPE`, `ERR`, `timeout`, `connection` … */
  errors: Record<string, number>
}

export class Log {
  counters: Counters = { allowed: 0, denied: 0, local: 0, failedOpen: 0, failedClosed: 0, faults: 0, errors: {} }
  logger: Logger = console
  #logged = new Map<string, { at: number; leftOut: number }>()

  /** Counts why there is no reply, and returns it. */
  counted(error: unknown): unknown {
    const found = kind(error)
    this.counters.errors[found] = (this.counters.errors[found] ?? 0) + 1
    return error
  }

  /** Logs one line a second at most of each kind. */
  limited(level: 'warn' | 'error', what: string, error?: unknown): void {
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
