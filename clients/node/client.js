// @ts-check
// One way to send a command with every client.
import { once } from 'node:events'
import { isUnavailable, kind } from './guard.js'
import { slot } from './keys.js'

/**
 * What a client last said about its connections, if it has not been connected since.
 * @typedef {{error: unknown, asking?: Promise<void>}} Last
 */

/**
 * Sends a command. `why` returns what keeps the reply away, if that is known; `node` the node of a key.
 * @typedef {(key: string, readOnly: boolean, words: string[], signal: AbortSignal) => Promise<unknown>} SendOnce
 * @typedef {SendOnce & {why?: () => unknown, node?: (key: string) => string | undefined}} Send
 */

/**
 * One pair of listeners for each client, however many stores have it.
 * @type {WeakMap<object, Last>}
 */
const lastErrors = new WeakMap()

/**
 * The last error, if the server rejects the client.
 * @param {Last} last
 */
const rejection = ({ error }) => (error && !isUnavailable(error) ? error : undefined)

/**
 * A client that is not listened to ends the process at its first error.
 *
 * @param {any} client
 * @param {boolean} many whether it has several connections
 */
function lastError(client, many = false) {
  let last = lastErrors.get(client)
  if (!last) {
    /** @type {Last} */
    const found = { error: undefined }
    const failed = (/** @type {unknown} */ error) => {
      // One node may reject the password while another one is away.
      if (!many || !rejection(found)) found.error = error ?? new Error('the connection failed')
    }
    client.on?.('error', failed)
    // A Cluster of ioredis says so of its nodes.
    if (client.isCluster) client.on?.('node error', failed)
    // A cluster of node-redis has no `ready`.
    client.on?.(client.masters ? 'connect' : 'ready', () => (found.error = undefined))
    lastErrors.set(client, (last = found))
  }
  return last
}

/**
 * Resolves when the client is connected. A command that waits for a connection inside a client may be sent long after
 * the request that it was for, and charge it.
 *
 * @param {any} client
 * @param {() => boolean} isReady
 * @param {() => boolean} isClosed A client that is closed says so itself.
 * @param {Last} last
 */
function connected(client, isReady, isClosed, last) {
  /** @type {Promise<unknown> | undefined} */
  let waiting
  return async (/** @type {AbortSignal} */ signal) => {
    if (isReady()) return
    if (last.error) throw last.error
    if (isClosed()) return
    // It ends with an error of the connection, too.
    waiting ??= once(client, client.masters ? 'connect' : 'ready').finally(() => (waiting = undefined))
    await waiting
    // The request has its reply by now, and must not be charged.
    signal.throwIfAborted()
  }
}

/**
 * Why a cluster of node-redis is closed, which it does not say. A second one with its options tries to connect, to the
 * root nodes only.
 * @param {any} client
 */
async function whyClosed(client) {
  const other = client.duplicate({ minimizeConnections: true })
  const last = lastError(other, true)
  try {
    await other.connect()
    other.destroy()
    return new Error('the cluster is closed')
  } catch (error) {
    return last.error ?? error
  }
}

/** @param {any} error */
const isReadOnly = (error) => /^READONLY /.test(error?.message ?? '')

/**
 * @param {any} client of node-redis, one connection
 * @param {string[]} words
 * @param {AbortSignal} abortSignal
 */
