// @ts-check
// The commands without the module: the Lua scripts of docs/lua.md, by EVALSHA, and once by EVAL where the server does not
// know one.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { NoModule } from './guard.js'
import { tagged } from './keys.js'
import { milliseconds } from './options.js'

/** The package has the scripts; so has a clone. */
const PLACE = ['./lua/', '../../lua/generated/'].map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url))
/** After how many milliseconds the module is looked for again. */
const AGAIN = 5000
/** How many words follow an option of a limit. */
const OPTIONS = new Map(Object.entries({ COST: 1, BURST: 1, ANCHOR: 1, ID: 1, BLOCK: 1, MAX: 1, AS: 1, SHADOW: 0, RESERVE: 2 }))
const RESERVES = ['FIXED', 'WINDOW', 'COUNTER', 'ROLLING']

/** @type {Map<string, {text: string, sha: string} | undefined>} */
const scripts = new Map()

/** @param {string} name */
function script(name) {
  if (!scripts.has(name)) {
    const file = PLACE && new URL(`${name}.lua`, PLACE)
    const text = file && existsSync(file) ? readFileSync(file, 'utf8') : undefined
    scripts.set(name, text === undefined ? text : { text, sha: createHash('sha1').update(text).digest('hex') })
  }
  return scripts.get(name)
}

export class Scripts {
  /** Whether the server has no module. */
  areUsed = false
  isCluster = false
  #lookedAt = -Infinity
  /** The server's clock less that of this machine. */
  #offset = 0
  /**
   * The suffixes of windows that the server's calendar decides, by their names.
   * @type {Map<string, string[]>}
   */
  #suffixes = new Map()

  /** Whether a command goes to a script. Now and then one goes to the module, which may have been loaded. */
  decide() {
    if (!this.areUsed) return false
    const now = performance.now()
    if (now - this.#lookedAt < AGAIN) return true
    this.#lookedAt = now
    return false
  }

  /** There is no module. Whether that is new. */
  begin() {
    const isNew = !this.areUsed
    this.areUsed = true
    this.#lookedAt = performance.now()
    return isNew
  }

  /**
   * The reply of the script of a command.
   * @param {string[]} words
   * @param {(words: string[]) => Promise<unknown>} send
   * @param {boolean} again whether it may be sent once more with what an error said
   * @returns {Promise<unknown>}
   */
  async run(words, send, again = true) {
    const { name, keys, args, windows } = this.made(words)
    const found = script(name)
    if (!found) throw new NoModule()
    const rest = [String(keys.length), ...keys, ...args]
    try {
      const reply = await send(['EVALSHA', found.sha, ...rest]).catch((error) => {
        if (!/^NOSCRIPT/.test(error?.message)) throw error
        return send(['EVAL', found.text, ...rest])
      })
      const now = args.at(-1) === 'LINE' ? Number(String(reply).split(' ')[9]) : 0
      if (now > 0) this.#offset = now - Date.now()
      return reply
    } catch (error) {
      const text = /** @type {any} */ (error)?.message ?? ''
      if (!again || !(this.learns(text, windows) || (!this.isCluster && /^CROSSSLOT/.test(text)))) throw error
      this.isCluster ||= text.startsWith('CROSSSLOT')
      return this.run(words, send, false)
    }
  }

  /**
   * Whether an error says which windows are meant.
   * @param {string} text
   * @param {string[]} windows
   */
  learns(text, windows) {
    const [, clock, suffixes = ''] = /^ERR clock (\d+)((?: \S+)*)/.exec(text) ?? []
    if (clock === undefined) return false
    this.#offset = Number(clock) - Date.now()
    const each = suffixes.trim().split(' ')
    for (const [at, window] of windows.entries()) this.#suffixes.set(window, each.slice(2 * at, 2 * at + 2))
    return true
  }

  /**
   * The script of a command, what it gets, and the windows of its limits of FIXED.
   * @param {string[]} words
   */
  made(words) {
    const [command, second] = [words[0].slice(3), words[1]]
    /** @type {{name: string, keys: string[], args: string[], windows: string[]}} */
    const call = { name: command.toLowerCase(), keys: [], args: [], windows: [] }
    if (command === 'MULTI') {
      let at = 2
      for (let n = Number(second); n > 0 && at < words.length; n -= 1) {
        const begin = at
        at += 4
        for (let more; (more = OPTIONS.get(words[at]?.toUpperCase())) !== undefined; ) at += 1 + more
        const limit = words.slice(begin, at)
        this.#add(call, limit[0], limit[1], limit[2], limit.slice(4), 'RESERVE')
        call.args.push(limit[0], ...limit.slice(2))
      }
      call.args.push(...words.slice(at))
    } else if (['RENEW', 'RELEASE'].includes(command)) {
      call.keys.push(second)
      call.args.push(...words.slice(2))
    } else {
      const isDecision = !['PEEK', 'REFUND', 'SETTLE', 'RESET'].includes(command)
      const [algorithm, key, ...rest] = isDecision ? [command, ...words.slice(1)] : words.slice(1)
      if (!isDecision) call.name += `_${algorithm.toLowerCase()}`
      const reserves = command === 'RESET' ? '' : command === 'SETTLE' ? 'RESERVATION' : 'RESERVE'
      this.#add(call, algorithm, key, rest[0], rest.slice(command === 'RESET' ? 1 : 2), reserves)
      call.args.push(...rest)
    }
    return call
  }

  /**
   * Adds the keys of a limit.
   * @param {ReturnType<Scripts['made']>} call
   * @param {string} algorithm
   * @param {string} key
   * @param {string} window
   * @param {string[]} options
   * @param {string} reserves the option that names reservations; empty if they are named in any case
   */
  #add(call, algorithm, key, window, options, reserves) {
    const name = algorithm.toUpperCase()
    const option = (/** @type {string} */ wanted) => options.findIndex((word) => word.toUpperCase() === wanted)
    const isReserved = RESERVES.includes(name) && (reserves === '' || option(reserves) >= 0)
    let [named, infix] = [key, '']
    if (this.isCluster && !tagged(key) && (name === 'FIXED' || isReserved)) {
      if (key === '' || key.includes('}')) {
        const what = name === 'FIXED' ? name : 'RESERVE'
        throw new Error(
          `ERR invalid key: in a cluster ${what} needs a key that is not empty and has no brace outside a hash tag`,
        )
      }
      named = `{${key}}`
    }
    if (name === 'FIXED') {
      const isCalendar = /^[a-z]+$/i.test(window)
      const at = option('ANCHOR')
      infix = `:${isCalendar ? window.toLowerCase() : `${milliseconds(window)}ms`}${at < 0 ? '' : `:${options[at + 1]}`}`
      call.windows.push(infix)
      const suffixes = this.#of(infix, isCalendar || at >= 0 ? 0 : milliseconds(window))
      call.keys.push(...suffixes.map((suffix) => named + suffix))
    } else call.keys.push(key)
    if (isReserved) call.keys.push(`${named}${infix}:reserved`, `${named}${infix}:reserved:ends`)
  }

  /**
   * The suffixes of the windows in which a call may be.
   * @param {string} infix
   * @param {number} ms the length of the window; 0 if the server's calendar decides
   */
  #of(infix, ms) {
    if (ms === 0) return this.#suffixes.get(infix) ?? Array(2).fill(`:${infix.split(':')[1]}:0`)
    const now = Date.now() + this.#offset
    const number = Math.floor(now / ms)
    return [`:${number}`, `:${now % ms < ms / 2 ? number - 1 : number + 1}`]
  }
}
