/**
 * The text of a key: a prefix by which scanners know it, the id of its record, and the secret itself. The
 * store has a hash of this text and nothing else of it. One round of SHA-256 is enough, since nobody
 * guesses 256 random bits.
 *
 * @module
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Without characters at which a double click ends. */
const KEY = /^hk_([0-9a-z]{10})_[0-9A-Za-z]{43}$/

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const ID_DIGIT_COUNT = 10
const SECRET_BYTES = 32
/** What 256 bits need with 62 digits. */
const SECRET_DIGIT_COUNT = 43

export function makeKeyId(): string {
  return inDigits(randomBytes(8), 36, ID_DIGIT_COUNT)
}

/** The text of a key, with a new secret. */
export function makeKeyText(id: string): string {
  return `hk_${id}_${inDigits(randomBytes(SECRET_BYTES), DIGITS.length, SECRET_DIGIT_COUNT)}`
}

/** The id that stands in the text of a key; undefined for any other text. */
export function keyIdOf(text: string): string | undefined {
  return KEY.exec(text)?.[1]
}

export function keyHash(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Compares in a time that does not depend on what is there. */
export function isSameHash(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(a, b)
}

function inDigits(bytes: Buffer, base: number, digitCount: number): string {
  let left = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < digitCount; i++) {
    text = DIGITS[Number(left % BigInt(base))] + text
    left /= BigInt(base)
  }
  return text
}
