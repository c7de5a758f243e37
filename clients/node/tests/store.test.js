import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import * as ioredis from 'ioredis'
import * as ioredis5 from 'ioredis5'
import * as redis from 'redis'
import * as redis5 from 'redis5'
import supertest from 'supertest'
import { RedisRlStore, perRequest } from '../index.js'
import { slot } from '../keys.js'
import { addReplica, servers, startCluster, startForwarder, startServer, waitFor } from './servers.js'

// Long enough that no window ends during a test.
const DAY = 86_400_000

const ALGORITHMS = ['FIXED', 'WINDOW', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'LEAKY', 'GCRA']

async function connectNodeRedis({ createClient }, port, options) {
  const client = createClient({ socket: { host: '127.0.0.1', port }, ...options })
  await client.connect()
  return { client, close: () => client.destroy() }
}

function connectIoRedis({ Redis }, port, options) {
  const client = new Redis(port, '127.0.0.1', options)
  return { client, close: () => client.disconnect() }
}

// redis 6 and ioredis 6 speak RESP3 if not told otherwise, the older ones RESP2.
const CLIENTS = {
  'redis 6': (port) => connectNodeRedis(redis, port),
  'redis 6, maps as Map': (port) => connectNodeRedis(redis, port, { commandOptions: { typeMapping: { 37: Map } } }),
  'redis 6, a pool': async (port) => {
    const client = redis.createClientPool({ socket: { host: '127.0.0.1', port } })
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  'redis 5': (port) => connectNodeRedis(redis5, port),
  'redis 5, RESP3': (port) => connectNodeRedis(redis5, port, { RESP: 3 }),
  'ioredis 6': (port) => connectIoRedis(ioredis, port),
  'ioredis 6, RESP3 replies': (port) => connectIoRedis(ioredis, port, { protocol: 3, replyMapping: 'resp3' }),
  'ioredis 5': (port) => connectIoRedis(ioredis5, port),
}

const CLUSTER_CLIENTS = {
  'redis 6': async (ports) => {
    const client = redis.createCluster({ rootNodes: ports.map((port) => ({ socket: { host: '127.0.0.1', port } })) })
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  'redis 5': async (ports) => {
    const client = redis5.createCluster({ rootNodes: ports.map((port) => ({ socket: { host: '127.0.0.1', port } })) })
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  'ioredis 6': (ports) => ioCluster(ioredis, ports),
  'ioredis 5': (ports) => ioCluster(ioredis5, ports),
}

async function ioCluster({ Cluster }, ports) {
  const client = new Cluster(ports.map((port) => ({ host: '127.0.0.1', port })), { retryDelayOnFailover: 0 })
  await once(client, 'ready')
  return { client, close: () => client.disconnect() }
}

let prefixes = 0
const open = []
const logged = []

/** An application with one limiter, by user. Its route replies the status that the request names. */
async function application(client, { wrap = false, ...given }) {
  // The default is too short for a machine with other work, where it is not what is tested.
  const { algorithm, burst, timeout = 10_000, failOpen, secret, onError, ...options } = given
  const own = { algorithm, burst, timeout, failOpen, secret, onError }
  const store = new RedisRlStore({ client, ...own, prefix: `test:${prefixes++}:` })
  const logger = { error: (error) => logged.push(error), warn: (warning) => logged.push(warning) }
  const all = { windowMs: DAY, limit: 3, standardHeaders: true, logger, store, ...options }
  all.keyGenerator ??= (request) => request.get('x-user') ?? 'anybody'
  const limiter = wrap ? perRequest(rateLimit, all) : rateLimit(all)
  const app = express()
  app.use(limiter)
  let release
  const gate = new Promise((resolve) => (release = resolve))
  app.get('/', async ({ query }, response) => {
    if (query.wait) await gate
    response.status(Number(query.status)).end()
  })
  app.use((error, _request, response, _next) => response.status(error.status ?? 500).json(error.message))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  // Not a supertest request, which is sent when it is awaited.
  const get = async (headers = {}, status = 200, query = {}) =>
    supertest(server).get('/').query({ status, ...query }).set(headers)
  return { get, limiter, store, release }
}

async function statuses(get, n, ...args) {
  const found = []
  for (let i = 0; i < n; i++) found.push((await get(...args)).status)
  return found
}

/** Not before the module's time, which is asked for later, and at most ten seconds after. */
function assertSeconds(text, ms, what) {
  assert.match(text, /^\d+$/, what)
  const late = Number(text) * 1000 - ms
  assert.ok(late >= 0 && late < 10_000, `${what}: ${text} s, but the module says ${ms} ms`)
}

async function peek(client, { prefix }, algorithm, limit, ...options) {
  const words = ['RL.PEEK', algorithm, `${prefix}anybody`, `${DAY}ms`, String(limit), ...options, 'FULL']
  const reply = await client.call(...words)
  return Object.fromEntries(reply.flatMap((word, i) => (i % 2 ? [] : [[word, reply[i + 1]]])))
}

/** Whether each of the users is decided by a server: without one, the request is an error. */
async function allDecided(get, users) {
  const found = await Promise.all(users.map((user) => get({ 'x-user': user })))
  return found.every(({ status }) => status === 200)
}

const isMaster = async ({ client }) => /role:master/.test(await client.info('replication'))

after(() => {
  for (const server of open) server.close()
  assert.deepEqual(logged, [], 'what express-rate-limit logged')
})

for (const path of servers) {
  describe(path.split('/').at(-2), () => {
    let server, raw, client
    const connections = []

    before(async () => {
      server = await startServer(path)
      raw = server.client
      const connection = await connectNodeRedis(redis, server.port)
      connections.push(connection)
      client = connection.client
    })
    after(async () => {
      for (const { close } of connections) close()
      await server?.stop()
    })

    for (const [name, connect] of Object.entries(CLIENTS)) {
      test(`${name}: three pass, the fourth gets 429; reset, get, refund`, async () => {
        const connection = await connect(server.port)
        connections.push(connection)
        const { get, limiter } = await application(connection.client, { algorithm: 'TOKEN', skipFailedRequests: true })
        assert.equal(await limiter.getKey('anybody'), undefined)
        assert.deepEqual(await statuses(get, 2, {}, 500), [500, 500])
        assert.deepEqual(await statuses(get, 4), [200, 200, 200, 429])
        assert.equal((await limiter.getKey('anybody')).totalHits, 3)
        await limiter.resetKey('anybody')
        assert.equal(await limiter.getKey('anybody'), undefined)
        assert.deepEqual(await statuses(get, 4), [200, 200, 200, 429])
      })
    }

    for (const algorithm of ALGORITHMS.filter((algorithm) => algorithm !== 'LEAKY')) {
      test(`${algorithm}: totalHits and resetTime are those of the module`, async () => {
        const { get, limiter, store } = await application(client, { algorithm })
        for (const remaining of [2, 1, 0]) {
          const { status, headers } = await get()
          const { next_ms } = await peek(raw, store, algorithm, 3, 'COST', '0')
          assert.equal(status, 200)
          assert.equal(headers['ratelimit-policy'], '3;w=86400')
          assert.equal(headers['ratelimit-limit'], '3')
          assert.equal(headers['ratelimit-remaining'], String(remaining))
          assert.equal(headers['retry-after'], undefined)
          assertSeconds(headers['ratelimit-reset'], next_ms, 'RateLimit-Reset')
          const { totalHits, resetTime } = await limiter.getKey('anybody')
          assert.equal(totalHits, 3 - remaining)
          assert.ok(Math.abs(resetTime - Date.now() - next_ms) < 10_000)
        }
        for (let i = 0; i < 2; i++) {
          const { status, headers } = await get()
          const { retry_after_ms } = await peek(raw, store, algorithm, 3)
          assert.equal(status, 429)
          assert.equal(headers['ratelimit-limit'], '3')
          assert.equal(headers['ratelimit-remaining'], '0')
          assertSeconds(headers['retry-after'], retry_after_ms, 'Retry-After')
          assert.equal(headers['ratelimit-reset'], headers['retry-after'])
        }
        // Another user has a limit of its own.
        assert.equal((await get({ 'x-user': 'other' })).status, 200)
      })
    }

    test('what each algorithm says after how long to retry', async () => {
      const retryAfter = {}
      for (const algorithm of ['TOKEN', 'GCRA', 'SLIDING', 'ROLLING']) {
        const { get } = await application(client, { algorithm })
        await statuses(get, 3)
        retryAfter[algorithm] = Number((await get()).headers['retry-after'])
      }
      const near = (found, expected) => assert.ok(found <= expected && found > expected - 30, `${found}, ${expected}`)
      near(retryAfter.TOKEN, 28800)
      near(retryAfter.GCRA, 28800)
      near(retryAfter.SLIDING, 86400)
      near(retryAfter.ROLLING, 86422) // a moment is 1/4096 of the window
    })

    test('a client that waits for Retry-After is allowed', async () => {
      const { get } = await application(client, { algorithm: 'TOKEN', limit: 2, windowMs: 2000 })
      let denied
      do denied = await get()
      while (denied.status === 200)
      assert.equal(denied.status, 429)
      assert.equal(denied.headers['retry-after'], '1')
      await sleep(1000)
      assert.equal((await get()).status, 200)
    })

    test('LEAKY delays requests, and denies when the queue is full', async () => {
      const { get } = await application(client, { algorithm: 'LEAKY', limit: 3, windowMs: 900 })
      const start = Date.now()
      const times = []
      const found = await Promise.all(
        Array.from({ length: 4 }, () => get().then(({ status }) => (times.push(Date.now() - start), status))),
      )
      assert.deepEqual(found.sort(), [200, 200, 200, 429])
      assert.ok(times.at(-1) >= 590, `the last request was held for ${times.at(-1)} ms, not 600`)
    })

    test('the headers of drafts 7 and 8 and the old ones', async () => {
      const seven = await application(client, { algorithm: 'ROLLING', standardHeaders: 'draft-7' })
      assert.match((await seven.get()).headers.ratelimit, /^limit=3, remaining=2, reset=86[34]\d\d$/)
      assert.equal((await seven.get()).headers['ratelimit-policy'], '3;w=86400')

      const eight = await application(client, { algorithm: 'TOKEN', standardHeaders: 'draft-8', identifier: 'login' })
      const { headers } = await eight.get()
      // As the module's own headers.
      const words = ['TOKEN', `${eight.store.prefix}anybody`, '1d', 3, 'COST', 0, 'AS', 'login', 'HEADERS']
      const own = (await raw.call('RL.PEEK', ...words)).at(-1)
      const seconds = (text) => Number(/^"login"; ?r=2; ?t=(\d+)$/.exec(text)[1])
      const [found, expected] = [headers.ratelimit, own[own.indexOf('RateLimit') + 1]].map(seconds)
      assert.ok(found - expected >= 0 && found - expected < 10, `t=${found}, the module says t=${expected}`)
      assert.match(headers['ratelimit-policy'], /^"login"; q=3; w=86400; pk=:.+:$/)
      assert.equal(headers['x-ratelimit-limit'], '3')
      assert.equal(headers['x-ratelimit-remaining'], '2')
      const reset = Number(headers['x-ratelimit-reset']) - Date.now() / 1000
      assert.ok(reset > 28790 && reset <= 28801, `${reset}`)
    })

    test('BURST is how much may pass at once', async () => {
      const low = await application(client, { algorithm: 'TOKEN', limit: 60, burst: 2 })
      const replies = [await low.get(), await low.get(), await low.get()]
      assert.deepEqual(replies.map(({ status }) => status), [200, 200, 429])
      assert.deepEqual(replies.map(({ headers }) => headers['ratelimit-remaining']), ['1', '0', '0'])
      assertSeconds(replies[2].headers['retry-after'], 1440_000 - 500, 'Retry-After')

      const high = await application(client, { algorithm: 'GCRA', limit: 2, burst: 4 })
      const found = []
      for (let i = 0; i < 5; i++) found.push(await high.get())
      assert.deepEqual(found.map(({ status }) => status), [200, 200, 200, 200, 429])
      // express-rate-limit takes at least one hit.
      assert.deepEqual(found.map(({ headers }) => headers['ratelimit-remaining']), ['1', '1', '1', '0', '0'])
    })

    const plan = async (request) => {
      await sleep(Number(request.get('x-slow') ?? 0))
      return Number(request.get('x-limit'))
    }

    for (const algorithm of ['FIXED', 'TOKEN', 'ROLLING', 'COUNTER']) {
      test(`${algorithm}: a limit that is a function of the request`, async () => {
        let calls = 0
        const limit = (request) => (calls++, plan(request))
        const { get } = await application(client, { algorithm, limit, wrap: true, skipFailedRequests: true })
        const two = { 'x-user': 'anybody', 'x-limit': '2' }
        const four = { 'x-user': 'anybody', 'x-limit': '4' }
        assert.deepEqual(await statuses(get, 3, two), [200, 200, 429])
        const raised = await get(four)
        assert.equal(raised.status, 200)
        assert.equal(raised.headers['ratelimit-limit'], '4')
        assert.equal(raised.headers['ratelimit-remaining'], '1')
        assert.equal((await get(two)).status, 429)
        // A failed request is given back under its own limit.
        assert.equal((await get(four, 500)).status, 500)
        assert.deepEqual(await statuses(get, 2, four), [200, 429])
        assert.equal(calls, 8, 'one call a request')
      })
    }

    test('requests at the same time have each their own limit', async () => {
      const { get } = await application(client, { algorithm: 'TOKEN', limit: plan, wrap: true })
      const sent = Array.from({ length: 20 }, (_, i) => {
        const limit = i % 2 ? '0' : '20'
        return get({ 'x-limit': limit, 'x-slow': String((i * 7) % 20) }).then((response) => [limit, response])
      })
      for (const [limit, { status, headers }] of await Promise.all(sent)) {
        assert.equal(headers['ratelimit-limit'], limit)
        assert.equal(status, limit === '0' ? 429 : 200)
      }
    })

    test('without perRequest, FIXED counts under any limit, and the others say what to do', async () => {
      const fixed = await application(client, { algorithm: 'FIXED', limit: plan, skipFailedRequests: true })
      assert.deepEqual(await statuses(fixed.get, 3, { 'x-limit': '2' }), [200, 200, 429])
      assert.deepEqual(await statuses(fixed.get, 2, { 'x-limit': '3' }), [200, 429])

      const token = await application(client, { algorithm: 'TOKEN', limit: plan })
      const { status, body } = await token.get({ 'x-limit': '2' })
      assert.equal(status, 500)
      assert.match(body, /perRequest/)
    })

    for (const algorithm of ['FIXED', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'GCRA']) {
      test(`${algorithm}: requests that are skipped are given back, denied ones not`, async () => {
        const failed = await application(client, { algorithm, skipFailedRequests: true })
        assert.deepEqual(await statuses(failed.get, 5, {}, 503), [503, 503, 503, 503, 503])
        assert.deepEqual(await statuses(failed.get, 6), [200, 200, 200, 429, 429, 429])

        const succeeded = await application(client, { algorithm, skipSuccessfulRequests: true })
        assert.deepEqual(await statuses(succeeded.get, 5), [200, 200, 200, 200, 200])
        assert.deepEqual(await statuses(succeeded.get, 4, {}, 401), [401, 401, 401, 429])
      })
    }

    test('what is given back is the request that failed, not a later one', async () => {
      const options = { algorithm: 'ROLLING', windowMs: 60_000, skipFailedRequests: true }
      const { get, limiter, release } = await application(client, options)
      const hits = (n) => async () => (await limiter.getKey('anybody'))?.totalHits === n
      const slow = get({}, 500, { wait: 'yes' })
      await waitFor('the charge', hits(1))
      await sleep(50) // a moment is 15 ms
      const sent = Date.now()
      assert.equal((await get()).status, 200)
      release()
      assert.equal((await slow).status, 500)
      await waitFor('the refund', hits(1))
      const { resetTime } = await limiter.getKey('anybody')
      assert.ok(resetTime - sent >= 60_000, `the later request is gone in ${resetTime - sent} ms`)
    })

    test('a call that is rejected is never allowed', async () => {
      for (const [options, status] of [[{}, 500], [{ failOpen: true }, 500], [{ passOnStoreError: true }, 429]]) {
        const { get, store } = await application(client, { algorithm: 'TOKEN', ...options })
        await raw.call('RPUSH', `${store.prefix}anybody`, 'foreign')
        assert.deepEqual(await statuses(get, 3), [status, status, status])
        const { faults, errors, failedOpen } = store.counters
        assert.deepEqual({ faults, errors, failedOpen }, { faults: 3, errors: { WRONGTYPE: 3 }, failedOpen: 0 })
        // One line for all three.
        const lines = String(logged.splice(0)).match(/the call was rejected, a fault of the .*WRONGTYPE/g)
        assert.equal(lines.length, 1)
      }
    })

    test('a refund that is rejected is counted, and no error', async () => {
      const outcomes = []
      const onError = (error, outcome) => outcomes.push(`${outcome} ${error.message.split(' ')[0]}`)
      const { get, store } = await application(client, { algorithm: 'TOKEN', skipFailedRequests: true, onError })
      await raw.call('ACL', 'SETUSER', 'default', '-rl.refund')
      try {
        assert.equal((await get({}, 404)).status, 404)
        await store.decrement('anybody')
      } finally {
        await raw.call('ACL', 'SETUSER', 'default', '+rl.refund')
      }
      assert.deepEqual([store.counters.unrefunded, store.counters.faults], [2, 2])
      assert.deepEqual(outcomes, Array(2).fill('unrefunded NOPERM'))
      assert.match(String(logged.splice(0)), /not given back: \w*Error: NOPERM/)
    })

    test('a key that is no text and no number is never allowed', async () => {
      for (const key of [undefined, null, NaN, {}]) {
        const options = { algorithm: 'TOKEN', failOpen: true, keyGenerator: () => key }
        const { get, store } = await application(client, options)
        assert.equal((await get()).status, 500)
        assert.deepEqual(await raw.call('KEYS', `${store.prefix}*`), [])
        assert.match(String(logged.splice(0)), /keyGenerator: expected a string or a finite number/)
      }
      const { get, store } = await application(client, { algorithm: 'TOKEN', keyGenerator: () => 7 })
      assert.equal((await get()).status, 200)
      assert.deepEqual(await raw.call('KEYS', `${store.prefix}*`), [`${store.prefix}7`])
    })

    test('a user whom the server rejects is never allowed', async () => {
      const socket = { host: '127.0.0.1', port: server.port }
      const wrong = { username: 'nobody', password: 'wrong' }
      const retryStrategy = () => null
      for (const [name, create] of Object.entries({
        redis: () => redis.createClient({ socket, ...wrong }),
        'redis, no reconnection': () =>
          redis.createClient({ socket: { ...socket, reconnectStrategy: false }, ...wrong }),
        'redis, a pool': () => redis.createClientPool({ socket, ...wrong }),
        ioredis: () => new ioredis.Redis({ ...socket, ...wrong }),
        'ioredis, no reconnection': () => new ioredis.Redis({ ...socket, ...wrong, retryStrategy }),
      })) {
        const connection = create()
        const { get, store } = await application(connection, { failOpen: true, timeout: 400 })
        connection.connect().catch(() => {}) // one of ioredis connects by itself
        try {
          assert.deepEqual(await statuses(get, 3), [500, 500, 500], name)
          assert.deepEqual(store.counters.errors, { WRONGPASS: 3 }, name)
        } finally {
          if (name.startsWith('ioredis')) connection.disconnect()
          else if (connection.isOpen) connection.destroy()
        }
        assert.match(String(logged.splice(0)), /a fault of the configuration: \w*Error: WRONGPASS/)
      }
    })

    test('a limit function that fails is never allowed', async () => {
      const limit = () => {
        throw new Error('no such customer')
      }
      const { get, store } = await application(client, { algorithm: 'TOKEN', limit, wrap: true, failOpen: true })
      assert.deepEqual(await statuses(get, 1), [500])
      assert.equal(store.counters.faults, 1)
      assert.match(String(logged.splice(0)), /no such customer/)
    })

    test('a server that does not reply: 503, or open', async () => {
      const own = await startServer(path)
      const connections = [await CLIENTS['redis 6'](own.port), await CLIENTS['ioredis 6'](own.port)]
      try {
        for (const [at, options, status] of [
          [0, {}, 503],
          [1, {}, 503],
          [0, { failOpen: true }, 200],
          [0, { passOnStoreError: true }, 200],
        ]) {
          const seen = []
          const onError = (error, outcome) => seen.push(`${outcome} ${error.name}`)
          const all = { algorithm: 'TOKEN', limit: 100, timeout: 100, onError, ...options }
          const { get, store } = await application(connections[at].client, all)
          assert.equal((await get()).status, 200)
          own.pause()
          try {
            const begin = Date.now()
            assert.deepEqual(await statuses(get, 8), Array(8).fill(status))
            // The last ones were not sent.
            assert.ok(Date.now() - begin < 700)
          } finally {
            own.resume()
          }
          const { timeout } = store.counters.errors
          assert.ok(timeout >= 2 && timeout <= 4, `${timeout} requests before the silence was long enough`)
          assert.deepEqual(store.counters.errors, { timeout, 'circuit open': 8 - timeout })
          const outcome = status === 503 ? 'failedClosed' : 'failedOpen'
          assert.equal(store.counters[outcome], 8)
          const errors = [...Array(timeout).fill('NoReply'), ...Array(8 - timeout).fill('CircuitOpen')]
          assert.deepEqual(seen, errors.map((name) => `${outcome} ${name}`))
          assert.match(String(logged.splice(0)), /no reply within 100 ms/)
          await sleep(100) // for the replies to the probes
          assert.equal((await get()).status, 200)
          assert.equal(store.counters.allowed, 2)
        }
      } finally {
        for (const { close } of connections) close()
        await own.stop()
      }
    })

    test('a server that replies to PING only: one request at a time tries', async () => {
      // The PING goes over a connection on which nothing waits.
      const pool = await CLIENTS['redis 6, a pool'](server.port)
      connections.push(pool)
      const { get, store } = await application(pool.client, { algorithm: 'TOKEN', limit: 1000, timeout: 100 })
      assert.equal((await get()).status, 200)
      await raw.call('CLIENT', 'PAUSE', 60_000, 'WRITE')
      const { errors } = store.counters
      try {
        // It opens after 250 ms and after 500 ms. Then one of two requests is sent, and none of the next two.
        const sent = async () => {
          const before = errors.timeout ?? 0
          await Promise.all([get(), get()])
          return (errors.timeout ?? 0) - before
        }
        await waitFor('one that tries', async () => (await sent()) === 1 && (await sent()) === 0)
        assert.ok(errors.timeout >= 5 && errors.timeout <= 12, `${errors.timeout} were sent`)
      } finally {
        await raw.call('CLIENT', 'UNPAUSE')
      }
      await sleep(50) // for the reply to the one that tried, which nobody waits for
      assert.equal((await get()).status, 200)
      logged.splice(0)
    })

    test('a reply that is there is used, however late this process is', async () => {
      const store = new RedisRlStore({ client, algorithm: 'TOKEN', timeout: 300, prefix: 'late:' })
      store.init({ windowMs: DAY, limit: 3 })
      for (let i = 0; i < 2; i++) {
        await raw.call('CLIENT', 'PAUSE', 100, 'WRITE')
        const deciding = store.increment('anybody')
        await sleep(20) // the command is written
        await new Promise(setImmediate) // the timers come next, before anything is read
        const end = performance.now() + 500
        while (performance.now() < end); // the process does other work
        assert.equal((await deciding).totalHits, i + 1)
      }
      assert.deepEqual(store.counters.errors, {})
    })

    test('a request that had no connection is not charged later', async () => {
      for (const connect of [CLIENTS['redis 6'], CLIENTS['redis 6, a pool'], CLIENTS['ioredis 6']]) {
        const own = await startServer(path)
        const connection = await connect(own.port)
        try {
          const options = { algorithm: 'ROLLING', limit: 100, failOpen: true, timeout: 250 }
          const { get, store } = await application(connection.client, options)
          assert.equal((await get()).status, 200)
          await own.kill()
          assert.deepEqual(await statuses(get, 4), [200, 200, 200, 200])
          await own.restart()
          await waitFor('a decision', async () => (await get()).status === 200 && store.counters.allowed > 1)
          await sleep(100)
          const { count } = await peek(own.client, store, 'ROLLING', 100, 'COST', '0')
          assert.equal(count, store.counters.allowed - 1, 'what was charged')
          logged.splice(0)
        } finally {
          connection.close()
          await own.stop()
        }
      }
    })

    test('a request that was to connect its client is not charged later', async () => {
      const own = await startServer(path)
      const connection = connectIoRedis(ioredis, own.port, { lazyConnect: true })
      try {
        const options = { algorithm: 'ROLLING', limit: 100, failOpen: true, timeout: 250 }
        const { get, store } = await application(connection.client, options)
        await own.kill()
        assert.equal((await get()).status, 200)
        assert.equal(store.counters.failedOpen, 1)
        await own.restart()
        await waitFor('a decision', async () => (await get()).status === 200 && store.counters.allowed > 0)
        const { count } = await peek(own.client, store, 'ROLLING', 100, 'COST', '0')
        assert.equal(count, store.counters.allowed)
        logged.splice(0)
      } finally {
        connection.close()
        await own.stop()
      }
    })

    test('a request cannot make a long key, and a secret hides the caller', async () => {
      const long = await application(client, { algorithm: 'TOKEN', limit: 1 })
      for (const user of ['x'.repeat(257) + 'a', 'anybody:reserved']) {
        assert.deepEqual(await statuses(long.get, 2, { 'x-user': user }), [200, 429])
      }
      const hidden = await application(client, { algorithm: 'TOKEN', limit: 1, secret: 'change me' })
      for (const user of ['192.0.2.1', '192.0.2.2']) {
        assert.deepEqual(await statuses(hidden.get, 2, { 'x-user': user }), [200, 429])
      }
      await hidden.limiter.resetKey('192.0.2.1')
      assert.deepEqual(await statuses(hidden.get, 1, { 'x-user': '192.0.2.1' }), [200])
      for (const { store } of [long, hidden]) {
        const keys = await raw.call('KEYS', `${store.prefix}*`)
        assert.equal(keys.length, 2)
        for (const key of keys) assert.ok(key.length < 120 && !key.includes('192.0.2') && !/reserved$/.test(key), key)
      }
    })
  })

  describe(`${path.split('/').at(-2)}: the server behind an address becomes a replica`, () => {
    for (const [name, connect] of Object.entries(CLIENTS)) {
      test(`${name}: its connections are replaced`, async () => {
        const [old, next] = [await startServer(path), await startServer(path)]
        const address = await startForwarder(old.port)
        let connection
        try {
          connection = await connect(address.port)
          const onError = () => {}
          const { get } = await application(connection.client, { algorithm: 'TOKEN', limit: 10_000, onError })
          const users = Array.from({ length: 20 }, (_, n) => `user${n}`)
          assert.ok(await allDecided(get, users))
          await old.client.call('REPLICAOF', '127.0.0.1', next.port)
          address.target = next.port
          assert.equal((await get()).status, 503)
          await waitFor('the new master', () => allDecided(get, users))
          for (let i = 0; i < 5; i++) assert.ok(await allDecided(get, users))
          assert.match(await next.client.info('commandstats'), /cmdstat_rl\.token:/i)
          for (const line of logged.splice(0)) assert.match(line, /no decision, failing closed: /)
        } finally {
          connection?.close()
          address.stop()
          for (const server of [old, next]) await server.stop()
        }
      })
    }
  })

  describe(`${path.split('/').at(-2)}: a cluster of three nodes`, () => {
    let cluster
    before(async () => {
      cluster = await startCluster(path)
    })
    after(() => cluster?.stop())

    for (const [name, connect] of Object.entries(CLUSTER_CLIENTS)) {
      test(`${name}: each request goes to the node of its key`, async () => {
        const connection = await connect(cluster.nodes.map(({ port }) => port))
        try {
          for (const { client } of cluster.nodes) await client.call('CONFIG', 'RESETSTAT')
          for (const algorithm of ['FIXED', 'TOKEN']) {
            const { get, limiter } = await application(connection.client, { algorithm, skipFailedRequests: true })
            for (let user = 0; user < 9; user++) {
              const headers = { 'x-user': `user${user}` }
              assert.equal((await get(headers, 500)).status, 500)
              assert.deepEqual(await statuses(get, 4, headers), [200, 200, 200, 429])
              assert.equal((await limiter.getKey(`user${user}`)).totalHits >= 3, true)
              await limiter.resetKey(`user${user}`)
              assert.equal(await limiter.getKey(`user${user}`), undefined)
            }
          }
          let asked = 0
          for (const { client } of cluster.nodes) {
            assert.doesNotMatch(await client.info('errorstats'), /MOVED/)
            asked += /cmdstat_rl\.token:/i.test(await client.info('commandstats')) ? 1 : 0
          }
          assert.equal(asked, 3, 'nodes that were asked')
        } finally {
          connection.close()
        }
      })
    }

    test('a node that is silent closes no other', async () => {
      for (const [name, connect] of Object.entries(CLUSTER_CLIENTS)) {
        const connection = await connect(cluster.nodes.map(({ port }) => port))
        const { get, store } = await application(connection.client, { algorithm: 'TOKEN', limit: 1000, timeout: 100 })
        // A user of the first node, and one of the last.
        const user = (isThere) => {
          for (let n = 0; ; n++) if (isThere(slot(`${store.prefix}${n}`))) return () => get({ 'x-user': String(n) })
        }
        const [first, last] = [user((slot) => slot < 5461), user((slot) => slot >= 10923)]
        try {
          for (const user of [first, last]) await waitFor('a decision', async () => (await user()).status === 200)
          const { errors } = store.counters
          for (const error of Object.keys(errors)) delete errors[error]
          cluster.nodes[0].pause()
          await waitFor('its breaker to open', async () => (await first()).status === 503 && errors['circuit open'])
          assert.ok(errors.timeout >= 2 && errors.timeout <= 4, `${name}: ${errors.timeout}`)
          assert.equal((await last()).status, 200, name)
          cluster.nodes[0].resume()
          await sleep(100)
          assert.equal((await first()).status, 200, name)
        } finally {
          cluster.nodes[0].resume()
          connection.close()
        }
        logged.splice(0)
      }
    })

    test('a user whom the nodes reject is never allowed', async () => {
      const wrong = { username: 'nobody', password: 'wrong' }
      const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
      const rootNodes = nodes.map((socket) => ({ socket }))
      for (const [name, module] of Object.entries({ redis, redis5, ioredis, ioredis5 })) {
        for (const late of [false, true]) {
          const client = name.startsWith('ioredis')
            ? new module.Cluster(nodes, { retryDelayOnFailover: 0, redisOptions: wrong })
            : module.createCluster({ rootNodes, defaults: wrong })
          const connected = name.startsWith('ioredis') ? once(client, 'error') : client.connect()
          // An application that awaits its connection creates the store when all errors are over.
          if (late) {
            client.on('error', () => {})
            await connected.catch(() => {})
          }
          connected.catch(() => {})
          const { get, store } = await application(client, { failOpen: true, timeout: 3000 })
          try {
            assert.deepEqual(await statuses(get, 3), [500, 500, 500], name)
            assert.deepEqual(store.counters.errors, { WRONGPASS: 3 }, name)
          } finally {
            if (client.isOpen) client.destroy()
            else client.disconnect()
          }
          assert.match(String(logged.splice(0)), /a fault of the configuration: \w*Error: WRONGPASS/)
        }
      }
    })

    test('a password that becomes wrong is never allowed, and a cluster that is away fails open', async () => {
      const all = (...words) => Promise.all(cluster.nodes.map(({ client }) => client.call('ACL', ...words)))
      const user = { username: 'app', password: 'old' }
      const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
      const rootNodes = nodes.map((socket) => ({ socket }))
      for (const [name, module] of Object.entries({ redis, redis5, ioredis, ioredis5 })) {
        await all('SETUSER', 'app', 'on', 'resetpass', '>old', '~*', '+@all')
        const client = name.startsWith('ioredis')
          ? new module.Cluster(nodes, { retryDelayOnFailover: 0, redisOptions: user })
          : module.createCluster({ rootNodes, defaults: user })
        client.on('error', () => {})
        await (name.startsWith('ioredis') ? once(client, 'ready') : client.connect())
        const { get } = await application(client, { failOpen: true, limit: 1000, timeout: 500 })
        try {
          assert.equal((await get()).status, 200)
          // node-redis sends commands to a server that rejected its password. They must not be those of another user.
          await all('SETUSER', 'default', '>other')
          await all('SETUSER', 'app', 'resetpass', '>new')
          await Promise.all(cluster.nodes.map(({ client }) => client.call('CLIENT', 'KILL', 'USER', 'app')))
          await waitFor(`${name}: the rejection`, async () => (await get()).status === 500)
          assert.deepEqual(await statuses(get, 3), [500, 500, 500], `${name}: ${logged}`)
        } finally {
          if (client.isOpen) client.destroy()
          else client.disconnect()
          await all('SETUSER', 'default', 'nopass')
          logged.splice(0)
        }
      }
      for (const [name, module] of Object.entries({ redis, redis5 })) {
        const client = module.createCluster({ rootNodes: [{ socket: { host: '127.0.0.1', port: 1 } }] })
        client.on('error', () => {})
        await client.connect().catch(() => {})
        const { get, store } = await application(client, { failOpen: true })
        assert.equal((await get()).status, 200)
        assert.equal(store.counters.failedOpen, 1)
        assert.match(String(logged.splice(0)), /failing open: .*ECONNREFUSED/, name)
      }
    })

    test('after a failover, each client finds the new master', async () => {
      const pair = await addReplica(cluster, path)
      for (const [name, connect] of Object.entries(CLUSTER_CLIENTS)) {
        const connection = await connect(cluster.nodes.map(({ port }) => port))
        try {
          const onError = () => {}
          const { get } = await application(connection.client, { algorithm: 'TOKEN', limit: 10_000, onError })
          const users = Array.from({ length: 20 }, (_, n) => `user${n}`)
          await waitFor(`${name}: decisions`, () => allDecided(get, users))
          const replica = (await isMaster(pair[0])) ? pair[1] : pair[0]
          await replica.client.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
          await waitFor('the new master', () => isMaster(replica))
          await replica.client.call('CONFIG', 'RESETSTAT')
          await waitFor(`${name}: decisions after the failover`, () => allDecided(get, users))
          for (let i = 0; i < 5; i++) assert.ok(await allDecided(get, users), name)
          assert.match(await replica.client.info('commandstats'), /cmdstat_rl\.token:calls=\d/i, name)
          for (const line of logged.splice(0)) assert.match(line, /no decision, failing closed: /)
        } finally {
          connection.close()
        }
      }
    })
  })
}
