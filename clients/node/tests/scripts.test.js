// Servers without the module: the Lua scripts decide.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { Redis as Upstash } from '@upstash/redis'
import { Limiter, RedisRlStore } from '../dist/index.js'
import { SINGLES, close, connected } from './connections.js'
import { servers, startServer } from './servers.js'

const NO_MODULE = /no module: the Lua scripts decide, .*: docs\/hosted\.md$/
const DAY = 86_400_000

let server
const logged = []
const logger = { warn: (line) => logged.push(line), error: (line) => logged.push(line) }
before(async () => {
  server = await startServer(servers.at(-1), '--enable-module-command', 'local', { module: false })
})
after(() => server.stop())

let prefixes = 0
function storeOf(client, options) {
  const store = new RedisRlStore({ client, timeout: 10_000, prefix: `${(prefixes += 1)}:`, ...options })
  store.init({ windowMs: DAY, limit: 3, logger })
  return store
}

/** Upstash's REST API in front of a server: a command or a pipeline, and texts in base64 if the client wants that. */
async function startBridge(client) {
  const sent = []
  const bridge = createServer(async (request, response) => {
    const words = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const isPipeline = request.url === '/pipeline'
    const encoded = (reply) => {
      if (Array.isArray(reply)) return reply.map(encoded)
      return typeof reply === 'string' && request.headers['upstash-encoding'] ? Buffer.from(reply).toString('base64') : reply
    }
    const all = await Promise.all(
      (isPipeline ? words : [words]).map(async ([command, ...rest]) => {
        sent.push(command.toUpperCase())
        return client.call(command, ...rest).then(
          (result) => ({ result: encoded(result) }),
          ({ message }) => ({ error: message }),
        )
      }),
    )
    response.writeHead(isPipeline || !all[0].error ? 200 : 400).end(JSON.stringify(isPipeline ? all : all[0]))
  })
  bridge.listen(0, '127.0.0.1')
  await once(bridge, 'listening')
  const stop = () => bridge.close() && bridge.closeAllConnections()
  return { url: `http://127.0.0.1:${bridge.address().port}`, sent, stop }
}

/** Three requests are allowed, one is given back, and the counts are those of the module. */
async function decides(client) {
  for (const algorithm of ['FIXED', 'WINDOW', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'GCRA']) {
    const store = storeOf(client, { algorithm })
    for (const hits of [1, 2, 3, 4]) assert.equal((await store.increment('k')).totalHits, hits, algorithm)
    assert.equal((await store.get('k')).totalHits, algorithm === 'FIXED' ? 4 : 3)
    await store.decrement('other')
    await store.resetKey('k')
    assert.equal(await store.get('k'), undefined)
    assert.deepEqual(store.counters, { ...store.counters, allowed: 3, denied: 1, faults: 0, errors: {} })
  }
  const limiter = new Limiter({ client, timeout: 10_000, logger, prefix: `{r${(prefixes += 1)}}` })
  const limits = [['FIXED 1d 9', 'a'], ['COUNTER 1d 9', 'b', { cost: 5 }], ['LEASE 1h 1', 'c', { id: 'x' }]]
  assert.equal((await limiter.checkAll(limits)).allowed, true)
  assert.equal((await limiter.checkAll(limits)).allowed, false)
  await limiter.settle('COUNTER 1d 9', 'b', { reserved: 5, actual: 2 })
  assert.deepEqual((await limiter.checkAll(limits)).limits.map(({ count }) => count), [2, 2, 0])
}

for (const name of ['redis 6', 'ioredis 6']) {
  test(`${name}: the scripts decide, and one line says so`, async () => {
    const client = await connected(SINGLES[name](server.port))
    try {
      await decides(client)
    } finally {
      close(client)
    }
    for (const line of logged.splice(0)) assert.match(line, NO_MODULE)
  })
}

test('@upstash/redis: the scripts decide, and a caller is in no error', async () => {
  const bridge = await startBridge(server.client)
  const options = { url: bridge.url, token: 'secret', enableTelemetry: false, retry: { retries: 0 } }
  try {
    for (const enableAutoPipelining of [false, true]) {
      await server.client.call('SCRIPT', 'FLUSH')
      await decides(new Upstash({ ...options, enableAutoPipelining }))
      logged.splice(0)
      await server.client.call('SET', `${prefixes + 1}:{192.0.2.1}`, 'x')
      const store = storeOf(new Upstash({ ...options, enableAutoPipelining }), { algorithm: 'TOKEN' })
      await assert.rejects(store.increment('192.0.2.1'), { status: 500 })
      assert.doesNotMatch(logged.splice(0).join(), /192\.0/)
    }
    assert.deepEqual(new Set(bridge.sent), new Set(['EVALSHA', 'EVAL']))
    // With retry: false it sends a command twice.
    for (const retry of [undefined, false]) {
      assert.throws(() => storeOf(new Upstash({ ...options, retry })), /^TypeError: client: .* retry: \{ retries: 0 \}/)
    }
  } finally {
    bridge.stop()
  }
  const away = storeOf(new Upstash(options), { algorithm: 'TOKEN', unavailable: 'allow' })
  assert.equal((await away.increment('k')).totalHits, 1)
  assert.equal(away.counters.failedOpen, 1)
  logged.splice(0)
})

test('the module is required', async () => {
  const client = await connected(SINGLES['ioredis 6'](server.port))
  const store = storeOf(client, { module: 'required', unavailable: 'allow' })
  await assert.rejects(store.increment('192.0.2.1'), (error) => error.status === 500 && !error.message.includes('192.0'))
  assert.deepEqual(store.counters.errors, { ERR: 1 })
  const said = logged.splice(0).join()
  assert.match(said, /NoModule: ERR no module: the server has not loaded redis-rl; start it with --loadmodule/)
  assert.doesNotMatch(said, /192\.0/) // what the server repeats of the command has the caller
  assert.throws(() => storeOf(client, { module: 'no' }), /^TypeError: module: expected 'required'/)
  close(client)
})
