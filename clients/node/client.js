// @ts-check
// One way to send a command with every client.
import { once } from 'node:events'
import { isUnavailable, kind } from './errors.js'
import { slot } from './keys.js'

/**
 * Sends a command. `why` returns what keeps the reply away, if that is known; `node` the node of a key.
 * @typedef {(key: string, readOnly: boolean, words: string[], signal: AbortSignal) => Promise<unknown>} SendOnce
 * @typedef {SendOnce & {isCluster?: boolean, why?: () => unknown, node?: (key: string) => string | undefined}} Send
 */

/**
 * What a client last said about its connections, if it has not been connected since; and who is told when it is connected.
 * @typedef {{error: unknown, asking?: Promise<void>, connected: Set<() => void>}} Last
 */

/**
 * What differs between the clients: whether one is connected; whether it is closed, which it then says itself; what is
 * done before a command; how it is sent; what keeps the reply away; what an error means; the node of a key.
 * @typedef {object} Adapter
 * @property {() => boolean} isReady
 * @property {() => boolean} [isClosed]
 * @property {() => void | Promise<void>} [prepare]
 * @property {SendOnce} call
 * @property {() => unknown} why
 * @property {(error: any) => unknown} [explain]
 * @property {(key: string) => string | undefined} [node]
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
    const found = { error: undefined, connected: new Set() }
    const failed = (/** @type {unknown} */ error) => {
      // One node may reject the password while another one is away.
      if (!many || !rejection(found)) found.error = error ?? new Error('the connection failed')
    }
    client.on?.('error', failed)
    // A Cluster of ioredis says so of its nodes.
    if (client.isCluster) client.on?.('node error', failed)
    // A cluster of node-redis has no `ready`.
    client.on?.(client.masters ? 'connect' : 'ready', () => {
      found.error = undefined
      for (const tell of found.connected) tell()
    })
    lastErrors.set(client, (last = found))
  }
  return last
}

/** @param {any} error */
const isReadOnly = (error) => /^READONLY /.test(error?.message ?? '')

/**
 * Sends over one connection of node-redis.
 * @type {(client: any, words: string[], abortSignal: AbortSignal) => Promise<unknown>}
 */
function sendOne(client, words, abortSignal) {
  return client.sendCommand(words, { abortSignal }).catch((/** @type {unknown} */ error) => {
    // After a failover the address may lead to another server, but the connection still leads to this one.
    if (isReadOnly(error) && client.isOpen) {
      client.destroy()
      client.connect().catch(() => {}) // it says so by its event
    }
    throw error
  })
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

/** @param {any} client @param {Last} last @returns {Adapter} */
const nodeRedis = (client, last) => ({
  isReady: () => client.isReady,
  isClosed: () => !client.isOpen,
  call: (_key, _readOnly, words, signal) => sendOne(client, words, signal),
  why: () => (client.isReady ? undefined : last.error),
})

/** @param {any} client @param {Last} last @returns {Adapter} */
const nodeRedisPool = (client, last) => ({
  isReady: () => true, // a request waits for a connection in the pool
  call: (_key, _readOnly, words, signal) =>
    client.execute(async (/** @type {any} */ one) => {
      // It may have waited for a connection for long.
      signal.throwIfAborted()
      if (!one.isReady) throw last.error ?? new Error('the connection is broken')
      return sendOne(one, words, signal)
    }),
  why: () => last.error,
  explain: (error) => (client.isOpen ? error : (last.error ?? error)),
})

/** @param {any} client @param {Last} last @returns {Adapter} */
function nodeRedisCluster(client, last) {
  // Version 5 has no `isReady`.
  const isReady = () => client.isReady ?? client.masters.length > 0
  const why = () => {
    if (!isReady()) return last.error
    for (const { client: node } of client.masters) {
      const error = node && !node.isReady && rejection(lastError(node, true))
      if (error) return error
    }
  }
  return {
    isReady,
    async prepare() {
      if (client.isOpen || last.error) return
      last.asking ??= whyClosed(client).then((error) => {
        last.error ??= error
        last.asking = undefined
      })
      await last.asking
    },
    call(key, readOnly, words, abortSignal) {
      for (const node of client.masters) if (node.client) lastError(node.client, true)
      return client.sendCommand(key, readOnly, words, { abortSignal })
    },
    why,
    explain(error) {
      if (kind(error) !== 'connection') return error
      return (/root nodes are unavailable/.test(error?.message) ? last.error : why()) ?? error
    },
    node: (key) => client.slots?.[slot(key)]?.master?.address,
  }
}

/** @param {any} client @param {Last} last @returns {Adapter} */
function ioRedis(client, last) {
  const isReady = () => client.status === 'ready'
  return {
    isReady,
    isClosed: () => client.status === 'end',
    prepare() {
      // A command would connect it as well, but wait in its queue.
      if (client.status === 'wait') client.connect().catch(() => {})
    },
    call: (_key, _readOnly, words) =>
      client.call(...words).catch((/** @type {unknown} */ error) => {
        if (isReadOnly(error) && isReady()) client.disconnect(true)
        throw error
      }),
    why: () => (isReady() ? rejection(last) : last.error),
  }
}

/** @param {any} client @param {Last} last @returns {Adapter} */
function ioRedisCluster(client, last) {
  if (client.options?.retryDelayOnFailover > 0) {
    throw new TypeError(
      'client: a Cluster of ioredis sends a command again whose reply was lost, which charges it twice; ' +
        'create it with retryDelayOnFailover: 0',
    )
  }
  const one = ioRedis(client, last)
  return {
    ...one,
    // It finds the node by the keys of a command, and knows those of Redis' own commands only. Without the keys, it sends
    // the command to any node, which may redirect it.
    call(key, _readOnly, words) {
      const sendCommand = (/** @type {any} */ command, /** @type {any[]} */ ...rest) => {
        command.keys = [key]
        return client.sendCommand(command, ...rest)
      }
      return Object.create(client, { sendCommand: { value: sendCommand } }).call(...words)
    },
    explain: (error) => (kind(error) === 'connection' ? (one.why() ?? error) : error),
    node: (key) => client.slots?.[slot(key)]?.[0],
  }
}

/**
 * Upstash's REST API. It has no module, so what is sent is EVALSHA and EVAL.
 * @type {(client: any) => Send}
 */
function upstash(client) {
  if (client.client?.retry?.attempts !== 0) {
    throw new TypeError(
      'client: @upstash/redis sends a command again whose reply was lost, which charges it twice; ' +
        'create it with retry: { retries: 0 }; retry: false means one more',
    )
  }
  return async (_key, _readOnly, [command, script, count, ...rest]) => {
    if (!command.startsWith('EVAL')) throw new Error(`ERR unknown command '${command}'`)
    try {
      return await client[command.toLowerCase()](script, rest.slice(0, Number(count)), rest.slice(Number(count)))
    } catch (error) {
      const { message = '' } = /** @type {any} */ (error)
      // Its errors have the command, with the caller. That of a connection is a TypeError of fetch.
      throw new Error(message.replace(/^Command (\d+ \[[^\]]*\] )?failed: /, '').replace(/, command was: .*$/s, ''))
    }
  }
}

