// Starts servers with the module on free ports of the loopback address.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { SINGLES, close, connected } from './connections.js'

const { RL_MODULE: module, SERVERS = '', MODULE } = process.env
/** MODULE=none: the servers have no module, and the Lua scripts decide. */
export const withoutModule = MODULE === 'none'
export const servers = SERVERS.split(/[ :]/).filter(Boolean)
if (!module || servers.length === 0) throw new Error('no RL_MODULE or SERVERS: run scripts/test-adapters node')
/** The server that most tests start. */
export const path = servers.at(-1)

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Retries until `check` resolves with something true. */
export async function waitFor(what, check) {
  for (let i = 0; i < 500; i++) {
    const found = await Promise.resolve(check()).catch(() => false)
    if (found) return found
    await sleep(20)
  }
  throw new Error(`waited for ${what} in vain`)
}

/** What the limiters of a test log. */
export const logged = []
export const logger = { warn: (line) => logged.push(line), error: (line) => logged.push(line) }

let prefixes = 0
export const nextPrefix = () => `${(prefixes += 1)}:`

/** The tests of `work`, on a server with the module and on one without, where the Lua scripts decide. */
export function onBoth(work) {
  for (const module of [true, false]) {
    describe(module ? 'with the module' : 'with the Lua scripts', () => {
      const at = { module }
      before(async () => {
        at.server = await startServer(path, { module })
        at.client = await connected(SINGLES['redis 6'](at.server.port))
      })
      after(async () => {
        close(at.client)
        await at.server.stop()
      })
      work(at)
    })
  }
}

export async function startServer(path, ...options) {
  const own = typeof options.at(-1) === 'object' ? options.pop() : { module: !withoutModule }
  const loaded = own.module ? ['--loadmodule', module] : []
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'rl-node-'))
  const always = ['--bind', '127.0.0.1', '--save', '', '--enable-module-command', 'local']
  const words = ['--port', port, '--dir', dir, ...always, ...loaded, ...options]
  let child, ended, exited
  let log = ''
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: null, protocol: 2 })
  client.on('error', () => {})
  const kill = async () => {
    client.disconnect()
    child.kill('SIGKILL')
    await exited
  }
  const stop = async () => {
    await kill()
    rmSync(dir, { recursive: true, force: true })
  }
  const restart = async () => {
    // The server ends when this process does, whatever ends it.
    child = spawn('setpriv', ['--pdeathsig', 'KILL', path, ...words.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    ended = false
    exited = once(child, 'exit').finally(() => (ended = true))
    child.stdout.on('data', (data) => (log += data))
    await waitFor(`${path} to start`, async () => {
      if (ended) return true
      if (client.status !== 'ready') await client.connect()
      return (await client.ping()) === 'PONG'
    })
    if (ended) throw new Error(`${path} ended:\n${log}`)
  }
  try {
    await restart()
  } catch (error) {
    await stop()
    throw error
  }
  const pause = () => child.kill('SIGSTOP')
  const resume = () => child.kill('SIGCONT')
  return { port, client, kill, restart, stop, pause, resume }
}

/** Three masters without replicas. */
export async function startCluster(path) {
  const nodes = []
  const stop = () => Promise.all(nodes.map((node) => node.stop()))
  try {
    while (nodes.length < 3) {
      nodes.push(await startServer(path, '--cluster-enabled', 'yes', '--cluster-port', await freePort()))
    }
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
    await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'])
    for (const { client } of nodes) {
      await waitFor('the cluster', async () => (await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok'))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, stop }
}
