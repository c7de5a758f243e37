// The store in an application, with real servers. Each way to connect is tested for what the connection does; everything
// else with one of them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import supertest from 'supertest'
import { RedisRlStore } from '../dist/index.js'
import { slot } from '../dist/keys.js'
import { CLUSTERS, SINGLES, close, connected } from './connections.js'
import { servers, startCluster, startForwarder, startServer, waitFor, withoutModule } from './servers.js'

// Long enough that no window ends during a test.
const DAY = 86_400_000
const path = servers.at(-1)
const LIMITED = { algorithm: 'TOKEN', limit: 10_000 }

let prefixes = 0
const open = []
const logged = []

/** An application with one limiter, by user. Its route replies the status that the request names. */
async function application(client, { algorithm, burst, timeout = 10_000, unavailable, secret, ...options }) {
  // The default timeout is too short for a machine with other work, where it is not what is tested.
  const own = { algorithm, burst, timeout, unavailable, secret }
  const store = new RedisRlStore({ client, ...own, prefix: `test:${prefixes++}:` })
  const warn = (line) => /no module: the Lua|decides again/.test(line) || logged.push(line)
  const logger = { error: (error) => logged.push(error), warn }
  const all = { windowMs: DAY, limit: 3, standardHeaders: true, logger, store, ...options }
  all.keyGenerator ??= (request) => request.get('x-user') ?? 'anybody'
  const limiter = rateLimit(all)
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
  const statuses = async (n, ...words) => {
    const found = []
    for (let i = 0; i < n; i++) found.push((await get(...words)).status)
    return found
  }
  /** Whether each of twenty users is decided by a server: without one, the request is an error. */
  const allDecided = async () => {
    const found = await Promise.all(Array.from({ length: 20 }, (_, n) => get({ 'x-user': `user${n}` })))
    return found.every(({ status }) => status === 200)
  }
  return { get, statuses, allDecided, limiter, store, release }
}

/** What is counted. */
async function counted(client, { prefix }, algorithm, limit) {
  const words = ['RL.PEEK', algorithm, `${prefix}{anybody}`, `${DAY}ms`, String(limit), 'COST', '0', 'LINE']
  return Number(String(await client.call(...words)).split(' ')[1])
}

/** Runs a test with a connection of its own. */
async function using(connection, work) {
  const client = await connection
  try {
    await work(client)
  } finally {
    close(client)
  }
}

after(() => {
  for (const server of open) server.close()
  assert.deepEqual(logged, [], 'what express-rate-limit logged')
})

