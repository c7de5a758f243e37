// One way to send a command with every client.
import { once } from 'node:events'
import { NoReply, isUnavailable } from './errors.js'
import { slot } from './keys.js'

/** Sends a command and resolves with its reply. `key` decides the node of a cluster. */
export type SendCommand = (key: string, readOnly: boolean, words: string[]) => Promise<unknown>
/** A client, pool or cluster of `redis`, or a client or `Cluster` of `ioredis`, which needs `retryDelayOnFailover: 0`. */
export type Client = SendCommand | { sendCommand: Function } | { call: Function }

/** What node-redis asks of an AbortSignal, for a command in its queue. One of Node.js takes a fifth of the time of a command. */
export class Signal {
  aborted = false
  #listener: (() => void) | undefined

  addEventListener(_type: string, listener: () => void): void {
    this.#listener = listener
  }

  removeEventListener(): void {
    this.#listener = undefined
  }

  abort(): void {
    this.aborted = true
    this.#listener?.()
  }

  throwIfAborted(): void {
    if (this.aborted) throw new NoReply('it was given up')
  }
}

type Send = (key: string, readOnly: boolean, words: string[], signal: Signal) => Promise<unknown>

/** What differs between the libraries. */
type Library = {
  send: Send
  /** Whether it is connected, and whether it is closed, which it then says itself. */
  isReady?: () => boolean
  isClosed?: () => boolean
  /** What is done before a command for a client that is not connected. The error that keeps it away, if that is known only now. */
  prepare?: () => unknown
  /** The node of a key, in a cluster. */
  node?: (key: string) => string | undefined
}

/** After a failover the address may lead to another server, but the connection still leads to this one. */
function replaceIfReplica(client: any, error: any): void {
  if (!/^READONLY /.test(error?.message ?? '')) return
  if (client.status === 'ready') client.disconnect(true)
  if (client.isOpen) {
    client.destroy()
    client.connect().catch(() => {}) // it says so by its event
  }
}

/** `timeout: 0`: a command has the time limit of this package. That of node-redis makes another AbortSignal for each. */
function nodeRedis(client: any): Library {
  const isClosed = (): boolean => !client.isOpen
  if (client.masters) {
    return {
      // Version 5 has no `isReady`.
      isReady: () => client.isReady ?? client.masters.length > 0,
      isClosed,
      prepare: () => (client.isOpen ? undefined : whyClosed(client)),
      send: (key, readOnly, words, abortSignal) => client.sendCommand(key, readOnly, words, { abortSignal, timeout: 0 }),
      node: (key) => client.slots?.[slot(key)]?.master?.address,
    }
  }
  if (typeof client.execute !== 'function') {
    return { isReady: () => client.isReady, isClosed, send: (_key, _readOnly, words, abortSignal) => client.sendCommand(words, { abortSignal, timeout: 0 }) }
  }
  // A pool, in which a request waits for a connection, maybe for long.
  const send: Send = (_key, _readOnly, words, abortSignal) =>
    client.execute((one: any) => {
      abortSignal.throwIfAborted()
      if (!one.isReady) throw new Error('the connection is broken')
      return one.sendCommand(words, { abortSignal, timeout: 0 }).catch((error: unknown) => {
        replaceIfReplica(one, error)
        throw error
      })
    })
  return { send }
}

/** A cluster of node-redis does not say why it is closed. A second one tries to connect, to the root nodes only. */
async function whyClosed(client: any): Promise<unknown> {
  const other = client.duplicate({ minimizeConnections: true })
  let said: unknown
  other.on('error', (error: unknown) => (said ??= error))
  try {
    await other.connect()
    other.destroy()
    return new Error('the cluster is closed')
  } catch (error) {
    return said ?? error
  }
}

