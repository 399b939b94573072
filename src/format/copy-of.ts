/**
 * Copies of pieces that lie in shared memory, whose memory is used again.
 *
 * @module
 */

/** V8 copies shared memory by words only if both ends have the same offset within a word. */
export function copyOf(piece: Uint8Array): Uint8Array {
  const skew = piece.byteOffset % WORD_BYTES
  const copy = Buffer.allocUnsafeSlow(skew + piece.length).subarray(skew)
  copy.set(piece)
  return copy
}

const WORD_BYTES = 8
