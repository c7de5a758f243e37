import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { RESP_TYPES, createClient, createCluster } from 'redis'
import { Limiter, RateLimitError } from '../index.js'
import { servers, startCluster, startForwarder, startServer, waitFor } from './servers.js'

const quiet = { warn() {}, error() {} }

const nodeRedis = (commandOptions) => async (port) => {
  const client = createClient({ socket: { host: '127.0.0.1', port }, commandOptions })
  await client.connect()
  return { client, close: () => client.destroy() }
}

const ioRedis = (options) => (port) => {
  const once = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false }
  const client = new Redis(port, '127.0.0.1', { ...once, ...options })
  client.on('error', () => {})
  return { client, close: () => client.disconnect() }
}

const CLIENTS = {
  redis: nodeRedis(),
  ioredis: ioRedis(),
  'redis, numbers as text': nodeRedis({ typeMapping: { [RESP_TYPES.NUMBER]: String } }),
  'ioredis, numbers as text': ioRedis({ stringNumbers: true }),
}

let number = 0

for (const path of servers) {
  describe(`reservations, ${path.split('/').at(-2)}`, () => {
    let server
    before(async () => (server = await startServer(path)))
    after(() => server?.stop())

    /** The limits of a call under keys of its own, and what is counted of them. */
    function calls() {
      const key = `{r${(number += 1)}}`
      const limits = (estimate, lease = '1h') => [
        ['WINDOW', `${key}:requests`, '1d', 10],
        ['ROLLING', `${key}:tokens`, '1d', 1000, 'COST', estimate, 'AS', 'tokens'],
        ['FIXED', `${key}:month`, 'month', 5000, 'ANCHOR', 0, 'COST', estimate, 'AS', 'month'],
        ['LEASE', `${key}:calls`, lease, 2],
      ]
      const counted = async () => {
        const { client } = server
        const peek = (...words) => client.call('RL.PEEK', ...words).then((reply) => reply[1])
        const months = await client.keys(`${key}:month:month:*[0-9]`)
        return [
          await peek('WINDOW', `${key}:requests`, '1d', 10),
          await peek('ROLLING', `${key}:tokens`, '1d', 1000, 'COST', 0),
          months.length === 0 ? 0 : Number(await client.get(months[0])),
          await client.zcard(`${key}:calls`),
        ]
      }
      const becomes = async (...expected) => {
        await waitFor('it', async () => String(await counted()) === String(expected)).catch(() => {})
        assert.deepEqual(await counted(), expected)
      }
      return { key, limits, counted, becomes }
    }

    for (const [name, connect] of Object.entries(CLIENTS)) {
      test(`${name}: it settles once`, async () => {
        const { client, close } = await connect(server.port)
        const { key, limits, counted } = calls()
        try {
          const limiter = new Limiter({ client, timeout: 30_000, logger: quiet })
          const reservation = await limiter.reserve(limits(300), '1h')
          assert.ok(reservation.allowed)
          assert.match(reservation.decision.headers['RateLimit-Policy'], /"tokens";q=1000;w=86400/)
          assert.deepEqual(await counted(), [1, 300, 300, 1])
          reservation.report(7)
          await reservation.settle(420)
          assert.deepEqual(await counted(), [1, 420, 420, 0])
          await reservation.settle(1)
          await reservation.cancel()
          reservation.close()
          await sleep(20)
          assert.deepEqual(await counted(), [1, 420, 420, 0])
          const denied = await limiter.reserve(limits(700), '1h')
          assert.deepEqual([denied.allowed, denied.decision.limits.map(([allowed]) => allowed)], [false, [1, 0, 1, 1]])
          assert.ok(Number(denied.decision.headers['Retry-After']) > 86_000)
          await denied.settle(700)
          assert.deepEqual(await counted(), [1, 420, 420, 0])
          assert.deepEqual([limiter.counters.allowed, limiter.counters.denied], [1, 1])
          const short = await limiter.reserve([['LEASE', `${key}:short`, '600ms', 1]], '1h')
          assert.equal(short.isLost, false)
          await server.client.del(`${key}:short`)
          await waitFor('the loss', () => short.isLost)
        } finally {
          close()
        }
      })
    }

    describe('with one client', () => {
      let client, limiter
      before(() => {
        client = CLIENTS.ioredis(server.port).client
        limiter = new Limiter({ client, timeout: 30_000, logger: quiet })
      })
      after(() => client.disconnect())

      test('what an end without a settlement charges', async () => {
        const { limits, becomes } = calls()
        let [requests, tokens] = [0, 0]
        for (const how of ['close', 'signal', 'using']) {
          for (const [step, charged] of [
            [(one) => one.report(20), [1, 20]],
            [() => {}, [1, 50]],
            [(one) => one.called(false), [0, 0]],
            [(one) => (one.called(false), one.report(7)), [1, 7]],
          ]) {
            const controller = new AbortController()
            const reservation = await limiter.reserve(limits(50), '1h', { signal: controller.signal })
            step(reservation)
            if (how === 'close') reservation.close()
            else if (how === 'signal' || !Symbol.asyncDispose) controller.abort()
            else await reservation[Symbol.asyncDispose]()
            requests += charged[0]
            tokens += charged[1]
            await becomes(requests, tokens, tokens, 0)
          }
        }
      })

      test('aborted while it waits for the reply', async () => {
        const { limits, becomes } = calls()
        await client.ping()
        await server.client.call('CLIENT', 'PAUSE', 60_000, 'WRITE')
        const controller = new AbortController()
        const reserving = limiter.reserve(limits(50), '1h', { signal: controller.signal })
        const rejected = assert.rejects(reserving, { name: 'AbortError' })
        await sleep(50)
        controller.abort()
        await server.client.call('CLIENT', 'UNPAUSE')
        await rejected
        await becomes(0, 0, 0, 0)
      })

      test('aborted with an id that another caller may hold', async () => {
        const { limits, becomes } = calls()
        const first = await limiter.reserve(limits(50), '1h', { id: 'call-1' })
        await server.client.call('CLIENT', 'PAUSE', 60_000, 'WRITE')
        const controller = new AbortController()
        const again = limiter.reserve(limits(50), '1h', { id: 'call-1', signal: controller.signal })
        const rejected = assert.rejects(again, { name: 'AbortError' })
        await sleep(50)
        controller.abort()
        await server.client.call('CLIENT', 'UNPAUSE')
        await rejected
        // What would cancel it has had its time.
        await sleep(50)
        await becomes(1, 50, 50, 1)
        await first.settle(60)
        await becomes(1, 60, 60, 0)
      })

      test('what was used of each limit', async () => {
        const { key } = calls()
        const [input, output, budget] = ['input', 'output', 'budget'].map((name) => `${key}:${name}`)
        // A name that is an option's word, and two limits with one key.
        const limits = [
          ['WINDOW', `${key}:requests`, '1d', 10, 'AS', 'cost'],
          ['WINDOW', input, '1d', 1000, 'AS', 'cost', 'COST', 100],
          ['WINDOW', output, '1d', 1000, 'COST', 50, 'AS', 'anchor'],
          ['FIXED', budget, 'month', 5000, 'COST', 700],
          ['FIXED', budget, 'year', 5000, 'COST', 700, 'ANCHOR', 0],
          ['LEASE', `${key}:calls`, '1h', 2],
        ]
        const sum = async (pattern) => {
          const found = await server.client.keys(pattern)
          const values = await Promise.all(found.map((name) => server.client.get(name)))
          return values.reduce((all, value) => all + Number(value), 0)
        }
        const patterns = [`${key}:requests`, input, output, `${budget}:month:*[0-9]`, `${budget}:year:*[0-9]`]
        const counted = () => Promise.all(patterns.map(sum))
        const used = [0, 0, 0, 0, 0]
        const charged = async (...each) => {
          each.forEach((units, i) => (used[i] += units))
          await waitFor('it', async () => String(await counted()) === String(used)).catch(() => {})
          assert.deepEqual(await counted(), used)
        }
        const reserve = () => limiter.reserve(limits, '1h')
        await (await reserve()).settle({ [input]: 90, [output]: 20, [budget]: 310 })
        await charged(1, 90, 20, 310, 310)
        let reservation = await reserve()
        reservation.report({ [input]: 90 })
        reservation.report({ [output]: 5 })
        reservation.report({ [output]: 6 })
        reservation.close()
        await charged(1, 90, 6, 700, 700) // the budget keeps its estimate
        reservation = await reserve()
        reservation.report({ [input]: 1 })
        await reservation.settle(8)
        await charged(1, 8, 8, 8, 8)
        reservation = await reserve()
        for (const wrong of [`${key}:requests`, `${key}:calls`, 'x']) {
          assert.throws(() => reservation.report({ [wrong]: 1 }), /expected keys of limits with COST/)
        }
        for (const units of [-1, 1.5, '1', null]) {
          assert.throws(() => reservation.report({ [output]: 3, [input]: units }), /at least 0/)
        }
        assert.throws(() => reservation.report(null), /at least 0/)
        reservation.report({ [input]: 7 })
        await reservation.cancel()
        await charged(0, 0, 0, 0, 0)
        assert.equal(await server.client.zcard(`${key}:calls`), 0)
      })

      test('a caller decides neither how long a key is, nor that it is a reservation', async () => {
        const { key } = calls()
        const names = ['x'.repeat(300), 'caller:reserved'].map((end) => `${key}:${end}`)
        const limits = [
          ...names.map((name) => ['WINDOW', name, '1d', 10, 'COST', 5]),
          ['LEASE', `${key}:${'l'.repeat(300)}`, '1h', 1],
        ]
        const reservation = await limiter.reserve(limits, '1h')
        const isOurs = (name) => !/:reserved(:ends)?$/.test(name)
        const keys = async () => (await server.client.keys(`${key}*`)).filter(isOurs)
        assert.equal((await keys()).length, 3)
        await reservation.settle({ [names[0]]: 3, [names[1]]: 4 })
        const left = (await keys()).sort()
        assert.deepEqual(left.map((name) => name.length - key.length), [16 + 65, 32 + 65])
        assert.deepEqual(await Promise.all(left.map((name) => server.client.get(name))), ['4', '3'])
      })

      test('a repeated request is charged once', async () => {
        const { limits, counted } = calls()
        const first = await limiter.reserve(limits(300), '1h', { id: 'call-1' })
        const again = await limiter.reserve(limits(300), '1h', { id: 'call-1' })
        assert.deepEqual(await counted(), [1, 300, 300, 1])
        await again.settle(310)
        await first.settle(999)
        assert.deepEqual(await counted(), [1, 310, 310, 0])
        const others = [await limiter.reserve(limits(1), '1h'), await limiter.reserve(limits(1), '1h')]
        assert.notEqual(others[0].id, others[1].id)
        for (const other of others) await other.cancel()
        assert.deepEqual(await counted(), [1, 310, 310, 0])
      })

      test('a lease is renewed until it is lost', async () => {
        const { key, limits } = calls()
        const reservation = await limiter.reserve(limits(1, '600ms'), '1h')
        await sleep(1500)
        assert.equal(reservation.isLost, false)
        assert.ok(await server.client.zscore(`${key}:calls`, reservation.id))
        await server.client.del(`${key}:calls`)
        await waitFor('the loss', () => reservation.isLost)
        await reservation.cancel()
      })

      test('a lease that cannot be renewed is lost when it ends', async () => {
        const acl = (rule) => server.client.call('ACL', 'SETUSER', 'default', rule)
        const policies = (key) => [['LEASE', `${key}:calls`, '1s', 1]]
        for (const how of ['rejected', 'cut']) {
          const { key } = calls()
          const address = await startForwarder(server.port)
          const { client, close } = CLIENTS.ioredis(address.port)
          const [outcomes, lines] = [[], []]
          const logger = { warn() {}, error: (line) => lines.push(line) }
          const onError = (error, outcome) => {
            outcomes.push(`${outcome} ${error.name}`)
            throw new Error('of onError')
          }
          try {
            const lossy = new Limiter({ client, timeout: 30_000, onError, logger })
            const settled = await lossy.reserve(policies(`${key}:settled`), '1h')
            await settled.settle(0)
            const reservation = await lossy.reserve(policies(key), '1h')
            const other = () => limiter.reserve(policies(key), '1h')
            if (how === 'rejected') await acl('-rl.renew')
            else address.stop()
            assert.equal((await other()).allowed, false)
            const next = await waitFor('another holder', async () => {
              const found = await other()
              return found.allowed && found
            })
            assert.equal(reservation.isLost, true)
            await next.cancel()
            await waitFor('the callback', () => lossy.counters.leasesLost === 1)
            assert.equal(outcomes.at(-1), 'leasesLost LeaseLost')
            const faults = outcomes.slice(0, -1)
            assert.equal(lossy.counters.faults, faults.length)
            assert.equal(faults.length > 0, how === 'rejected')
            assert.ok(faults.every((outcome) => outcome === 'faults ReplyError'), String(faults))
            assert.match(String(lines), /a lease is lost: LeaseLost: another holder may have been allowed/)
            if (how === 'rejected') assert.match(String(lines), /a renewal was rejected, .*NOPERM/)
            assert.equal(settled.isLost, false)
            reservation.close()
            assert.deepEqual([reservation.isLost, lossy.counters.leasesLost], [true, 1])
          } finally {
            await acl('+rl.renew')
            close()
            address.stop()
          }
        }
      })

      test('shadow mode takes no lease above the limit, and none is lost', async () => {
        const shadow = (value) => server.client.call('CONFIG', 'SET', 'rl.shadow', value)
        for (const [options, all] of [[['SHADOW'], 'no'], [[], 'yes']]) {
          const { key } = calls()
          const policies = [['LEASE', `${key}:calls`, '900ms', 1, ...options]]
          const before = limiter.counters.leasesLost
          await shadow(all)
          try {
            const held = await limiter.reserve(policies, '1h')
            const above = [await limiter.reserve(policies, '1h'), await limiter.reserve(policies, '1h', { id: 'one' })]
            // A repeated request whose lease is held, although it was taken under a higher limit.
            const again = await limiter.reserve(policies, '1h', { id: held.id })
            await sleep(1000)
            for (const one of [held, again, ...above]) assert.deepEqual([one.allowed, one.isLost], [true, false])
            assert.equal(await server.client.zcard(`${key}:calls`), 1)
            assert.ok(await server.client.zscore(`${key}:calls`, held.id))
            for (const one of above) await one.cancel()
            await server.client.del(`${key}:calls`)
            await waitFor('the loss', () => held.isLost && again.isLost)
            assert.equal(limiter.counters.leasesLost, before + 2)
          } finally {
            await shadow('no')
          }
        }
      })

      test('a settlement that is rejected is counted', async () => {
        const { limits } = calls()
        const outcomes = []
        const onError = (error, outcome) => outcomes.push(`${outcome} ${error.message.split(' ')[0]}`)
        const rejected = new Limiter({ client, timeout: 30_000, onError, logger: quiet })
        await server.client.call('ACL', 'SETUSER', 'default', '-rl.settle')
        try {
          await assert.rejects((await rejected.reserve(limits(1), '1h')).settle(1), /NOPERM/)
          ;(await rejected.reserve(limits(1), '1h')).close()
          await waitFor('the settlement', () => rejected.counters.unsettled === 2)
        } finally {
          await server.client.call('ACL', 'SETUSER', 'default', '+rl.settle')
        }
        assert.equal(rejected.counters.faults, 2)
        assert.deepEqual(outcomes, Array(2).fill('unsettled NOPERM'))
      })

      test('what is settled leaves no listener', async () => {
        const { limits } = calls()
        const { signal } = new AbortController()
        for (const end of [(one) => one.settle(1), (one) => one.cancel(), (one) => one.close()]) {
          const reservation = await limiter.reserve(limits(1), '1h', { signal })
          assert.equal(getEventListeners(signal, 'abort').length, 1)
          await end(reservation)
          assert.equal(getEventListeners(signal, 'abort').length, 0)
        }
      })

      test('a lease that is longer than a timer of Node.js', async () => {
        const { key } = calls()
        await server.client.call('CONFIG', 'RESETSTAT')
        const reservation = await limiter.reserve([['LEASE', `${key}:calls`, '90d', 1]], '1h')
        await sleep(50)
        await reservation.cancel()
        assert.doesNotMatch(await server.client.info('commandstats'), /rl\.renew/i)
      })

      test('what the server rejects is never allowed', async () => {
        for (const failOpen of [true, false]) {
          const outcomes = []
          const onError = (error, outcome) => outcomes.push(outcome)
          const strict = new Limiter({ client, timeout: 30_000, failOpen, onError, logger: quiet })
          const wrong = strict.reserve([['ROLLING', 'k', '1m', 'x']], '1h')
          await assert.rejects(wrong, (error) => error instanceof RateLimitError && error.status === 500)
          assert.deepEqual([outcomes, strict.counters.faults], [['faults'], 1])
        }
      })

      test('arguments', async () => {
        const reject = (expected, ...words) => assert.rejects(limiter.reserve(...words), expected)
        await reject(/TOKEN takes no reservation; expected FIXED/, [['TOKEN', 'k', '1m', 60]], '1h')
        for (const ttl of ['10x', 0, '', 'month', 1.5]) {
          await reject(/expected a positive integer of seconds/, [['ROLLING', 'k', '1m', 60]], ttl)
        }
        for (const policies of [[], [['ROLLING', 'k', '1m']], 'ROLLING']) await reject(/policies: expected/, policies, 1)
        for (const word of [undefined, null, NaN, Infinity, {}, ['k'], 1n]) {
          for (let at = 0; at < 4; at++) {
            const policy = ['ROLLING', 'k', '1m', 60].with(at, word)
            await reject(/TypeError: policies: expected each word to be a string or a finite number/, [policy], 1)
          }
        }
        await reject(/TypeError: policies: expected a key that is not empty/, [['ROLLING', '', '1m', 60]], 1)
        for (const id of ['', 'x'.repeat(129)]) await reject(/1 to 128/, [['ROLLING', 'k', '1m', 60]], 1, { id })
        assert.throws(() => new Limiter({ client, ttl: 1 }), /ttl: there is no such option/)
        const reservation = await limiter.reserve([['ROLLING', 'k', '1m', 60]], 1)
        for (const used of [-1, 1.5, '1']) assert.throws(() => reservation.report(used), /at least 0/)
        await reservation.cancel()
      })
    })

    test('the code of the pages', async () => {
      const { client, close } = CLIENTS.ioredis(server.port)
      try {
        await client.flushall()
        const charged = async (key) => [
          (await server.client.call('RL.PEEK', 'ROLLING', `${key}:tokens`, '1m', 9000, 'COST', 0))[1],
          await server.client.zcard(`${key}:calls`),
        ]
        const page = async (path, words, names, more = '') => {
          const text = await readFile(new URL(path, import.meta.url), 'utf8')
          const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)
          const found = blocks.filter((code) => code.includes(words))
          assert.equal(found.length, 1, path)
          const imported = "import { Limiter } from 'rate-limit-redis-rl'\n"
          assert.ok(found[0].includes(imported), path)
          const client = 'Limiter({ client'
          const patient = found[0].replace(imported, '').replace(client, `${client}, timeout: 30_000`)
          const AsyncFunction = (async () => {}).constructor
          return new AsyncFunction('Limiter', ...Object.keys(names), patient + more)(Limiter, ...Object.values(names))
        }
        await page('../README.md', 'limiter.reserve(limits', { client })
        await waitFor('the settlement', async () => String(await charged('{org:7}')) === '4200,0')

        class TooManyRequests extends Error {}
        const names = { client, TooManyRequests }
        const complete = await page('../../../docs/language-models.md', 'function* complete', names, '\nreturn complete')
        const prompt = { tokens: 100 }
        const model = {
          async *stream() {
            for (let i = 0; i < 30; i++) yield { tokens: 10 }
          },
        }
        const { signal } = new AbortController()
        let parts = 0
        for await (const part of complete(model, prompt, 1000, signal)) parts += part.tokens / 10
        assert.equal(parts, 30)
        await waitFor('the settlement', async () => String(await charged('{acme}')) === '400,0')
        // The caller hangs up: it leaves the loop, or its signal is aborted.
        for await (const part of complete(model, prompt, 1000, signal)) if (part) break
        await waitFor('the settlement', async () => String(await charged('{acme}')) === '510,0')
        const controller = new AbortController()
        const stream = complete(model, prompt, 1000, controller.signal)
        await stream.next()
        controller.abort()
        await waitFor('the settlement', async () => String(await charged('{acme}')) === '620,0')
        await stream.return()
        await assert.rejects(complete(model, prompt, 9000, signal).next(), TooManyRequests)
        assert.deepEqual(await charged('{acme}'), [620, 0])
      } finally {
        close()
      }
    })

    test('a settlement, and a reservation, whose reply is lost', async () => {
      for (const [word, failOpen, expected] of [
        ['RL.SETTLE', false, [1, 450, 450, 0]],
        ['RL.MULTI', true, [1, 450, 450, 0]],
        ['RL.MULTI', false, [0, 0, 0, 0]],
      ]) {
        const address = await startLosing(server.port, word, 1)
        const { client, close } = CLIENTS.ioredis(address.port)
        const { limits, becomes } = calls()
        try {
          const limiter = new Limiter({ client, timeout: 30_000, failOpen, logger: quiet })
          const reserving = limiter.reserve(limits(300), '1h')
          if (word === 'RL.MULTI' && !failOpen) await assert.rejects(reserving, { status: 503 })
          else await (await reserving).settle(450)
          await becomes(...expected)
          assert.equal(address.lost, 1)
        } finally {
          close()
          address.stop()
        }
      }
    })

    test('a server that is away', async () => {
      const address = await startForwarder(1)
      const { client, close } = CLIENTS.ioredis(address.port)
      const { limits } = calls()
      try {
        const limiter = new Limiter({ client, failOpen: true, logger: quiet })
        for (let i = 0; i < 10; i++) (await limiter.reserve(limits(1), '1s')).close()
        assert.equal(limiter.counters.failedOpen, 10)
        const lease = await limiter.reserve(limits(1, '100ms'), '1s')
        await sleep(200)
        assert.deepEqual([lease.isLost, limiter.counters.leasesLost], [false, 0]) // it may never have had one
        const closed = new Limiter({ client, logger: quiet })
        await assert.rejects(closed.reserve(limits(1), '1s'), { status: 503 })
      } finally {
        close()
        address.stop()
      }
    })
  })
}

