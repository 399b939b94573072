/**
 * What a shard has of single recipients: in memory, or read from its file one at a time where another machine holds the
 * shard.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs'
import type { SectionName, Shard } from '../../shard/layout.js'
import type { ShardHead } from '../format/shard-image.js'
import { readFault } from '../open-file.js'

export interface Rows {
  /** Among the rows of the shard in the order of the import. */
  rankOf(recipient: number): number
  /** UTF-8. In memory that is used again. */
  phoneOf(recipient: number): Uint8Array
  /** Longitude and latitude in units. */
  positionOf(recipient: number): readonly [lng: number, lat: number]
  close(): void
}

export function rowsInMemory({ ids, coords, phones, phoneOffsets }: Shard): Rows {
  return {
    rankOf: (recipient) => ids[recipient],
    phoneOf: (recipient) => phones.subarray(phoneOffsets[recipient], phoneOffsets[recipient + 1]),
    positionOf: (recipient) => [coords[2 * recipient], coords[2 * recipient + 1]],
    close: () => {},
  }
}

/**
 * @param head  of the file, whose image was verified before
 * @throws OperatorError, as do its functions
 */
export function rowsInFile(path: string, { header, imageStart }: ShardHead): Rows {
  const { sections, recipientCount } = header
  const placeOf = (name: SectionName) => {
    const section = sections.find((each) => each.name === name)
    if (section === undefined) throw readFault(path, new Error(`it has no section ${name}`))
    const start = imageStart + section.byteOffset
    return { start, end: start + section.byteLength }
  }
  const index = placeOf('index')
  const offsets = placeOf('numberOffsets')
  const phones = placeOf('numbers')
  const isShort = recipientCount < 65_536
  const fd = opened(path)
  const pair = Buffer.alloc(8)
  const read = (into: Buffer, position: number) => {
    let count = 0
    while (count < into.length) {
      const readCount = readSync(fd, into, count, into.length - count, position + count)
      if (readCount === 0) throw readFault(path, new Error('it is shorter than before'))
      count += readCount
    }
    return into
  }
  return {
    rankOf(recipient) {
      // Behind a header of 8 bytes.
      const start = index.start + 8
      if (isShort) return read(pair.subarray(0, 2), start + 2 * recipient).readUInt16LE()
      return read(pair.subarray(0, 4), start + 4 * recipient).readUInt32LE()
    },
    phoneOf(recipient) {
      read(pair, offsets.start + 4 * recipient)
      const start = pair.readUInt32LE(0)
      return read(Buffer.alloc(pair.readUInt32LE(4) - start), phones.start + start)
    },
    positionOf(recipient) {
      read(pair, index.end - 8 * (recipientCount - recipient))
      return [pair.readInt32LE(0), pair.readInt32LE(4)]
    },
    close: () => closeSync(fd),
  }
}

function opened(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (fault) {
    throw readFault(path, fault)
  }
}