describe('one server', () => {
  let server, raw, client
  before(async () => {
    server = await startServer(path)
    raw = server.client
    client = await connected(SINGLES['redis 6'](server.port))
  })
  after(async () => {
    close(client)
    await server.stop()
  })

  for (const [name, connect] of Object.entries(SINGLES)) {
    test(`${name}: three pass, the fourth gets 429; reset, get, refund`, () =>
      using(connected(connect(server.port)), async (own) => {
        const { statuses, limiter } = await application(own, { algorithm: 'TOKEN', skipFailedRequests: true })
        assert.equal(await limiter.getKey('anybody'), undefined)
        assert.deepEqual(await statuses(2, {}, 500), [500, 500])
        assert.deepEqual(await statuses(4), [200, 200, 200, 429])
        assert.equal((await limiter.getKey('anybody')).totalHits, 3)
        await limiter.resetKey('anybody')
        assert.equal(await limiter.getKey('anybody'), undefined)
        assert.deepEqual(await statuses(4), [200, 200, 200, 429])
      }))

    test(`${name}: a user whom the server rejects is never allowed`, async () => {
      for (const options of [{}, { noReconnection: true }]) {
        const own = connect(server.port, { username: 'nobody', password: 'wrong', ...options })
        const { statuses, store } = await application(own, { unavailable: 'allow', timeout: 400 })
        own.connect().catch(() => {}) // one of ioredis connects by itself
        try {
          assert.deepEqual(await statuses(3), [500, 500, 500])
          assert.deepEqual(store.counters.errors, { WRONGPASS: 3 })
        } finally {
          close(own)
        }
        assert.match(String(logged.splice(0)), /a fault of the configuration: \w*Error: WRONGPASS/)
      }
    })

    test(`${name}: a request that had no connection is not charged later`, async () => {
      for (const options of [{}, { lazyConnect: true }]) {
        const own = await startServer(path)
        const connection = connect(own.port, options)
        try {
          if (!options.lazyConnect) await connected(connection)
          const { statuses, store } = await application(connection, {
            algorithm: 'ROLLING',
            limit: 100,
            unavailable: 'allow',
            timeout: 250,
          })
          if (!options.lazyConnect) assert.deepEqual(await statuses(1), [200])
          const before = store.counters.allowed
          await own.kill()
          assert.deepEqual(await statuses(3), [200, 200, 200])
          await own.restart()
          if (options.lazyConnect) connection.connect?.().catch(() => {})
          await waitFor('a decision', async () => (await statuses(1)) && store.counters.allowed > before)
          await sleep(100)
          const count = await counted(own.client, store, 'ROLLING', 100)
          assert.equal(count, store.counters.allowed - before, 'what was charged')
          logged.splice(0)
        } finally {
          close(connection)
          await own.stop()
        }
        if (!name.startsWith('ioredis')) break
      }
    })

    test(`${name}: after READONLY its connections are replaced`, async () => {
      const [old, next] = [await startServer(path), await startServer(path)]
      const address = await startForwarder(old.port)
      await using(connected(connect(address.port)), async (own) => {
        const { get, allDecided } = await application(own, LIMITED)
        assert.ok(await allDecided())
        await old.client.call('REPLICAOF', '127.0.0.1', next.port)
        address.target = next.port
        assert.equal((await get()).status, 503)
        await waitFor('the new master', allDecided)
        for (let i = 0; i < 5; i++) assert.ok(await allDecided())
        for (const line of logged.splice(0)) assert.match(line, /no decision, failing closed: /)
      }).finally(() => Promise.all([address, old, next].map((each) => each.stop())))
    })
  }

  for (const algorithm of ['FIXED', 'WINDOW', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'GCRA']) {
    test(`${algorithm}: three pass, and what is skipped is given back`, async () => {
      const { get, statuses, limiter } = await application(client, { algorithm, skipFailedRequests: true })
      for (const remaining of [2, 1, 0]) {
        assert.deepEqual(await statuses(1, {}, 500), [500])
        // The first refund sends its script too, which takes a round trip more.
        const hits = async () => (await limiter.getKey('anybody'))?.totalHits ?? 0
        if (withoutModule) await waitFor('the refund', async () => (await hits()) === 2 - remaining)
        const { status, headers } = await get()
        assert.equal(status, 200)
        assert.equal(headers['ratelimit-remaining'], String(remaining))
        assert.equal(headers['retry-after'], undefined)
        assert.equal((await limiter.getKey('anybody')).totalHits, 3 - remaining)
      }
      for (let i = 0; i < 2; i++) {
        const { status, headers } = await get()
        assert.equal(status, 429)
        assert.equal(headers['ratelimit-remaining'], '0')
        assert.equal(headers['ratelimit-reset'], headers['retry-after'])
      }
      // Another user has a limit of its own.
      assert.equal((await get({ 'x-user': 'other' })).status, 200)
      const succeeded = await application(client, { algorithm, skipSuccessfulRequests: true })
      assert.deepEqual(await succeeded.statuses(5), [200, 200, 200, 200, 200])
      assert.deepEqual(await succeeded.statuses(4, {}, 401), [401, 401, 401, 429])
    })
  }

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

  test('BURST is how much may pass at once', async () => {
    for (const [options, statuses, remaining] of [
      [{ algorithm: 'TOKEN', limit: 60, burst: 2 }, [200, 200, 429], ['1', '0', '0']],
      // express-rate-limit takes at least one hit.
      [{ algorithm: 'GCRA', limit: 2, burst: 4 }, [200, 200, 200, 200, 429], ['1', '1', '1', '0', '0']],
    ]) {
      const { get } = await application(client, options)
      const found = []
      for (const _ of statuses) found.push(await get())
      assert.deepEqual(found.map(({ status }) => status), statuses)
      assert.deepEqual(found.map(({ headers }) => headers['ratelimit-remaining']), remaining)
    }
  })

  test('a limit that is a function: FIXED counts under any limit, and the others say what to do', async () => {
    const limit = async (request) => Number(request.get('x-limit'))
    const fixed = await application(client, { algorithm: 'FIXED', limit, skipFailedRequests: true })
    assert.deepEqual(await fixed.statuses(3, { 'x-limit': '2' }), [200, 200, 429])
    assert.deepEqual(await fixed.statuses(2, { 'x-limit': '3' }), [200, 429])
    const token = await application(client, { algorithm: 'TOKEN', limit, unavailable: 'allow' })
    const { status, body } = await token.get({ 'x-limit': '2' })
    assert.equal(status, 500)
    assert.match(body, /use limit\(\) of rate-limit-redis-rl/)
    assert.match(String(logged.splice(0)), /use limit\(\)/)
  })

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

  const permission = withoutModule && 'a permission of the module'
  test('a refund that is rejected is counted, and no error', { skip: permission }, async () => {
    const { get, store } = await application(client, { algorithm: 'TOKEN', skipFailedRequests: true })
    await raw.call('ACL', 'SETUSER', 'default', '-rl.refund')
    try {
      assert.equal((await get({}, 404)).status, 404)
      await store.decrement('anybody')
    } finally {
      await raw.call('ACL', 'SETUSER', 'default', '+rl.refund')
    }
    assert.deepEqual([store.counters.unrefunded, store.counters.faults], [2, 2])
    assert.match(String(logged.splice(0)), /not given back: \w*Error: NOPERM/)
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

  test('what the keys are: text or a number, not long, and hidden by a secret', async () => {
    for (const key of [undefined, null, NaN, {}]) {
      const options = { algorithm: 'TOKEN', unavailable: 'allow', keyGenerator: () => key }
      const { get, store } = await application(client, options)
      assert.equal((await get()).status, 500)
      assert.deepEqual(await raw.call('KEYS', `${store.prefix}*`), [])
      assert.match(String(logged.splice(0)), /who: expected a text that is not empty/)
    }
    const number = await application(client, { algorithm: 'TOKEN', keyGenerator: () => 7 })
    assert.equal((await number.get()).status, 200)
    assert.deepEqual(await raw.call('KEYS', `${number.store.prefix}*`), [`${number.store.prefix}{7}`])
    for (const [secret, users] of [
      [undefined, ['x'.repeat(257) + 'a', 'anybody:reserved']],
      ['change me', ['192.0.2.1', '192.0.2.2']],
    ]) {
      const { statuses, limiter, store } = await application(client, { algorithm: 'TOKEN', limit: 1, secret })
      for (const user of users) assert.deepEqual(await statuses(2, { 'x-user': user }), [200, 429])
      const keys = await raw.call('KEYS', `${store.prefix}*`)
      assert.equal(keys.length, 2)
      for (const key of keys) assert.ok(key.length < 120 && !key.includes('192.0.2') && !/reserved$/.test(key), key)
      await limiter.resetKey(users[0])
      assert.deepEqual(await statuses(1, { 'x-user': users[0] }), [200])
    }
  })
})

describe('a cluster of three nodes', () => {
  let cluster, ports
  before(async () => {
    cluster = await startCluster(path)
    ports = cluster.nodes.map(({ port }) => port)
  })
  after(() => cluster?.stop())
  const all = (...words) => Promise.all(cluster.nodes.map(({ client }) => client.call(...words)))

  for (const [name, connect] of Object.entries(CLUSTERS)) {
    test(`${name}: each request goes to the node of its key`, () =>
      using(connected(connect(ports)), async (client) => {
        await all('CONFIG', 'RESETSTAT')
        const { statuses, limiter } = await application(client, { algorithm: 'TOKEN', skipFailedRequests: true })
        for (let user = 0; user < 9; user++) {
          const headers = { 'x-user': `user${user}` }
          assert.deepEqual(await statuses(1, headers, 500), [500])
          assert.deepEqual(await statuses(4, headers), [200, 200, 200, 429])
          assert.equal((await limiter.getKey(`user${user}`)).totalHits, 3)
          await limiter.resetKey(`user${user}`)
          assert.equal(await limiter.getKey(`user${user}`), undefined)
        }
        for (const { client } of cluster.nodes) {
          assert.doesNotMatch(await client.info('errorstats'), /MOVED/)
          assert.match(await client.info('commandstats'), withoutModule ? /cmdstat_evalsha:/ : /cmdstat_rl\.token:/i)
        }
      }))

    test(`${name}: a node that is silent closes no other`, () =>
      using(connected(connect(ports)), async (client) => {
        const { get, store } = await application(client, { ...LIMITED, timeout: 100 })
        // A user of the first node, and one of the last.
        const user = (isThere) => {
          for (let n = 0; ; n++) if (isThere(slot(`${store.prefix}{${n}}`))) return () => get({ 'x-user': String(n) })
        }
        const [first, last] = [user((slot) => slot < 5461), user((slot) => slot >= 10923)]
        try {
          for (const each of [first, last]) await waitFor('a decision', async () => (await each()).status === 200)
          const { errors } = store.counters
          for (const error of Object.keys(errors)) delete errors[error]
          cluster.nodes[0].pause()
          // One at a time tries then; the other fails at once.
          await waitFor('its breaker to open', async () => (await Promise.all([first(), first()])) && errors['circuit open'])
          assert.ok(errors.timeout >= 3 && errors.timeout <= 8, `${errors.timeout}`)
          assert.equal((await last()).status, 200)
        } finally {
          cluster.nodes[0].resume()
        }
        await waitFor('it to close', async () => (await first()).status === 200)
        logged.splice(0)
      }))

    test(`${name}: a user whom the nodes reject is never allowed`, async () => {
      for (const late of [false, true]) {
        const client = connect(ports, { username: 'nobody', password: 'wrong' })
        const ready = connected(client)
        // An application that awaits its connection creates the store when all errors are over.
        if (late) client.on('error', () => {})
        await (late ? ready.catch(() => {}) : undefined)
        ready.catch(() => {})
        const { statuses, store } = await application(client, { unavailable: 'allow', timeout: 3000 })
        try {
          assert.deepEqual(await statuses(3), [500, 500, 500])
          assert.deepEqual(store.counters.errors, { WRONGPASS: 3 })
        } finally {
          close(client)
        }
        assert.match(String(logged.splice(0)), /a fault of the configuration: \w*Error: WRONGPASS/)
      }
    })

    test(`${name}: a password that becomes wrong is never allowed`, async () => {
      await all('ACL', 'SETUSER', 'app', 'on', 'resetpass', '>old', '~*', '+@all')
      const client = connect(ports, { username: 'app', password: 'old' })
      client.on('error', () => {})
      await connected(client)
      const { statuses } = await application(client, { unavailable: 'allow', limit: 1000, timeout: 500 })
      try {
        assert.deepEqual(await statuses(1), [200])
        // node-redis sends commands to a server that rejected its password. They must not be those of another user.
        await all('ACL', 'SETUSER', 'default', '>other')
        await all('ACL', 'SETUSER', 'app', 'resetpass', '>new')
        await all('CLIENT', 'KILL', 'USER', 'app')
        await waitFor('the rejection', async () => (await statuses(1))[0] === 500)
        assert.deepEqual(await statuses(3), [500, 500, 500], String(logged))
      } finally {
        close(client)
        await all('ACL', 'SETUSER', 'default', 'nopass')
        logged.splice(0)
      }
    })
  }

  test('a cluster of node-redis that is away fails open', async () => {
    const client = CLUSTERS['redis 6']([1])
    client.on('error', () => {})
    await client.connect().catch(() => {})
    const { statuses, store } = await application(client, { unavailable: 'allow' })
    assert.deepEqual(await statuses(1), [200])
    assert.equal(store.counters.failedOpen, 1)
    assert.match(String(logged.splice(0)), /failing open: .*ECONNREFUSED/)
  })
})
