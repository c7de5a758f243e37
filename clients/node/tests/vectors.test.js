// The tables that all clients share.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Breaker } from '../breaker.js'
import { isUnavailable, kind } from '../guard.js'
import { Limiter, RedisRlStore } from '../index.js'
import { bounded, slot } from '../keys.js'
import { Scripts } from '../scripts.js'

const read = (name) => JSON.parse(readFileSync(new URL(`../../../vectors/${name}.json`, import.meta.url), 'utf8'))

test('the breaker of vectors/breaker.json', () => {
  const { settings, cases } = read('breaker')
  for (const { name, timer = true, settings: { silence, timeout } = settings, steps } of cases) {
    if (!timer) continue
    const breaker = new Breaker(silence, timeout)
    const waiting = []
    for (const [now, event, state, sent] of steps) {
      const found = []
      if (event === 'request') {
        const command = breaker.request(now)
        if (command) {
          waiting.push(command)
          found.push('command')
        }
      } else if (event === 'leave') breaker.leave(waiting.find((command) => !command.left))
      else if (event === 'reply') breaker.reply(waiting.shift(), now)
      else if (event === 'pong') breaker.pong(now)
      else if (event === 'connect_failed') breaker.connectFailed(now)
      else assert.equal(event, 'time')
      if (event === 'time' || event === 'connect_failed') found.push(...[breaker.time(now)].filter(Boolean))
      assert.deepEqual([breaker.state, found], [state, sent], `${name}: ${now} ${event}`)
      assert.ok(breaker.due > now, `${name}: ${now}: something is left to do`)
    }
  }
})

test('the bounds of keys of vectors/keys.json', () => {
  const { values, keys } = read('keys')
  // A value that has no hash tag, and does not end as a reservation, is a key.
  const plain = values.filter(([value]) => !/[{}]|:reserved$/.test(value))
  for (const [key, expected] of [...keys, ...plain]) assert.equal(bounded(key), expected)
  // With a prefix, the rest is bounded; but the module sees the whole key.
  for (const [key, expected] of keys) assert.equal(bounded(key, 'app-'), `app-${expected}`)
  const different = new Set(keys.flat())
  assert.equal(new Set([...different].map((key) => bounded(key))).size, different.size)
  assert.match(bounded('reserved', 'app:'), /^app:reserved~[0-9a-f]{64}$/)
  assert.match(bounded('ends', 'app:reserved:'), /^app:reserved:ends~[0-9a-f]{64}$/)
})

test('the error replies of vectors/errors.json', () => {
  const { cannot_decide, faults } = read('errors')
  for (const text of [...cannot_decide, ...faults]) {
    const found = [isUnavailable(new Error(text)), kind(new Error(text))]
    assert.deepEqual(found, [cannot_decide.includes(text), text.split(' ')[0]], text)
  }
})

const { about, ...algorithms } = read('algorithms')
const calls = Object.values(algorithms).flat()

/** How the words of a reservation differ from those of vectors/algorithms.json. */
const DIFFERENCES = [
  [/^RL\.([A-Z]+) (.* (?:RESERVE|ID) .*) LINE$/, 'RL.MULTI 1 $1 $2 HEADERS'],
  [/( RESERVE \w+ \d+) /, '$1000ms '],
  [/^(RL\.SETTLE .*) LINE$/, '$1'],
]

test('the words of reservations of vectors/algorithms.json', async () => {
  const sent = []
  const client = async (_key, _readOnly, words) => {
    sent.push(words.join(' '))
    return words[0] === 'RL.MULTI' ? [1, [[1, 0, 1]], []] : 1
  }
  const limiter = new Limiter({ client })
  const differ = new Set()
  for (const { call } of calls) {
    const [command, ...words] = call.split(' ')
    const after = (word) => words[words.indexOf(word) + 1]
    sent.length = 0
    if (command === 'RL.LEASE') await limiter.reserve([['LEASE', ...words.slice(0, 3)]], 60, { id: after('ID') })
    else if (command === 'RL.RELEASE') {
      await (await limiter.reserve([['LEASE', words[0], '30s', 2]], 60, { id: words[1] })).cancel()
      sent.shift()
    } else if (words.includes('RESERVE')) {
      const [id, ttl] = words.slice(words.indexOf('RESERVE') + 1)
      await limiter.reserve([[command.slice(3), ...words.slice(0, 3), 'COST', after('COST')]], ttl, { id })
    } else if (words.includes('RESERVATION')) {
      const limit = [...words.slice(0, 4), 'COST', 1]
      await (await limiter.reserve([limit], 60, { id: after('RESERVATION') })).settle(Number(after('ACTUAL')))
      sent.shift()
    } else continue
    const expected = DIFFERENCES.reduce((text, [difference, ours]) => {
      if (difference.test(text)) differ.add(difference)
      return text.replace(difference, ours)
    }, call)
    assert.deepEqual(sent, [expected])
  }
  assert.equal(differ.size, DIFFERENCES.length, 'a difference is gone')
})

