// @ts-check
// Which errors mean what, counters and a log.

/** Replies of a server that works, but cannot decide now. */
const CANNOT_DECIDE = new Set([
  'BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'MISCONF', 'NOREPLICAS', 'OOM', 'READONLY', 'TRYAGAIN',
])
const TOO_MANY_CLIENTS = /^ERR max number of clients/

/** A longer timer of Node.js ends at once. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** What a program does wrong. All other errors that are no replies are of the connection. */
const BUGS = [TypeError, RangeError, ReferenceError, SyntaxError]

/** The server is silent, so this request was not sent. */
export class CircuitOpen extends Error {
  name = 'CircuitOpen'
}

/** The server did not reply in time. */
export class NoReply extends Error {
  name = 'NoReply'
}

/** The server has not loaded the module. Its own error has the caller in it. */
export class NoModule extends Error {
  name = 'NoModule'
  constructor() {
    super(
      'ERR no module: the server has not loaded redis-rl; start it with --loadmodule /path/to/libredis_rl.so ' +
        '(docs/install.md)',
    )
  }
}

/** A lease ended before it was released. */
export class LeaseLost extends Error {
  name = 'LeaseLost'
  /** @param {unknown} cause why it was not renewed, if that is known */
  constructor(cause) {
    super('another holder may have been allowed', { cause })
  }
}

/**
 * A request without a decision that is not allowed. Express replies with its status: 503 if the server cannot decide,
 * 500 if it rejects the call.
 */
export class RateLimitError extends Error {
  name = 'RateLimitError'
  /**
   * @param {number} status
   * @param {unknown} cause
   */
  constructor(status, cause) {
    super(`${status === 503 ? 'no decision' : 'the call was rejected'}: ${describe(cause)}`, { cause })
    this.status = status
    this.statusCode = status
    /**
     * Express sends these too.
     * @type {Record<string, string>}
     */
    this.headers = status === 503 ? { 'Retry-After': '1' } : {}
  }
}

/**
 * What the nodes of a Cluster of ioredis said, if that is why it is not connected.
 * @param {any} error
 */
const cause = (error) => error?.lastNodeError ?? error

/**
 * The code of an error reply of the server, such as WRONGTYPE.
 * @type {(error: any) => string | undefined}
 */
function code(error) {
  return /^([A-Z][A-Z0-9]*)( |$)/.exec(cause(error)?.message ?? '')?.[1]
}

/**
 * Whether the server has no such command of the module.
 * @param {any} error
 */
export const isUnknown = (error) => /^(ERR )?unknown command *['`]?RL\./i.test(cause(error)?.message ?? '')

/**
 * Whether the time limit of the client was over: `commandTimeout` of ioredis, `timeout` of node-redis.
 * @param {any} error
 */
const isTimeout = (error) => error?.message === 'Command timed out' || error?.constructor?.name === 'TimeoutError'

/**
 * The code of an error reply (`WRONGTYPE`, `ERR` …), or `timeout`, `connection`, `circuit open`, `bug`.
 * @param {unknown} error
 */
export function kind(error) {
  if (error instanceof CircuitOpen) return 'circuit open'
  if (error instanceof NoReply || isTimeout(error)) return 'timeout'
  const found = code(error)
  if (found) return found
  return BUGS.some((bug) => error instanceof bug) ? 'bug' : 'connection'
}

/**
 * Whether the server cannot decide now. Every other error is a fault of the configuration or of the request.
 * @param {any} error
 */
export function isUnavailable(error) {
  const found = code(error)
  if (found) return CANNOT_DECIDE.has(found) || TOO_MANY_CLIENTS.test(cause(error).message)
  return kind(error) !== 'bug'
}

/** @param {any} error */
export function describe(error) {
  error = cause(error)
  // The error of a refused connection to a host with two addresses has no message.
  const text = [error?.message, error?.code].find(Boolean) ?? 'no reply'
  return `${error?.name ?? 'Error'}: ${String(text).replace(/\s+/g, ' ')}`
}

/** The counters and the log of one store. */
export class Guard {
  /** @type {import('./types.js').Counters} */
  counters = { allowed: 0, denied: 0, failedOpen: 0, failedClosed: 0, faults: 0, errors: {} }
  /** @type {import('./types.js').Logger} */
  logger = console
  /** @type {import('./types.js').StoreOptions['onError']} */
  onError
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
   * What a request gets without a decision: it is allowed only if the server cannot decide. Counts, logs and tells it.
   * @type {(error: unknown, failOpen: boolean) => 'faults' | 'failedOpen' | 'failedClosed'}
   */
  undecided(error, failOpen) {
    const outcome = !isUnavailable(error) ? 'faults' : failOpen ? 'failedOpen' : 'failedClosed'
    this.counters[outcome] += 1
    if (outcome === 'faults') this.tell('error', 'the call was rejected, a fault of the configuration', error, outcome)
    else this.tell('warn', `no decision, failing ${failOpen ? 'open' : 'closed'}`, error, outcome)
    return outcome
  }

  /**
   * Logs what happened, and calls `onError`. What that throws is logged, and changes nothing for the request.
   * @type {(level: 'warn' | 'error', what: string, error: unknown, outcome: import('./types.js').Outcome) => void}
   */
  tell(level, what, error, outcome) {
    this.log(level, what, error)
    try {
      this.onError?.(error, outcome)
    } catch (thrown) {
      this.log('error', 'onError failed', thrown)
    }
  }

  /**
   * Logs one line a second at most of each kind.
   * @type {(level: 'warn' | 'error', outcome: string, error: unknown) => void}
   */
  log(level, outcome, error) {
    const name = `${outcome}: ${kind(error)}`
    const now = performance.now()
    const last = this.#logged.get(name)
    if (last && now - last.at < 1000) {
      last.leftOut += 1
      return
    }
    this.#logged.set(name, { at: now, leftOut: 0 })
    const more = last?.leftOut ? ` (and ${last.leftOut} more)` : ''
    this.logger[level](`rate-limit-redis-rl: ${outcome}: ${describe(error)}${more}`)
  }
}