const ioCluster = (nodes) => new Cluster(nodes, { retryDelayOnFailover: 0 })

describe('reservations in a cluster', () => {
  let cluster
  before(async () => (cluster = await startCluster(servers.at(-1))))
  after(() => cluster?.stop())

  for (const name of ['redis', 'ioredis']) {
    test(name, async () => {
      const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
      const client =
        name === 'redis' ? createCluster({ rootNodes: nodes.map((socket) => ({ socket })) }) : ioCluster(nodes)
      if (name === 'redis') await client.connect()
      try {
        const limiter = new Limiter({ client, timeout: 30_000 })
        for (const tag of ['a', 'b', 'c']) {
          const limits = [
            ['COUNTER', `{${name}${tag}}:tokens`, '1d', 100, 'COST', 60],
            ['LEASE', `{${name}${tag}}:calls`, '1h', 1],
          ]
          const reservation = await limiter.reserve(limits, '1h')
          assert.ok(reservation.allowed)
          assert.equal((await limiter.reserve(limits, '1h')).allowed, false)
          await reservation.settle(40)
          await (await limiter.reserve(limits, '1h')).cancel()
        }
      } finally {
        if (name === 'redis') client.destroy()
        else client.disconnect()
      }
    })
  }
})

/** An address in front of a server. The replies to the first calls with this word are lost with their connections. */
async function startLosing(port, word, times) {
  const sockets = new Set()
  const losing = { lost: 0 }
  const listener = net.createServer((client) => {
    const upstream = net.connect(port, '127.0.0.1')
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
    upstream.pipe(client)
    client.on('data', (data) => {
      upstream.write(data)
      if (losing.lost < times && data.includes(word)) {
        losing.lost += 1
        upstream.unpipe(client)
        upstream.once('data', () => client.destroy()).resume()
      }
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  losing.port = listener.address().port
  losing.stop = () => {
    listener.close()
    for (const socket of sockets) socket.destroy()
  }
  return losing
}
