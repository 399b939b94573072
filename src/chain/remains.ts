/**
 * What lies behind the head of a chain: records of a writer that died, or lost power, before the head was
 * moved, or was moved for good.
 *
 * @module
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
} from 'node:fs'
import { writeAllSync } from '../durable-files.js'
import type { ChainEnd } from './last-file.js'
import type { FileNumber } from './numbered-files.js'

/** What goes on with a chain. */
export interface GoingOn<R> {
  readonly taken: readonly R[]
  /** Where the last one of them ends in the bytes. */
  readonly end: number
}

interface Recovered<R> {
  readonly end: ChainEnd
  readonly taken: readonly R[]
  /** Of a record that was torn, or does not go on with the chain. */
  readonly cutBytes: number
}

interface Remains<R> {
  pathOf(number: FileNumber): string
  /** In these bytes, which lie behind those that were asked about before. */
  goingOn(bytes: Buffer, file: FileNumber, start: number): GoingOn<R>
  /**
   * The file in which a write of this process failed: what is behind the head there was refused, and is
   * not taken.
   */
  readonly refused: FileNumber | undefined
}

/** Takes the records that go on with the chain, and cuts off what comes then in the file of the last one. */
export function recover<R>(from: ChainEnd, { pathOf, goingOn, refused }: Remains<R>): Recovered<R> {
  const taken: R[] = []
  let end = from
  let cutBytes = 0
  for (let file = Math.max(1, from.file); existsSync(pathOf(file)); file++) {
    const start = file === from.file ? from.bytes : 0
    const behind = readFileSync(pathOf(file)).subarray(start)
    const going = file === refused ? { taken: [], end: 0 } : goingOn(behind, file, start)
    // One in which nothing goes on is begun anew when it is needed.
    if (going.taken.length === 0 && file > from.file) break
    settle(pathOf(file), behind.subarray(0, going.end), start)
    taken.push(...going.taken)
    cutBytes += behind.length - going.end
    end = { file, bytes: start + going.end }
  }
  return { end, taken, cutBytes }
}

/** Written once more: what a dead writer could not sync may be in memory alone, and pass for synced. */
export function settle(
  path: string,
  bytes: Uint8Array,
  start: number,
  { cutsRest = true } = {},
): void {
  const fd = openSync(path, 'r+')
  try {
    writeAllSync(fd, bytes, start)
    if (cutsRest) ftruncateSync(fd, start + bytes.length)
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
