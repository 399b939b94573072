/**
 * A bit that flips in the memory of a process, as on a machine whose memory is faulty. Needs Linux, and the rights of whoever
 * has started the process.
 *
 * @module
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

const CHUNK_BYTES = 16 * 1_024 * 1_024

/**
 * Flips the last bit of a text, wherever it is in memory that the process may write.
 *
 * @param text  of ASCII
 * @returns how often it was there
 */
export function flipInMemory(processId: number, text: string): number {
  const wanted = Buffer.from(text, 'latin1')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const file = openSync(`/proc/${processId}/mem`, 'r+')
  let count = 0
  try {
    for (const [start, end] of writableRanges(processId)) {
      // Chunks overlap, so that no text is missed between two.
      for (let at = start; at < end; at += CHUNK_BYTES - wanted.length) {
        const bytes = chunk.subarray(0, readSome(file, chunk, at, Math.min(CHUNK_BYTES, end - at)))
        for (
          let found = bytes.indexOf(wanted);
          found >= 0;
          found = bytes.indexOf(wanted, found + 1)
        ) {
          const last = found + wanted.length - 1
          writeSync(file, Uint8Array.of(bytes[last] ^ 1), 0, 1, at + last)
          count++
        }
      }
    }
  } finally {
    closeSync(file)
  }
  return count
}

function readSome(file: number, chunk: Buffer, at: number, byteCount: number): number {
  try {
    return readSync(file, chunk, 0, byteCount, at)
  } catch {
    // It is gone since, or of a device.
    return 0
  }
}

function writableRanges(processId: number): [number, number][] {
  const lines = readFileSync(`/proc/${processId}/maps`, 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    return start === undefined ? [] : [[Number.parseInt(start, 16), Number.parseInt(end, 16)]]
  })
}
