import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RESP_TYPES } from 'redis'
import { Limiter, RateLimitError } from '../index.js'
import { CLUSTERS, SINGLES, close, connected } from './connections.js'
import { servers, startCluster, startForwarder, startServer, waitFor } from './servers.js'

const quiet = { warn() {}, error() {} }
const path = servers.at(-1)
/** Sends nothing again by itself. */
const ioRedis = (port) => {
  const client = SINGLES['ioredis 6'](port, { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
  client.on('error', () => {})
  return client
}

let number = 0

describe('reservations', () => {
  let server, client, limiter, acl
  before(async () => {
    server = await startServer(path)
    client = ioRedis(server.port)
    limiter = new Limiter({ client, timeout: 30_000, logger: quiet })
    acl = (rule) => server.client.call('ACL', 'SETUSER', 'default', rule)
  })
  after(() => {
    client.disconnect()
    return server?.stop()
  })

  /** The limits of a call under keys of its own, and what is counted of them. */
  function calls() {
    const key = `{r${(number += 1)}}`
    const limits = (estimate, lease = '1h') => [
      ['WINDOW', `${key}:requests`, '1d', 10],
      ['ROLLING', `${key}:tokens`, '1d', 1000, 'COST', estimate, 'AS', 'tokens'],
      ['FIXED', `${key}:month`, 'month', 5000, 'ANCHOR', 0, 'COST', estimate, 'AS', 'month'],
      ['LEASE', `${key}:calls`, lease, 2],
    ]
    const sum = async (pattern) => {
      const found = await server.client.keys(key + pattern)
      const values = await Promise.all(found.map((name) => server.client.get(name)))
      return values.reduce((all, value) => all + Number(value), 0)
    }
    const counted = async () => [
      await sum(':requests'),
      (await server.client.call('RL.PEEK', 'ROLLING', `${key}:tokens`, '1d', 1000, 'COST', 0))[1],
      await sum(':month:month:*[0-9]'),
      await server.client.zcard(`${key}:calls`),
    ]
    const becomes = async (...expected) => {
      await waitFor('it', async () => String(await counted()) === String(expected)).catch(() => {})
      assert.deepEqual(await counted(), expected)
    }
    return { key, limits, sum, counted, becomes }
  }

  for (const [name, connect] of Object.entries({
    redis: SINGLES['redis 6'],
    ioredis: ioRedis,
    'redis, numbers as text': (port) =>
      SINGLES['redis 6'](port, { commandOptions: { typeMapping: { [RESP_TYPES.NUMBER]: String } } }),
    'ioredis, numbers as text': (port) => SINGLES['ioredis 6'](port, { stringNumbers: true }),
  })) {
    test(`${name}: it settles once`, async () => {
      const client = await connected(connect(server.port))
      const { key, limits, counted } = calls()
      try {
        const limiter = new Limiter({ client, timeout: 30_000, logger: quiet })
        const reservation = await limiter.reserve(limits(300), '1h')
        assert.ok(reservation.allowed)
        assert.match(reservation.decision.headers['RateLimit-Policy'], /"tokens";q=1000;w=86400/)
        assert.deepEqual(await counted(), [1, 300, 300, 1])
        reservation.report(7)
        await reservation.settle(420)
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
        const short = await limiter.reserve([['LEASE', `${key}:short`, '300ms', 1]], '1h')
        await sleep(700)
        assert.equal(short.isLost, false) // it is renewed
        assert.ok(await server.client.zscore(`${key}:short`, short.id))
        await server.client.del(`${key}:short`)
        await waitFor('the loss', () => short.isLost)
      } finally {
        close(client)
      }
    })
  }

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
        assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
      }
    }
  })

  for (const id of [undefined, 'call-1']) {
    test(`aborted while it waits for the reply, ${id ? 'with' : 'without'} an id that another caller holds`, async () => {
      const { limits, becomes } = calls()
      const first = await limiter.reserve(limits(50), '1h', { id: 'call-1' })
      await server.client.call('CLIENT', 'PAUSE', 60_000, 'WRITE')
      const controller = new AbortController()
      const again = limiter.reserve(limits(50), '1h', { id, signal: controller.signal })
      const rejected = assert.rejects(again, { name: 'AbortError' })
      await sleep(50)
      controller.abort()
      await server.client.call('CLIENT', 'UNPAUSE')
      await rejected
      await sleep(50) // what would cancel the one of another caller has had its time
      await becomes(1, 50, 50, 1)
      await first.settle(60)
      await becomes(1, 60, 60, 0)
    })
  }

  test('what was used of each limit', async () => {
    const { key, sum } = calls()
    // A name that is an option's word, keys that the module does not get as they are, and two limits with one key.
    const [input, output, budget] = ['i'.repeat(300), 'output:reserved', 'budget'].map((name) => `${key}:${name}`)
    const limits = [
      ['WINDOW', `${key}:requests`, '1d', 10, 'AS', 'cost'],
      ['WINDOW', input, '1d', 1000, 'AS', 'cost', 'COST', 100],
      ['WINDOW', output, '1d', 1000, 'COST', 50, 'AS', 'anchor'],
      ['FIXED', budget, 'month', 5000, 'COST', 700],
      ['FIXED', budget, 'year', 5000, 'COST', 700, 'ANCHOR', 0],
      ['LEASE', `${key}:calls`, '1h', 2],
    ]
    const patterns = [':requests', '?' + 'i'.repeat(28) + '*~*', ':output:reserved~*', ':budget:month:*[0-9]', ':budget:year:*[0-9]']
    const counted = () => Promise.all(patterns.map(sum))
    const used = [0, 0, 0, 0, 0]
    for (const [reports, settled, charged] of [
      [[], { [input]: 90, [output]: 20, [budget]: 310 }, [1, 90, 20, 310, 310]],
      [[{ [input]: 90 }, { [output]: 5 }, { [output]: 6 }], 'close', [1, 90, 6, 700, 700]], // the budget's estimate
      [[{ [input]: 1 }], 8, [1, 8, 8, 8, 8]],
      [[{ [input]: 7 }], 'cancel', [0, 0, 0, 0, 0]],
    ]) {
      const reservation = await limiter.reserve(limits, '1h')
      for (const wrong of [`${key}:requests`, `${key}:calls`, 'x']) {
        assert.throws(() => reservation.report({ [wrong]: 1 }), /expected keys of limits with COST/)
      }
      for (const units of [-1, 1.5, '1', null]) {
        assert.throws(() => reservation.report({ [output]: 3, [input]: units }), /at least 0/)
        assert.throws(() => reservation.report(units), /at least 0/)
      }
      for (const report of reports) reservation.report(report)
      if (typeof settled === 'string') await reservation[settled]()
      else await reservation.settle(settled)
      charged.forEach((units, i) => (used[i] += units))
      await waitFor('it', async () => String(await counted()) === String(used)).catch(() => {})
      assert.deepEqual(await counted(), used)
    }
    assert.equal(await server.client.zcard(`${key}:calls`), 0)
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
  })

  for (const how of ['rejected', 'cut']) {
    test(`a lease whose renewal is ${how} is lost when it ends`, async () => {
      const { key } = calls()
      const policies = (key) => [['LEASE', `${key}:calls`, '1s', 1]]
      const address = await startForwarder(server.port)
      const client = ioRedis(address.port)
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
        const faults = outcomes.slice(0, -1)
        assert.deepEqual([lossy.counters.faults, outcomes.at(-1)], [faults.length, 'leasesLost LeaseLost'])
        assert.equal(faults.length > 0, how === 'rejected')
        assert.ok(faults.every((outcome) => outcome === 'faults ReplyError'), String(faults))
        assert.match(String(lines), /a lease is lost: LeaseLost: another holder may have been allowed/)
        assert.equal(settled.isLost, false)
        reservation.close()
        assert.deepEqual([reservation.isLost, lossy.counters.leasesLost], [true, 1])
      } finally {
        await acl('+rl.renew')
        client.disconnect()
        address.stop()
      }
    })
  }

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
        assert.deepEqual(await server.client.zrange(`${key}:calls`, 0, -1), [held.id])
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
    await acl('-rl.settle')
    try {
      await assert.rejects((await rejected.reserve(limits(1), '1h')).settle(1), /NOPERM/)
      ;(await rejected.reserve(limits(1), '1h')).close()
      await waitFor('the settlement', () => rejected.counters.unsettled === 2)
    } finally {
      await acl('+rl.settle')
    }
    assert.equal(rejected.counters.faults, 2)
    assert.deepEqual(outcomes, Array(2).fill('unsettled NOPERM'))
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
    const limit = ['ROLLING', 'k', '1m', 60]
    const words = [undefined, null, NaN, Infinity, {}, ['k'], 1n]
    for (const [expected, policies, ttl, options] of [
      [/TOKEN takes no reservation; expected FIXED/, [['TOKEN', 'k', '1m', 60]], '1h'],
      ...['10x', 0, '', 'month', 1.5].map((ttl) => [/expected a positive integer of seconds/, [limit], ttl]),
      ...[[], [limit.slice(0, 3)], 'ROLLING'].map((policies) => [/policies: expected/, policies, 1]),
      ...words.map((word) => [/TypeError: policies: expected each word to be a string/, [['ROLLING', word, '1m', 60]], 1]),
      [/TypeError: policies: expected a key that is not empty/, [['ROLLING', '', '1m', 60]], 1],
      ...['', 'x'.repeat(129)].map((id) => [/1 to 128/, [limit], 1, { id }]),
    ]) {
      await assert.rejects(limiter.reserve(policies, ttl, options), expected)
    }
  })

  test('the code of the pages', async () => {
    await client.flushall()
    const becomes = (key, units) =>
      waitFor('the settlement', async () => {
        const tokens = await server.client.call('RL.PEEK', 'ROLLING', `${key}:tokens`, '1m', 9000, 'COST', 0)
        return tokens[1] === units && (await server.client.zcard(`${key}:calls`)) === 0
      })
    const page = async (path, words, names, more = '') => {
      const text = await readFile(new URL(path, import.meta.url), 'utf8')
      const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)
      const found = blocks.filter((code) => code.includes(words))
      assert.equal(found.length, 1, path)
      const code = found[0].replace("import { Limiter } from 'rate-limit-redis-rl'\n", '')
      const AsyncFunction = (async () => {}).constructor
      const patient = code.replace('Limiter({ client', 'Limiter({ client, timeout: 30_000')
      return new AsyncFunction('Limiter', ...Object.keys(names), patient + more)(Limiter, ...Object.values(names))
    }
    await page('../README.md', 'limiter.reserve(limits', { client })
    await becomes('{org:7}', 4200)

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
    await becomes('{acme}', 400)
    // The caller hangs up: it leaves the loop, or its signal is aborted.
    for await (const part of complete(model, prompt, 1000, signal)) if (part) break
    await becomes('{acme}', 510)
    const controller = new AbortController()
    const stream = complete(model, prompt, 1000, controller.signal)
    await stream.next()
    controller.abort()
    await becomes('{acme}', 620)
    await stream.return()
    await assert.rejects(complete(model, prompt, 9000, signal).next(), TooManyRequests)
    await becomes('{acme}', 620)
  })

  for (const [word, failOpen, expected] of [
    ['RL.SETTLE', false, [1, 450, 450, 0]],
    ['RL.MULTI', true, [1, 450, 450, 0]],
    ['RL.MULTI', false, [0, 0, 0, 0]],
  ]) {
    test(`a reply to ${word} that is lost, failOpen ${failOpen}`, async () => {
      const address = await startForwarder(server.port, word)
      const client = ioRedis(address.port)
      const { limits, becomes } = calls()
      try {
        const limiter = new Limiter({ client, timeout: 30_000, failOpen, logger: quiet })
        const reserving = limiter.reserve(limits(300), '1h')
        if (word === 'RL.MULTI' && !failOpen) await assert.rejects(reserving, { status: 503 })
        else await (await reserving).settle(450)
        await becomes(...expected)
        assert.equal(address.losing, undefined)
      } finally {
        client.disconnect()
        address.stop()
      }
    })
  }

  test('a server that is away', async () => {
    const address = await startForwarder(1)
    const client = ioRedis(address.port)
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
      client.disconnect()
      address.stop()
    }
  })
})

test('reservations in a cluster', async () => {
  const cluster = await startCluster(path)
  const ports = cluster.nodes.map(({ port }) => port)
  try {
    for (const [name, connect] of Object.entries(CLUSTERS)) {
      const client = await connected(connect(ports))
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
      close(client)
    }
  } finally {
    await cluster.stop()
  }
})