/**
 * `connected` is called when there is a new connection, if the client tells.
 * @type {(client: any, connected: () => void) => Send}
 */
export function sender(client, connected) {
  if (typeof client === 'function') return async (key, readOnly, words) => client(key, readOnly, words)
  if (typeof client?.evalsha === 'function' && !client.call && !client.sendCommand) return upstash(client)
  const isIoRedis = typeof client?.call === 'function'
  if (!isIoRedis && typeof client?.sendCommand !== 'function') {
    throw new TypeError('client: expected a client of redis, ioredis or @upstash/redis, or a function (key, readOnly, words) => reply')
  }
  const isCluster = isIoRedis ? client.isCluster : Boolean(client.masters)
  const isPool = !isIoRedis && !isCluster && typeof client.execute === 'function'
  const last = lastError(client, isCluster || isPool)
  last.connected.add(connected)
  const adapt = isIoRedis
    ? isCluster ? ioRedisCluster : ioRedis
    : isCluster ? nodeRedisCluster : isPool ? nodeRedisPool : nodeRedis
  const { isReady, isClosed, prepare, call, why, explain, node } = adapt(client, last)

  /** @type {Promise<unknown> | undefined} */
  let waiting
  // A command that waits for a connection inside a client may be sent long after the request that it was for, and charge
  // it.
  const whenConnected = async (/** @type {AbortSignal} */ signal) => {
    await prepare?.()
    if (isReady()) return
    if (last.error) throw last.error
    if (isClosed?.()) return
    // It ends with an error of the connection, too.
    waiting ??= once(client, client.masters ? 'connect' : 'ready').finally(() => (waiting = undefined))
    await waiting
    // The request has its reply by now, and must not be charged.
    signal.throwIfAborted()
  }
  /** @type {SendOnce} */
  const called = async (...words) => {
    try {
      const reply = await call(...words)
      last.error = undefined
      return reply
    } catch (error) {
      throw explain ? explain(error) : error
    }
  }
  // One connection says by its event that it is connected again.
  const sendNow = isCluster || isPool ? called : call
  /** @type {Send} */
  const send = (key, readOnly, words, signal) =>
    isReady()
      ? sendNow(key, readOnly, words, signal)
      : whenConnected(signal).then(() => sendNow(key, readOnly, words, signal))
  send.isCluster = isCluster
  send.why = why
  send.node = node
  return send
}
