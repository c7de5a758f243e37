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

/** @type {Record<string, Accepted>} */
const COMMON = {
  // client.js says what it accepts.
  client: accepts('', () => true),
  timeout: integer(1, 3_600_000, 'of milliseconds '),
  failOpen: accepts('true or false', (value) => typeof value === 'boolean'),
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