test('the replies to requests of vectors/algorithms.json', async () => {
  for (const { call, reply } of calls) {
    const [, algorithm] = /^RL\.(\w+) k 1m 5 COST \d+ LINE$/.exec(call) ?? []
    if (!algorithm) continue
    const figures = reply.split(' ').map(Number)
    figures[8] = 0 // LEAKY would hold the request
    const store = new RedisRlStore({ client: async () => figures.join(' '), algorithm })
    store.init({ windowMs: 60_000, limit: 5 })
    const { totalHits, resetTime } = await store.increment('k')
    const [allowed, count, , , remaining, retryAfter, next] = figures
    assert.equal(totalHits <= 5, allowed === 1, call)
    if (allowed) assert.equal(totalHits, Math.max(algorithm === 'FIXED' ? count : 5 - remaining, 1), call)
    const wait = allowed ? next : retryAfter
    if (wait < 0) assert.equal(resetTime, undefined)
    else assert.ok(Math.abs(resetTime - Date.now() - wait) < 10_000, call)
    const later = (await store.get('k'))?.resetTime
    assert.ok(count === 0 ? later === undefined : Math.abs(later - Date.now() - next) < 10_000, call)
  }
})

test('the calls of vectors/scripts.json', (context) => {
  context.mock.timers.enable({ apis: ['Date'] })
  const { calls, clock } = read('scripts_before')
  const window = ['RL.FIXED', 'k', 'month', '5', 'ANCHOR', '60']
  for (const { command, script, keys, argv, now_ms: now = 0, cluster = false, suffixes, error } of calls) {
    context.mock.timers.setTime(now)
    const scripts = new Scripts()
    scripts.isCluster = cluster
    if (suffixes) scripts.learns(`ERR clock ${now} ${suffixes.join(' ')}`, scripts.made(command).windows)
    if (error) assert.throws(() => scripts.made(command), { message: error })
    else {
      const { name, keys: found, args } = scripts.made(command)
      assert.deepEqual([name, found, args], [script, keys, argv], String(command))
    }
  }
  for (const { error, now_ms: now, suffixes } of clock) {
    const scripts = new Scripts()
    assert.ok(scripts.learns(error, suffixes.map((_, at) => `:${at}`)))
    assert.ok(Math.abs(Number(scripts.made(['RL.FIXED', 'k', '1ms', '5']).keys[0].slice(2)) - now) <= 1)
  }
  assert.equal(new Scripts().learns('ERR syntax error', []), false)
  assert.deepEqual(new Scripts().made(window).windows, [':month:60'])
})

test('the slot of a key', () => {
  // As CLUSTER KEYSLOT replies.
  for (const [key, expected] of [['123456789', 12739], ['{user}:x', 5474], ['', 0], ['{}x', 10595], ['é', 10180]]) {
    assert.equal(slot(key), expected, key)
  }
})

/** A limiter whose server replies as vectors/reservations.json says, and what was sent. */
function reserving(given = {}, { count = 0, fail_open: failOpen } = {}) {
  const replies = structuredClone(given)
  const [sent, outcomes] = [[], []]
  const client = async (_key, _readOnly, words) => {
    if (words[0] === 'PING') return 'PONG'
    sent.push(words.join(' ').replace(/[0-9a-f]{8}-[-0-9a-f]{27}/g, 'call-1'))
    const [reply = 1, ...later] = replies[words[0]] ?? []
    if (later.length > 0) replies[words[0]] = later
    if (typeof reply === 'string') throw new Error(reply === 'lost' ? 'Socket closed unexpectedly' : reply)
    return words[0] === 'RL.MULTI' ? [1, Array(Number(words[1])).fill([1, count, 60]), []] : reply
  }
  const onError = (_error, outcome) => {
    outcomes.push(outcome)
    if (given['RL.RENEW']) throw new Error('nobody catches it') // in the background
  }
  const limiter = new Limiter({ client, failOpen, module: 'required', onError, timeout: 30_000, logger: { warn() {}, error() {} } })
  return { limiter, sent, outcomes }
}

const table = read('reservations')

test('a login resets the user after a success, and gives one back to the address', async () => {
  const { limiter, sent } = reserving({ 'RL.REFUND': ['lost'] })
  assert.throws(() => limiter.lockout([['TOKEN', 'k', '1m', 1]]), /^TypeError: policies: expected arrays of 'LOCKOUT'/)
  const user = ['LOCKOUT', 'ann', '1d', 5, 'BLOCK', '1m']
  const login = limiter.lockout([user], [['LOCKOUT', '192.0.2.1', '1d', 50, 'AS', 'max', 'MAX', '2d']])
  assert.equal((await login.check()).allowed, true)
  await login.succeed()
  assert.deepEqual(sent, [
    'RL.MULTI 2 LOCKOUT ann 1d 5 BLOCK 1m LOCKOUT 192.0.2.1 1d 50 AS max MAX 2d HEADERS',
    'RL.RESET LOCKOUT ann 1d',
    'RL.REFUND LOCKOUT 192.0.2.1 1d 50 MAX 2d',
  ])
})

