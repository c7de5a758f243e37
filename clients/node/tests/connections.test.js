// The ways to connect, with real servers: what each client does when its connection fails, is rejected, or leads elsewhere.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Limiter } from '../dist/index.js'
import { slot } from '../dist/keys.js'
import { CLUSTERS, SINGLES, close, connected } from './connections.js'
import { logger, logged, nextPrefix, path, startCluster, startServer, waitFor, withoutModule } from './servers.js'

const THREE = 'TOKEN 1d 3'
const MANY = 'ROLLING 1d 10000'

/** A limiter with keys of its own, and the statuses that a middleware would reply. */
function limited(client, options) {
  // The default timeout is too short for a machine with other work, where it is not what is tested.
  const own = { client, prefix: nextPrefix(), timeout: 10_000, logger, ...options }
  const limiter = new Limiter(own)
  const status = (policy = MANY, who = 'ann') =>
    limiter.check(policy, who).then(({ allowed }) => (allowed ? 200 : 429), (error) => error.status)
  const statuses = async (n, ...words) => {
    const found = []
    for (let i = 0; i < n; i++) found.push(await status(...words))
    return found
  }
  return { limiter, prefix: own.prefix, status, statuses }
}

/** All calls, and what they reply. */
async function calls(client, who = 'ann') {
  const { limiter, statuses } = limited(client)
  assert.deepEqual(await statuses(4, THREE, who), [200, 200, 200, 429])
  assert.equal((await limiter.settle(THREE, who, { reserved: 2, actual: 1 })).remaining, 0)
  assert.deepEqual([await limiter.reset(THREE, who), await limiter.reset(THREE, who)], [true, false])
  assert.equal((await limiter.checkAll([[THREE, who]])).allowed, true)
  assert.deepEqual(limiter.counters, { ...limiter.counters, allowed: 4, denied: 1, faults: 0, errors: {} })
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

/** A user whom the server rejects is never allowed. */
const isRejected = (client, timeout) =>
  using(client, async () => {
    const { statuses, limiter } = limited(client, { unavailable: 'allow', timeout })
    if (!client.call && !client.masters) client.connect().catch(() => {}) // one of ioredis connects by itself
    assert.deepEqual(await statuses(3), [500, 500, 500])
    assert.deepEqual(limiter.counters.errors, { WRONGPASS: 3 })
    assert.match(String(logged.splice(0)), /a fault of the configuration: \w*Error: WRONGPASS/)
  })

describe('one server', () => {
  let server
  before(async () => (server = await startServer(path)))
  after(() => server.stop())

  for (const [name, connect] of Object.entries(SINGLES)) {
    test(`${name}: each call`, () => using(connected(connect(server.port)), calls))

    test(`${name}: a user whom the server rejects is never allowed`, async () => {
      for (const options of [{}, { noReconnection: true }]) {
        await isRejected(connect(server.port, { username: 'nobody', password: 'wrong', ...options }), 400)
      }
    })

    test(`${name}: a request that had no connection is not charged later`, async () => {
      for (const options of name.startsWith('ioredis') ? [{}, { lazyConnect: true }] : [{}]) {
        const own = await startServer(path)
        await using(connect(own.port, options), async (client) => {
          if (!options.lazyConnect) await connected(client)
          const { statuses, limiter, prefix } = limited(client, { unavailable: 'allow', timeout: 250 })
          if (!options.lazyConnect) assert.deepEqual(await statuses(1), [200])
          const before = limiter.counters.allowed
          await own.kill()
          assert.deepEqual(await statuses(3), [200, 200, 200])
          await own.restart()
          if (options.lazyConnect) client.connect().catch(() => {})
          await waitFor('a decision', async () => (await statuses(1)) && limiter.counters.allowed > before)
          await sleep(100)
          const { count } = await limited(own.client, { prefix }).limiter.peek(MANY, 'ann', { cost: 0 })
          assert.equal(count, limiter.counters.allowed - before, 'what was charged')
        }).finally(own.stop)
      }
    })

    // After a failover its address leads to another server.
    test(`${name}: after READONLY its connection is replaced`, () =>
      using(connected(connect(server.port)), async (client) => {
        const { status } = limited(client)
        const ids = async () => (await server.client.call('CLIENT', 'LIST')).match(/\bid=\d+/g)
        assert.equal(await status(), 200)
        const before = await ids()
        await server.client.call('REPLICAOF', '127.0.0.1', 1)
        try {
          assert.equal(await status(), 503)
        } finally {
          await server.client.call('REPLICAOF', 'NO', 'ONE')
        }
        await waitFor('a new connection', async () => {
          const found = await status()
          const after = await ids()
          return found === 200 && !before.every((id) => after.includes(id))
        })
      }))
  }

  test('a reply that is there is used, however late this process is', () =>
    using(connected(SINGLES['redis 6'](server.port)), async (client) => {
      const { limiter, status } = limited(client, { timeout: 300 })
      await status()
      await server.client.call('CLIENT', 'PAUSE', 100, 'WRITE')
      const deciding = status()
      await sleep(20) // the command is written
      await new Promise(setImmediate) // the timers come next, before anything is read
      const end = performance.now() + 500
      while (performance.now() < end); // the process does other work
      assert.deepEqual([await deciding, limiter.counters.errors], [200, {}])
    }))
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
        for (let user = 0; user < 9; user++) await calls(client, `user${user}`)
        for (const { client } of cluster.nodes) {
          assert.doesNotMatch(await client.info('errorstats'), /MOVED/)
          assert.match(await client.info('commandstats'), withoutModule ? /cmdstat_evalsha:/ : /cmdstat_rl\.token:/i)
        }
      }))

    test(`${name}: a node that is silent closes no other`, () =>
      using(connected(connect(ports)), async (client) => {
        const { status, limiter } = limited(client, { timeout: 100 })
        // A user of the first node, and one of the last.
        const user = (isThere) => {
          for (let n = 0; ; n++) if (isThere(slot(limiter.key(MANY, n)))) return () => status(MANY, n)
        }
        const [first, last] = [user((slot) => slot < 5461), user((slot) => slot >= 10923)]
        try {
          for (const each of [first, last]) await waitFor('a decision', async () => (await each()) === 200)
          const { errors } = limiter.counters
          for (const error of Object.keys(errors)) delete errors[error]
          cluster.nodes[0].pause()
          // One at a time tries then; the other fails at once.
          await waitFor('its breaker to open', async () => (await Promise.all([first(), first()])) && errors['circuit open'])
          assert.ok(errors.timeout >= 3 && errors.timeout <= 8, `${errors.timeout}`)
          assert.equal(await last(), 200)
        } finally {
          cluster.nodes[0].resume()
        }
        await waitFor('it to close', async () => (await first()) === 200)
      }))

    test(`${name}: a user whom the nodes reject is never allowed`, async () => {
      for (const late of [false, true]) {
        const client = connect(ports, { username: 'nobody', password: 'wrong' })
        const ready = connected(client).catch(() => {})
        // An application that awaits its connection creates the limiter when all errors are over.
        if (late) client.on('error', () => {})
        if (late) await ready
        await isRejected(client, 3000)
      }
    })

    test(`${name}: a password that becomes wrong is never allowed`, async () => {
      await all('ACL', 'SETUSER', 'app', 'on', 'resetpass', '>old', '~*', '+@all')
      const client = connect(ports, { username: 'app', password: 'old' })
      client.on('error', () => {})
      await using(connected(client), async () => {
        const { statuses } = limited(client, { unavailable: 'allow', timeout: 500 })
        assert.deepEqual(await statuses(1), [200])
        // node-redis sends commands to a server that rejected its password. They must not be those of another user.
        await all('ACL', 'SETUSER', 'default', '>other')
        await all('ACL', 'SETUSER', 'app', 'resetpass', '>new')
        await all('CLIENT', 'KILL', 'USER', 'app')
        await waitFor('the rejection', async () => (await statuses(1))[0] === 500)
        assert.deepEqual(await statuses(3), [500, 500, 500], String(logged))
      }).finally(() => all('ACL', 'SETUSER', 'default', 'nopass'))
    })
  }

  test('a cluster of node-redis that is away fails open', async () => {
    const client = CLUSTERS['redis 6']([1])
    client.on('error', () => {})
    await client.connect().catch(() => {})
    logged.length = 0
    const { statuses, limiter } = limited(client, { unavailable: 'allow' })
    assert.deepEqual([await statuses(1), limiter.counters.failedOpen], [[200], 1])
    assert.match(String(logged.splice(0)), /failing open: .*ECONNREFUSED/)
  })
})