async function sendOne(client, words, abortSignal) {
  try {
    return await client.sendCommand(words, { abortSignal })
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
 * @param {any} client of node-redis, a cluster
 * @returns {Send}
 */
function clusterSender(client) {
  const last = lastError(client, true)
  // Version 5 has no `isReady`.
  const isReady = () => client.isReady ?? client.masters.length > 0
  const ready = connected(client, isReady, () => false, last)
  /** @type {Send} */
  const send = async (key, readOnly, words, abortSignal) => {
    if (!client.isOpen && !last.error) {
      last.asking ??= whyClosed(client).then((error) => {
        last.error ??= error
        last.asking = undefined
      })
      await last.asking
    }
    await ready(abortSignal)
    for (const node of client.masters) if (node.client) lastError(node.client, true)
    try {
      const reply = await client.sendCommand(key, readOnly, words, { abortSignal })
      last.error = undefined
      return reply
    } catch (/** @type {any} */ error) {
      if (kind(error) !== 'connection') throw error
      throw (/root nodes are unavailable/.test(error?.message) ? last.error : send.why?.()) ?? error
    }
  }
  send.node = (key) => client.slots?.[slot(key)]?.master?.address
  send.why = () => {
    if (!isReady()) return last.error
    for (const { client: node } of client.masters) {
      const error = node && !node.isReady && rejection(lastError(node, true))
      if (error) return error
    }
  }
  return send
}

/**
 * @param {any} client of node-redis, a pool
 * @returns {Send}
 */
function poolSender(client) {
  const last = lastError(client, true)
  /** @type {Send} */
  const send = async (_key, _readOnly, words, signal) => {
    try {
      const reply = await client.execute(async (/** @type {any} */ one) => {
        // It may have waited for a connection for long.
        signal.throwIfAborted()
        if (!one.isReady) throw last.error ?? new Error('the connection is broken')
        return sendOne(one, words, signal)
      })
      last.error = undefined
      return reply
    } catch (error) {
      throw client.isOpen ? error : (last.error ?? error)
    }
  }
  send.why = () => last.error
  return send
}

/**
 * @param {any} client
 * @returns {Send}
 */
export function sender(client) {
  if (typeof client === 'function') return async (key, readOnly, words) => client(key, readOnly, words)
  // ioredis
  if (typeof client?.call === 'function') {
    if (client.isCluster && client.options?.retryDelayOnFailover > 0) {
      throw new TypeError(
        'client: a Cluster of ioredis sends a command again whose reply was lost, which charges it twice; ' +
          'create it with retryDelayOnFailover: 0',
      )
    }
    const last = lastError(client, client.isCluster)
    const isReady = () => client.status === 'ready'
    const isConnected = connected(client, isReady, () => client.status === 'end', last)
    const ready = (/** @type {AbortSignal} */ signal) => {
      // A command would connect it as well, but wait in its queue.
      if (client.status === 'wait') client.connect().catch(() => {})
      return isConnected(signal)
    }
    const why = () => (isReady() ? rejection(last) : last.error)
    if (!client.isCluster) {
      /** @type {Send} */
      const send = async (_key, _readOnly, words, signal) => {
        await ready(signal)
        try {
          return await client.call(...words)
        } catch (error) {
          if (isReadOnly(error) && client.status === 'ready') client.disconnect(true)
          throw error
        }
      }
      send.why = why
      return send
    }
    // It finds the node by the keys of a command, and knows those of Redis' own commands only. Without the keys, it
    // sends the command to any node, which may redirect it.
    /** @type {Send} */
    const send = async (key, _readOnly, words, signal) => {
      await ready(signal)
      const one = Object.create(client, {
        sendCommand: {
          value: (/** @type {any} */ command, /** @type {any[]} */ ...rest) => {
            command.keys = [key]
            return client.sendCommand(command, ...rest)
          },
        },
      })
      try {
        const reply = await one.call(...words)
        last.error = undefined
        return reply
      } catch (error) {
        throw kind(error) === 'connection' ? (why() ?? error) : error
      }
    }
    send.why = why
    send.node = (key) => client.slots?.[slot(key)]?.[0]
    return send
  }
  // node-redis
  if (typeof client?.sendCommand === 'function') {
    if (client.masters) return clusterSender(client)
    if (typeof client.execute === 'function') return poolSender(client)
    const last = lastError(client)
    const ready = connected(client, () => client.isReady, () => !client.isOpen, last)
    /** @type {Send} */
    const send = async (_key, _readOnly, words, signal) => {
      await ready(signal)
      return sendOne(client, words, signal)
    }
    send.why = () => (client.isReady ? undefined : last.error)
    return send
  }
  throw new TypeError('client: expected a client of redis or ioredis, or a function (key, readOnly, words) => reply')
}
