// @ts-check
// What the options of a store and of a limiter accept.

/** @typedef {[expected: string, accepts: (value: any) => boolean]} Accepted */

/** @type {(expected: string, isAccepted: (value: any) => boolean) => Accepted} */
export const accepts = (expected, isAccepted) => [expected, isAccepted]

/** @param {string[]} values */
export const oneOf = (values) => accepts(`one of ${values.join(', ')}`, (value) => values.includes(value))

/** @type {(least: number, most: number, unit?: string) => Accepted} */
export const integer = (least, most, unit = '') =>
  accepts(
    `an integer ${unit}from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && value >= least && value <= most,
  )

/** @type {Record<string, number>} */
const UNITS = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * The milliseconds of a window as the module writes it.
 * @param {string | number} window
 */
export function milliseconds(window) {
  const found = /^([1-9][0-9]*)(|ms|s|m|h|d)$/.exec(String(window))
  if (!found) throw new TypeError('ttl or window: expected a positive integer of seconds, or one with ms, s, m, h or d')
  return Number(found[1]) * UNITS[found[2]]
}

/** @type {Record<string, Accepted>} */
const COMMON = {
  // client.js says what it accepts.
  client: accepts('', () => true),
  timeout: integer(1, 3_600_000, 'of milliseconds '),
  failOpen: accepts('true or false', (value) => typeof value === 'boolean'),
  module: oneOf(['required']),
  onError: accepts('a function', (value) => typeof value === 'function'),
}

/** @type {(options: any, own: Record<string, Accepted>) => void} */
export function validate(options, own) {
  if (typeof options !== 'object' || options === null) throw new TypeError('expected an object of options')
  const all = { ...COMMON, ...own }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(all, name)) {
      throw new TypeError(`${name}: there is no such option; expected ${Object.keys(all).join(', ')}`)
    }
    const [expected, isAccepted] = all[name]
    if (value !== undefined && !isAccepted(value)) throw new TypeError(`${name}: expected ${expected}`)
  }
}
