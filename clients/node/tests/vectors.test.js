// The tables that all clients share.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { TimeoutError } from 'redis'
import { Breaker } from '../dist/breaker.js'
import { command, scripted } from '../dist/call.js'
import { decided, decisions } from '../dist/decision.js'
import { isUnavailable, kind } from '../dist/errors.js'
import { Limiter, Policy, addressKey } from '../dist/index.js'
import { slot } from '../dist/keys.js'

const read = (name) => JSON.parse(readFileSync(new URL(`../../../vectors/${name}.json`, import.meta.url), 'utf8'))
const { algorithms } = read('capabilities')

test('the breaker of vectors/breaker.json', () => {
  for (const { name, timeout = 100, steps } of read('breaker').cases) {
    const breaker = new Breaker(timeout)
    for (const [now, event, state, sent] of steps) {
      let found = null
      if (event === 'request') found = breaker.request(now) ? 'command' : null
      else if (event === 'reply') breaker.reply()
      else if (event === 'timeout') breaker.timedOut(now)
      else assert.equal((breaker.broken(), event), 'broken')
      assert.deepEqual([breaker.isOpen ? 'open' : 'closed', found], [state, sent], `${name}: ${now} ${event}`)
    }
  }
})

test('the keys and addresses of vectors/keys.json', () => {
  const { clients, addresses } = read('keys')
  for (const [prefix, name, who, key] of clients) {
    const policy = { 'token:60000ms': 'TOKEN 1m 60', 'fixed:month': 'FIXED month 60' }[name] ?? `TOKEN 1m 60 AS ${name}`
    assert.equal(new Limiter({ client: async () => [], prefix }).key(policy, who), key)
  }
  for (const [address, key] of addresses) assert.equal(addressKey(address), key)
})

test('the error replies of vectors/errors.json, and errors without a reply', () => {
  const { cannot_decide, faults } = read('errors')
  for (const [error, isAway, name] of [
    ...cannot_decide.map((text) => [new Error(text), true, text.split(' ')[0]]),
    ...faults.map((text) => [new Error(text), false, text.split(' ')[0]]),
    ...[new Error('Socket closed unexpectedly'), new AggregateError([])].map((error) => [error, true, 'connection']),
    ...[new Error('Command timed out'), new TimeoutError()].map((error) => [error, true, 'timeout']),
    [new TypeError('x is undefined'), false, 'bug'],
  ]) {
    assert.deepEqual([isUnavailable(error), kind(error)], [isAway, name], String(error))
  }
})

/** The call that these words of a command are. */
function callOf([command, ...words]) {
  const verb = command.slice(3)
  const limit = (algorithm, key, rest) => ({ policy: { algorithm }, key, words: rest })
  if (verb === 'MULTI' || verb === 'SHARE') {
    const [count, ...rest] = words.slice(0, -1)
    const begins = rest.flatMap((word, at) => (/^[A-Z]{4,}$/.test(word) && algorithms[word] ? [at] : []))
    assert.equal(begins.length, Number(count))
    const parts = begins.map((at, i) => rest.slice(at, begins[i + 1]))
    return { verb, limits: parts.map(([algorithm, key, ...own]) => limit(algorithm, key, own)) }
  }
  if (verb === 'RENEW' || verb === 'RELEASE') return { verb, limits: [limit('LEASE', words[0], words.slice(1))] }
  if (['PEEK', 'REFUND', 'SETTLE', 'RESET'].includes(verb)) return { verb, limits: [limit(words[0], words[1], words.slice(2))] }
  return { verb: 'CHECK', limits: [limit(verb, words[0], words.slice(1))] }
}

test('the calls of vectors/scripts.json', () => {
  let compared = 0
  for (const { command: words, script, keys, argv, cluster, error } of read('scripts').calls) {
    // The keys of a limiter have a hash tag, and several limits ask for LINE.
    if (cluster || error || (words[0] === 'RL.MULTI' && words.at(-1) !== 'LINE')) continue
    const call = callOf(words)
    assert.deepEqual(command(call), words)
    const made = scripted(call)
    assert.deepEqual(made.words, [String(keys.length), ...keys, ...argv], String(words))
    const end = typeof script === 'string' ? `return run('${script}')\n` : ''
    const files = typeof script === 'string' ? [] : [...script, 'several']
    assert.ok(made.source.endsWith(end))
    for (const file of files) assert.ok(made.source.includes(readFileSync(new URL(`../../../lua/${file}.lua`, import.meta.url), 'utf8')))
    compared += 1
  }
  assert.ok(compared > 40, `${compared}`)
})

