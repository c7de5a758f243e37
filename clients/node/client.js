// @ts-check
// One way to send a command with every client.
import { setTimeout as sleep } from 'node:timers/promises'
import { NoReply } from './guard.js'

/**
 * One pair of listeners for each client, however many stores have it.
 * @type {WeakMap<object, () => unknown>}
 */
const lastErrors = new WeakMap()

/**
 * What a client last said about its connection, if it has not been connected since. A client that is not listened to
 * ends the process at its first error.
 *
 * @param {any} client
 * @returns {() => unknown}
 */
function lastError(client) {
  let found = lastErrors.get(client)
  if (!found) {
    /** @type {unknown} */
    let last
    client.on?.('error', (/** @type {unknown} */ error) => (last = error ?? new Error('the connection failed')))
    client.on?.('ready', () => (last = undefined))
    found = () => last
    lastErrors.set(client, found)
  }
  return found
}

/**
 * Resolves when the client is connected. A command that waits for a connection inside a client may be sent long after
 * the request that it was for, and charge it.
 *
 * @param {any} client
 * @param {() => boolean} isReady
 * @param {() => unknown} last
 */
function connected(client, isReady, last) {
  /** @type {Promise<void> | undefined} */
  let waiting
  return async (/** @type {AbortSignal} */ signal) => {
    if (isReady()) return
    if (last()) throw last()
    waiting ??= new Promise((resolve) => client.once('ready', () => ((waiting = undefined), resolve())))
    await waiting
    // The request has its reply by now, and must not be charged.
    signal.throwIfAborted()
  }
}

/** @param {any} error */
const isReadOnly = (error) => /^READONLY /.test(error?.message ?? '')

/**
 * @param {any} client of node-redis, one connection
 * @param {string[]} words
 */
async function sendOne(client, words) {
  try {
    return await client.sendCommand(words)
  } catch (error) {
    // After a failover the address may lead to another server, but the connection still leads to this one.
    if (isReadOnly(error) && client.isOpen) {
      client.destroy()
      client.connect().catch(() => {}) // it says so by its event
    }
    throw error
  }
}

/**
 * @param {any} client
 * @returns {(key: string, readOnly: boolean, words: string[], signal: AbortSignal) => Promise<unknown>}
 */
export function sender(client) {
  if (typeof client === 'function') return async (key, readOnly, words) => client(key, readOnly, words)
  // ioredis
  if (typeof client?.call === 'function') {
    const last = lastError(client)
    const ready = connected(client, () => ['ready', 'wait', 'end'].includes(client.status), last)
    if (!client.isCluster) {
      return async (_key, _readOnly, words, signal) => {
        await ready(signal)
        try {
          return await client.call(...words)
        } catch (error) {
          if (isReadOnly(error) && client.status === 'ready') client.disconnect(true)
          throw error
        }
      }
    }
    // It finds the node by the keys of a command, and knows those of Redis' own commands only. Without the keys, it
    // sends the command to any node, which may redirect it.
    return async (key, _readOnly, words, signal) => {
      await ready(signal)
      return Object.create(client, {
        sendCommand: {
          value: (/** @type {any} */ command, /** @type {any[]} */ ...rest) => {
            command.keys = [key]
            return client.sendCommand(command, ...rest)
          },
        },
      }).call(...words)
    }
  }
  // node-redis
  if (typeof client?.sendCommand === 'function') {
    const last = lastError(client)
    // A cluster
    if (client.masters) {
      return (key, readOnly, words, abortSignal) => client.sendCommand(key, readOnly, words, { abortSignal })
    }
    // A pool
    if (typeof client.execute === 'function') {
      return (_key, _readOnly, words) => client.execute((/** @type {any} */ one) => sendOne(one, words))
    }
    // A client that is closed says so itself.
    const ready = connected(client, () => client.isReady || !client.isOpen, last)
    return async (_key, _readOnly, words, signal) => {
      await ready(signal)
      return sendOne(client, words)
    }
  }
  throw new TypeError('client: expected a client of redis or ioredis, or a function (key, readOnly, words) => reply')
}

/**
 * Gives up waiting for a reply after `ms`. The server may have charged the request.
 * @param {number} ms
 * @param {ReturnType<typeof sender>} send
 * @returns {import('./index.js').SendCommand}
 */
export function within(ms, send) {
  return async (key, readOnly, words) => {
    const timer = new AbortController()
    const late = sleep(ms, undefined, timer).then(() => {
      throw new NoReply(`no reply within ${ms} ms`)
    })
    const command = new AbortController()
    const reply = send(key, readOnly, words, command.signal)
    reply.catch(() => {}) // it may fail after this has given up
    try {
      return await Promise.race([reply, late])
    } finally {
      timer.abort()
      command.abort() // it is no longer in a queue then
    }
  }
}