function ioRedis(client: any): Library {
  const library = {
    isReady: () => client.status === 'ready',
    isClosed: () => client.status === 'end',
    prepare() {
      // A command would connect it as well, but wait in its queue.
      if (client.status === 'wait') client.connect().catch(() => {})
    },
  }
  if (!client.isCluster) {
    return { ...library, send: (_key, _readOnly, words) => client.call(...words) }
  }
  if (client.options?.retryDelayOnFailover > 0) {
    throw new TypeError(
      'client: a Cluster of ioredis sends a command again whose reply was lost, which charges it twice; ' +
        'create it with retryDelayOnFailover: 0',
    )
  }
  // It finds the node by the keys of a command, and knows those of Redis' own commands only. Without the keys, it sends
  // the command to any node, which may redirect it.
  const send: Send = (key, _readOnly, words) => {
    const sendCommand = (command: any, ...rest: unknown[]): unknown => client.sendCommand(Object.assign(command, { keys: [key] }), ...rest)
    return Object.create(client, { sendCommand: { value: sendCommand } }).call(...words)
  }
  return { ...library, send, node: (key) => client.slots?.[slot(key)]?.[0] }
}

export class Connection {
  /** Called when there is a new connection, if the client tells. */
  connected: Set<() => void> = new Set()
  #client: any
  #library: Library
  #readyEvent: string
  /** A cluster or a pool. */
  #isMany: boolean
  /** What the client last said about its connections, if it has not been connected since. */
  #error: unknown
  #connecting: Promise<void> | undefined

  constructor(client: any, library: Library) {
    this.#client = client
    this.#library = library
    this.#isMany = Boolean(client.isCluster || client.masters || client.execute)
    const failed = (error: unknown): void => {
      // One node may reject the password while another one is away.
      if (!this.#isMany || !this.#rejection()) this.#error = error ?? new Error('the connection failed')
    }
    // A client that is not listened to ends the process at its first error. A cluster says by an event of its own what
    // one of its nodes says. That of node-redis has no `ready`.
    for (const event of ['error', 'node error', 'node-error']) client.on?.(event, failed)
    this.#readyEvent = client.masters ? 'connect' : 'ready'
    client.on?.(this.#readyEvent, () => {
      this.#error = undefined
      for (const tell of this.connected) tell()
    })
  }

  /** The last error, if the server rejects the client. */
  #rejection(): unknown {
    return this.#error && !isUnavailable(this.#error) ? this.#error : undefined
  }

  /** What keeps a reply away, if that is known. */
  why(): unknown {
    return this.#library.isReady?.() ? this.#rejection() : this.#error
  }

  /** The node of a key. Empty if it is not known. */
  node(key: string): string {
    return this.#library.node?.(key) ?? ''
  }

  send(...call: Parameters<Send>): Promise<unknown> {
    const { isReady, send } = this.#library
    return isReady?.() === false ? this.#whenConnected(call[3]).then(() => send(...call)) : send(...call)
  }

  /** There is a reply, so the server does not reject the client. */
  replied(): void {
    this.#error = undefined
  }

  failed(error: unknown): void {
    if (!this.#isMany) replaceIfReplica(this.#client, error)
  }

  /** A command that waits for a connection inside a client may be sent long after the request that it was for, and charge it. */
  async #whenConnected(signal: Signal): Promise<void> {
    await (this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined)))
    signal.throwIfAborted()
  }

  async #connect(): Promise<void> {
    const { prepare, isReady, isClosed } = this.#library
    if (!this.#error) {
      const found = await prepare?.()
      this.#error ??= found
    }
    if (isReady?.()) return
    if (this.#error) throw this.#error
    // It ends with an error of the connection, too.
    if (!isClosed?.()) await once(this.#client, this.#readyEvent)
  }
}

/** One pair of listeners for each client, however many limiters have it. */
const connections = new WeakMap<object, Connection>()

export function connectionOf(client: any): Connection {
  let found = connections.get(client)
  if (!found) {
    const library =
      typeof client === 'function' ? { send: async (key: string, readOnly: boolean, words: string[]) => client(key, readOnly, words) }
      : typeof client?.call === 'function' ? ioRedis(client)
      : typeof client?.sendCommand === 'function' ? nodeRedis(client)
      : undefined
    if (!library) {
      throw new TypeError('client: expected a client of redis or ioredis, or a function (key, readOnly, words) => reply')
    }
    connections.set(client, (found = new Connection(client, library)))
  }
  return found
}