test('the replies of vectors/algorithms.json, and their headers', () => {
  const { about, ...tables } = read('algorithms')
  for (const [name, calls] of Object.entries(tables)) {
    for (const { call, reply } of calls) {
      const found = /^RL\.(?:PEEK )?(\w+) k 1m 5 COST (\d+)( PARTIAL)? LINE$/.exec(call)
      if (!found) continue
      const [first, count, , limit, remaining, retry, next, reset, delay, at, , charged] = reply.split(' ').map(Number)
      const asked = { policy: Policy.of(`${name} 1m 5`), cost: Number(found[2]), words: found[3] ? ['PARTIAL'] : [] }
      const decision = decided(reply, asked)
      const wait = (ms) => (ms < 0 ? undefined : ms)
      assert.deepEqual(
        [decision.count, decision.limit, decision.remaining, decision.retryAfterMs, decision.nextMs, decision.resetMs, decision.delayMs, decision.charged],
        [count, limit, remaining, wait(retry), wait(next), wait(reset), delay, charged],
      )
      assert.equal(decision.allowed, found[3] && found[2] === '0' ? retry === 0 : first > 0, call)
      const headers = decision.headers()
      assert.equal(headers['X-RateLimit-Remaining'], String(remaining))
      assert.equal(headers['Retry-After'], decision.allowed || retry < 0 ? undefined : String(Math.ceil(retry / 1000)))
      assert.equal(headers['X-RateLimit-Reset'], reset < 0 ? undefined : String(Math.ceil((at + reset) / 1000)))
      assert.deepEqual(decisions('CHECK', Number(decision.allowed), [decision]).headers(), headers)
    }
  }
  assert.throws(() => decided('1 2 3', { policy: Policy.of('TOKEN 1m 5'), cost: 1, words: [] }), /twelve figures/)
})

test('the options of vectors/capabilities.json, and what is wrong with a policy', () => {
  const takes = (text) => {
    try {
      return Boolean(Policy.of(text))
    } catch (error) {
      assert.equal(error.name, 'TypeError', error)
      return false
    }
  }
  for (const [algorithm, can] of Object.entries(algorithms)) {
    const found = {
      burst: takes(`${algorithm} 1m 5 BURST 2`),
      anchor: takes(`${algorithm} 1m 5 ANCHOR 0`),
      calendar: takes(`${algorithm} month 5`),
      lock: takes(`${algorithm} 1m 5 BLOCK 1m MAX 1d`),
    }
    assert.deepEqual(found, { burst: can.burst, anchor: can.anchor, calendar: can.anchor, lock: can.lock }, algorithm)
  }
  for (const [text, error] of [
    ['TOKEN 1m', /policy: expected an algorithm, a window and a limit/],
    ['TOKN 1m 5', /algorithm: expected one of FIXED,/],
    ['TOKEN 1x 5', /window: expected a positive integer of seconds/],
    ['TOKEN 1m 9007199254740992', /limit: /],
    ['FIXED 1m 5 BURST 2', /burst: FIXED takes ANCHOR, AS, SHADOW/],
    ['TOKEN 1m 5 BURST', /after BURST: expected a value/],
    ['TOKEN 1m 5 BURST 2 burst 3', /BURST is given twice/],
    ['TOKEN 1m 5 BURST 0', /burst: expected an integer from 1/],
    ['TOKEN 1m 5 COST 2', /cost: TOKEN takes BURST, AS, SHADOW/],
    ['TOKEN 1m 5 AS a:b', /name: /],
    ['LOCKOUT 1m 5 BLOCK 2m MAX 1m', /max: expected no less than block/],
  ]) {
    assert.throws(() => Policy.of(text), (thrown) => thrown.name === 'TypeError' && error.test(thrown.message) || assert.fail(thrown))
  }
  assert.equal(Policy.of(Policy.of('FIXED month 5 ANCHOR 7')).keys, 'fixed:month:7:')
})

test('the length of a calendar window', () => {
  const DAY = 86_400_000
  for (const [policy, at, days] of [
    ['FIXED month 5', Date.UTC(2028, 1, 29), 29],
    ['FIXED month 5', Date.UTC(2027, 0, 31, 23, 59), 31],
    ['FIXED year 5', Date.UTC(2028, 11, 31), 366],
    // From 31 January on: to the last day of February.
    [`FIXED month 5 ANCHOR ${Date.UTC(2026, 0, 31) / 1000}`, Date.UTC(2026, 1, 1), 28],
    [`FIXED month 5 ANCHOR ${Date.UTC(2026, 0, 31, 12) / 1000}`, Date.UTC(2026, 1, 28, 11), 28],
    ['FIXED week 5', Date.UTC(2026, 0, 1), 7],
  ]) {
    assert.equal(Policy.of(policy).windowAt(at), days * DAY, policy)
  }
})

test('the slot of a key', () => {
  // As CLUSTER KEYSLOT replies.
  for (const [key, expected] of [['123456789', 12739], ['{user}:x', 5474], ['', 0], ['{}x', 10595], ['é', 10180]]) {
    assert.equal(slot(key), expected, key)
  }
})
