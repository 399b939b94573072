/**
 * The image of the repeats of a snapshot: Uint32, for one shard after the other the indexes of the
 * recipients whose phone repeats, ascending, and then the id of the phone of each of them.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import type { Room } from '../../shard/arena.js'
import type { Repeats, ShardRepeats } from '../../shard/duplicates/find-repeats.js'
import { FormatFault, type OnRead, readBlocks } from '../format/blocks.js'
import { findRepeatsFault } from './faults.js'

/** The contents of the head of the file. */
export interface RepeatsHead {
  readonly numberCount: number
  /** Recipients of each shard whose phone repeats. */
  readonly recipientCounts: readonly number[]
  readonly imageStart: number
  readonly imageBytes: number
  readonly blockCrc32s: readonly number[]
  readonly headerCrc32: number
}

/**
 * Reads the image of a file into its room and verifies every byte of it, and what it means.
 *
 * @param shardCounts  recipients of each shard of the snapshot
 * @param room  as large as the image at least
 * @throws FormatFault
 */
export async function readRepeatsImage(
  file: FileHandle,
  head: RepeatsHead,
  shardCounts: readonly number[],
  room: Pick<Room, 'bytes'>,
  onRead?: OnRead,
): Promise<Repeats> {
  onRead?.(head.imageStart)
  const image = room.bytes.subarray(0, head.imageBytes)
  await readBlocks(file, image, head.imageStart, head.blockCrc32s, onRead)
  const { numberCount, recipientCounts } = head
  const repeats = { phoneCount: numberCount, shards: repeatsIn(image, recipientCounts) }
  const fault = findRepeatsFault(repeats, shardCounts)
  if (fault !== undefined) throw new FormatFault(fault)
  return repeats
}

/** The same in shared memory. */
export function sharedRepeats({ phoneCount, shards }: Repeats): Repeats {
  const image = imageOf(shards, true)
  const recipientCounts = shards.map(({ recipients }) => recipients.length)
  return { phoneCount, shards: repeatsIn(image, recipientCounts) }
}

/** The repeats of each shard, as they lie in an image. */
function repeatsIn(image: Uint8Array, recipientCounts: readonly number[]): ShardRepeats[] {
  let at = image.byteOffset
  const words = (count: number) => {
    const start = at
    at += 4 * count
    return new Uint32Array(image.buffer, start, count)
  }
  return recipientCounts.map((count) => ({ recipients: words(count), phoneIds: words(count) }))
}

/** @param isShared  whether threads share it */
export function imageOf(shards: readonly ShardRepeats[], isShared = false): Uint8Array {
  const wordCount = shards.reduce((sum, { recipients }) => sum + 2 * recipients.length, 0)
  const buffer = isShared ? new SharedArrayBuffer(4 * wordCount) : new ArrayBuffer(4 * wordCount)
  const words = new Uint32Array(buffer)
  let at = 0
  for (const { recipients, phoneIds } of shards) {
    words.set(recipients, at)
    words.set(phoneIds, at + recipients.length)
    at += 2 * recipients.length
  }
  return new Uint8Array(buffer)
}