test('the options of vectors/capabilities.json', async () => {
  const { algorithms } = read('capabilities')
  const declared = readFileSync(new URL('../types.d.ts', import.meta.url), 'utf8')
  const union = declared.match(/type Algorithm = (.*)/)[1].match(/[A-Z]+/g)
  const client = async () => []
  const takes = (call) => Promise.resolve().then(call).then(() => true, (error) => error.name !== 'TypeError')
  for (const [algorithm, can] of Object.entries(algorithms)) {
    const store = (options) => takes(() => new RedisRlStore({ client, algorithm, ...options }))
    const found = {
      store: await store({}),
      type: union.includes(algorithm),
      burst: await store({ burst: 5 }),
      lock: await store({ block: '1m', max: '1d' }),
      reserve: await takes(() => reserving().limiter.reserve([[algorithm, 'k', '1m', 5]], '1m')),
    }
    assert.deepEqual(found, { store: can.cost, type: can.cost, burst: can.burst, lock: can.lock, reserve: can.reserve || can.id }, algorithm)
  }
  assert.deepEqual(union.filter((algorithm) => !algorithms[algorithm]), [])
})

describe('vectors/reservations.json', { concurrency: true }, () => {
  const settled = (charged) => [table.release, ...table.settle.map((call, i) => call.replace('%', charged[i]))]

  for (const { name, steps, charged } of table.ends) {
    for (const end of ['close', 'signal', 'using']) {
      test(`${name}; ${end}`, async () => {
        const { limiter, sent } = reserving()
        const controller = new AbortController()
        const options = { id: 'call-1', signal: controller.signal }
        const reservation = await limiter.reserve(table.limits, '1m', options)
        for (const [used, error] of table.wrong_reports) {
          assert.throws(() => reservation.report(used), { name: 'TypeError', message: new RegExp(error) })
        }
        for (const [step, ...words] of steps) await reservation[step](...words)
        if (end === 'signal') controller.abort()
        else if (end === 'using') await reservation[Symbol.asyncDispose]?.()
        reservation.close()
        assert.deepEqual(sent, [table.reserve.join(' '), ...settled(charged)])
        assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
      })
    }
  }

  for (const { name, replies, id, error, settlements, charged, counters, ...options } of table.replies) {
    test(name, async () => {
      const { limiter, sent } = reserving(replies, options)
      const asked = limiter.reserve(table.limits, '1m', { id })
      if (error === 'reserve') await assert.rejects(asked, { status: counters.faults ? 500 : 503 })
      else {
        const settling = (await asked).settle(450)
        await (error ? assert.rejects(settling) : settling)
      }
      const released = () => sent.filter((call) => call === table.release).length
      for (let i = 0; i < 50 && released() < settlements; i += 1) await sleep(20) // in the background
      await sleep(100) // and no more
      assert.equal(released(), settlements)
      if (settlements) assert.deepEqual(sent.slice(-6), settled(charged))
      const named = Object.entries(counters).map(([name, n]) => [name.replace(/_(.)/, (_, c) => c.toUpperCase()), n])
      const none = { allowed: 0, denied: 0, failedOpen: 0, failedClosed: 0, faults: 0, unsettled: 0, leasesLost: 0 }
      const { errors, ...found } = limiter.counters
      assert.deepEqual(found, { ...none, ...Object.fromEntries(named) })
    })
  }

  test('wrong arguments', async () => {
    const words = [undefined, NaN, Infinity, {}, ['k'], 1n, '']
    const own = words.map((key) => ({ policies: [['ROLLING', key, '1m', 60]], error: 'policies: expected' }))
    for (const { policies = [['ROLLING', 'k', '1m', 60]], ttl = '1m', id, error } of [...table.wrong_arguments, ...own]) {
      const { limiter, sent } = reserving()
      await assert.rejects(limiter.reserve(policies, ttl, { id }), { name: 'TypeError', message: new RegExp(error) })
      assert.deepEqual(sent, [])
    }
  })
})

// After those above, since a lease of 300 ms is lost while this process does other work.
describe('the leases of vectors/reservations.json', { concurrency: true }, () => {
  for (const { name, id, count, renew, lost, faults = false } of table.leases) {
    test(`a lease: ${name}`, async () => {
      const { limiter, sent, outcomes } = reserving({ 'RL.RENEW': renew }, { count })
      const reservation = await limiter.reserve([['LEASE', 'k', '1s', 1]], '1m', { id })
      assert.equal(reservation.isLost, false)
      await sleep(2_600)
      assert.equal(reservation.isLost, lost)
      assert.deepEqual([limiter.counters.leasesLost, limiter.counters.faults > 0], [Number(lost), faults])
      assert.deepEqual(new Set(outcomes), new Set([...(faults ? ['faults'] : []), ...(lost ? ['leasesLost'] : [])]))
      assert.ok(sent.slice(1).every((call) => call === 'RL.RENEW k 1s call-1'), String(sent))
      reservation.close()
      assert.deepEqual([reservation.isLost, limiter.counters.leasesLost], [lost, Number(lost)])
    })
  }
})
