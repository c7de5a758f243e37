// @ts-check
// Which errors mean what.

/** Replies of a server that works, but cannot decide now: vectors/errors.json. */
const CANNOT_DECIDE = new Set([
  'BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'MISCONF', 'NOREPLICAS', 'OOM', 'READONLY', 'TRYAGAIN',
])
const TOO_MANY_CLIENTS = /^ERR max number of clients/

/** What a program does wrong. All other errors that are no replies are of the connection. */
const BUGS = [TypeError, RangeError, ReferenceError, SyntaxError]

/** The server does not reply, so this request was not sent. */
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

/**
 * A request without a decision that is not allowed: status 503 if the server cannot decide, 500 if it rejects the call.
 * Express replies with its status and headers.
 */
export class RateLimitError extends Error {
  name = 'RateLimitError'
  /**
   * @param {500 | 503} status
   * @param {unknown} cause
   */
  constructor(status, cause) {
    super(`${status === 503 ? 'no decision' : 'the call was rejected'}: ${describe(cause)}`, { cause })
    this.status = status
    this.statusCode = status
    /** @type {Record<string, string>} */
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
  return code(error) ?? (BUGS.some((bug) => error instanceof bug) ? 'bug' : 'connection')
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
