/**
 * Which texts are taken as numbers. A number is kept byte for byte, so this only looks.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { RejectReason } from './rejects.js'

const SPACE = 0x20
const DELETE = 0x7f
const EQUALS = 0x3d
const AT = 0x40

const decoder = new TextDecoder()

/** Why `[start, end)` is not a number, or undefined. The bytes are UTF-8. */
export function numberFault(
  bytes: Uint8Array,
  start: number,
  end: number,
): RejectReason | undefined {
  if (isBlank(bytes, start, end)) return 'NumberEmpty'
  if (end - start > limits.numberBytes) return 'NumberTooLong'
  let isAscii = true
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte < SPACE || byte === DELETE) return 'NumberUnprintable'
    if (byte > DELETE) isAscii = false
  }
  if (!isAscii && /\p{Cc}/u.test(decoder.decode(bytes.subarray(start, end)))) {
    return 'NumberUnprintable'
  }
  if (bytes[start] === EQUALS || bytes[start] === AT) return 'NumberFormula'
  return undefined
}

/** Whether there is nothing but white space, of Unicode too, in `[start, end)`. */
export function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (at < end && (bytes[at] === SPACE || (bytes[at] >= 0x09 && bytes[at] <= 0x0d))) at++
  if (at === end) return true
  if (bytes[at] <= DELETE) return false
  return decoder.decode(bytes.subarray(at, end)).trim() === ''
}
