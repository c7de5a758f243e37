// What the store accepts, and which errors mean what. No server is needed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import * as ioredis from 'ioredis'
import * as ioredis5 from 'ioredis5'
import { Limiter, RedisRlStore, isUnavailable } from '../index.js'
import { kind } from '../guard.js'

const client = async () => []

test('wrong options are a TypeError that names the option', () => {
  for (const [options, text] of [
    [undefined, /expected an object of options/],
    [{}, /^TypeError: client: expected a client of redis or ioredis/],
    [{ client: {} }, /^TypeError: client: expected/],
    [{ client, algoritm: 'TOKEN' }, /^TypeError: algoritm: there is no such option; expected client, algorithm,/],
    [{ client, algorithm: 'LEASE' }, /^TypeError: algorithm: expected one of FIXED,/],
    [{ client, algorithm: 'token' }, /^TypeError: algorithm: /],
    [{ client, timeout: '1s' }, /^TypeError: timeout: expected an integer of milliseconds/],
    [{ client, timeout: 0 }, /^TypeError: timeout: /],
    [{ client, algorithm: 'TOKEN', burst: -1 }, /^TypeError: burst: expected an integer from 1/],
    [{ client, algorithm: 'TOKEN', burst: 1.5 }, /^TypeError: burst: /],
    [{ client, algorithm: 'FIXED', burst: 5 }, /^TypeError: burst: FIXED takes none/],
    [{ client, burst: 5 }, /^TypeError: burst: FIXED takes none/],
    [{ client, prefix: 7 }, /^TypeError: prefix: expected a text/],
    [{ client, prefix: 'x'.repeat(257) }, /^TypeError: prefix: /],
    [{ client, failOpen: 'yes' }, /^TypeError: failOpen: expected true or false/],
    [{ client, secret: '' }, /^TypeError: secret: /],
    [{ client, onError: 1 }, /^TypeError: onError: expected a function/],
  ]) {
    assert.throws(() => new RedisRlStore(options), (error) => text.test(String(error)) || assert.fail(String(error)))
  }
  const all = { client, algorithm: 'GCRA', burst: 5, prefix: '', timeout: 1, failOpen: true, secret: 's', onError() {} }
  new RedisRlStore(all)
  new RedisRlStore({ client, algorithm: undefined, burst: undefined })
})

test('a window that is no integer of milliseconds is named', () => {
  for (const windowMs of [0, -1, 1.5, NaN, undefined]) {
    const store = new RedisRlStore({ client })
    assert.throws(() => store.init({ windowMs, limit: 5 }), /windowMs: expected a positive integer/)
  }
})

test('which errors mean that the server cannot decide', () => {
  const reply = (text) => Object.assign(new Error(text), { name: 'ReplyError' })
  for (const text of [
    'LOADING Redis is loading the dataset in memory',
    'READONLY You cannot write against a read only replica.',
    'CLUSTERDOWN The cluster is down',
    'MASTERDOWN Link with MASTER is down',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'NOREPLICAS Not enough good replicas to write.',
    'BUSY Redis is busy running a script.',
    'MISCONF Redis is configured to save RDB snapshots',
    'OOM command not allowed',
    'ERR max number of clients reached',
  ]) {
    assert.equal(isUnavailable(reply(text)), true, text)
    assert.equal(kind(reply(text)), text.split(' ')[0])
  }
  for (const text of [
    "ERR unknown command 'RL.TOKEN'",
    'ERR invalid window',
    'WRONGTYPE Operation against a key',
    'NOPERM No permissions to access a key',
    'NOAUTH Authentication required.',
    'WRONGPASS invalid username-password pair',
    'CROSSSLOT Keys in request',
  ]) {
    assert.equal(isUnavailable(reply(text)), false, text)
  }
  const broken = [new Error('Socket closed unexpectedly'), new Error('Connection is closed.'), new AggregateError([])]
  for (const error of broken) {
    assert.deepEqual([isUnavailable(error), kind(error)], [true, 'connection'])
  }
  assert.deepEqual([isUnavailable(new TypeError('x is undefined')), kind(new TypeError('x'))], [false, 'bug'])
})

test('a Cluster of ioredis that sends a command again is a TypeError', () => {
  for (const { Cluster } of [ioredis, ioredis5]) {
    for (const [options, accepted] of [
      [{}, false],
      [{ retryDelayOnFailover: 100 }, false],
      [{ retryDelayOnFailover: 0 }, true],
    ]) {
      const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true, ...options })
      for (const Type of [RedisRlStore, Limiter]) {
        if (accepted) new Type({ client })
        else assert.throws(() => new Type({ client }), /^TypeError: client: .* retryDelayOnFailover: 0$/)
      }
    }
  }
})

test('a delay that is longer than a timer of Node.js', () => {
  const code = `
    import { RedisRlStore } from '../index.js'
    const client = async () => ['allowed', 1, 'remaining', 0, 'reset_ms', 1, 'delay_ms', 2 ** 31]
    const store = new RedisRlStore({ client, algorithm: 'LEAKY' })
    store.init({ windowMs: 1000, limit: 1 })
    store.increment('k').then(() => process.exit(1))
    setTimeout(() => process.exit(7), 100)`
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: new URL('.', import.meta.url),
  })
  assert.equal(status, 7)
})

test('many stores add one listener to their client', () => {
  const client = Object.assign(new EventEmitter(), { sendCommand: async () => [] })
  for (let i = 0; i < 20; i++) new RedisRlStore({ client, prefix: `${i}:` })
  assert.deepEqual([client.listenerCount('error'), client.listenerCount('ready')], [1, 1])
})
