// The tables that all clients share.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Breaker } from '../breaker.js'
import { isUnavailable, kind } from '../guard.js'
import { bounded, slot } from '../keys.js'

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

test('the slot of a key', () => {
  // As CLUSTER KEYSLOT replies.
  for (const [key, expected] of [['123456789', 12739], ['{user}:x', 5474], ['', 0], ['{}x', 10595], ['é', 10180]]) {
    assert.equal(slot(key), expected, key)
  }
})
