/**
 * Copies many short texts, some at random: the slowest part of building a shard.
 *
 * @module
 */

/** Room that `copyTexts` needs behind the last text that it copies. */
export const COPY_SLACK_BYTES = 16

/** Texts that lie end to end: text `i` is at [offsets[i], offsets[i + 1]). */
interface Texts {
  readonly bytes: Uint8Array
  readonly offsets: Uint32Array
}

/**
 * Puts texts `order[0]`, `order[1]`, … of `from` end to end into `into`; what is within
 * `COPY_SLACK_BYTES` behind the last of them is written over.
 *
 * Every text is copied as if it had 16 bytes, and the next one written over what was too much: a
 * loop to the end of each text is mispredicted each time, and holds up the reads of the next ones.
 * The bytes go by doubles, which is the widest that DataView has. A double that is not a number
 * could change on the way, but would have 0x7f or 0xff behind 0xf0 or more: never so in UTF-8.
 */
export function copyTexts(from: Texts, order: Uint16Array | Uint32Array, into: Texts): void {
  const { bytes: fromBytes, offsets: fromOffsets } = from
  const { bytes: intoBytes, offsets: intoOffsets } = into
  const fromView = viewOf(fromBytes)
  const intoView = viewOf(intoBytes)
  const wideEnd = fromBytes.length - COPY_SLACK_BYTES
  let put = 0
  for (let index = 0; index < order.length; index++) {
    const text = order[index]
    const start = fromOffsets[text]
    const end = fromOffsets[text + 1]
    let at = start
    if (start <= wideEnd) {
      intoView.setFloat64(put, fromView.getFloat64(start, true), true)
      intoView.setFloat64(put + 8, fromView.getFloat64(start + 8, true), true)
      at += COPY_SLACK_BYTES
    }
    for (; at < end; at++) intoBytes[put + at - start] = fromBytes[at]
    put += end - start
    intoOffsets[index + 1] = put
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
