// @ts-check
// A caller must not decide how long a key is, nor that it is one of the module's own: vectors/keys.json.
import { createHash } from 'node:crypto'

const LONGEST = 256
const SHOWN = 32
/** What ends so is replaced too, however long it is, so that no value has the key of another. */
const REPLACED = /~[0-9a-f]{64}$/
/** Reservations have such keys. */
const RESERVED = /:reserved(:ends)?$/

/** Where more is to be looked at. */
const SPECIAL = /[{~]|:reserved(:ends)?$/

/** @param {string} text */
function value(text, always = false) {
  const bytes = Buffer.from(text)
  if (!always && bytes.length <= LONGEST && !REPLACED.test(text)) return text
  let end = Math.min(SHOWN, bytes.length)
  // A character of UTF-8 stays whole: only its first byte does not begin with the bits 10.
  while (end > SHOWN - 3 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}~${createHash('sha256').update(bytes).digest('hex')}`
}

/**
 * The hash tag of a key stays one: it decides the slot.
 * @param {string} key
 * @returns {[string, string, string] | undefined} what is before the tag, the tag, and what is after it
 */
export function tagged(key) {
  const open = key.indexOf('{')
  const close = key.indexOf('}', open + 1)
  if (open >= 0 && close > open + 1) return [key.slice(0, open), key.slice(open + 1, close), key.slice(close + 1)]
}

/**
 * The prefix, and the key within the bounds.
 * @param {string} key
 */
export function bounded(key, prefix = '') {
  // Most keys are short and plain. A character is 3 bytes at most here, or half of one with 4.
  if (key.length <= LONGEST / 4 && !SPECIAL.test(prefix + key)) return prefix + key
  const isReserved = RESERVED.test(prefix + key)
  const parts = tagged(key)
  if (!parts) return prefix + value(key, isReserved)
  return `${prefix}${value(parts[0])}{${value(parts[1])}}${value(parts[2], isReserved)}`
}

/**
 * The slot of a key in a cluster: CRC16 (XMODEM).
 * @param {string} key
 */
export function slot(key) {
  let crc = 0
  for (const byte of Buffer.from(tagged(key)?.[1] ?? key)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc % 16384
}
