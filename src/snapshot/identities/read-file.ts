/**
 * Reads a file of identities and verifies every byte of it (see write-file.ts for what is in it).
 *
 * @module
 */
import { join } from 'node:path'
import type { Identities } from '../../shard/columns.js'
import { validatorOf } from '../../validator.js'
import { FormatFault, readBlocks } from '../format/blocks.js'
import { FORMAT_VERSION, readHead } from '../format/container.js'
import { withFile } from '../open-file.js'
import { type IdentitiesHeader, IdentitiesHeaderSchema } from './header.js'
import type { IdentitiesFile } from './list.js'

/**
 * @param directory  of the snapshot
 * @param recipientCount  of the shard
 * @returns by rank in the order of the import, which the shard has for each index
 * @throws OperatorError `SnapshotCorrupt`
 */
export function readIdentitiesFile(
  directory: string,
  { file: name, byteLength, headerCrc32 }: IdentitiesFile,
  recipientCount: number,
): Promise<Identities> {
  return withFile(join(directory, name), byteLength, async (file) => {
    const head = await readHead(file, byteLength, 'HICKIDEN', [FORMAT_VERSION])
    if (head.crc32 !== headerCrc32) {
      throw new FormatFault(
        `found the file with header CRC-32 ${head.crc32}, expected ${headerCrc32}`,
      )
    }
    const header = checked(head.header)
    if (header.recipientCount !== recipientCount) {
      throw new FormatFault(`found ${header.recipientCount} recipients, expected ${recipientCount}`)
    }
    if (header.imageBytes !== byteLength - head.imageStart) {
      const found = byteLength - head.imageStart
      throw new FormatFault(`found an image of ${found} bytes, expected ${header.imageBytes}`)
    }
    const image = new Uint8Array(header.imageBytes)
    await readBlocks(file, image, head.imageStart, header.blockCrc32s)
    const contacts = columnAt(image, 0, recipientCount)
    const keys = header.hasKeys ? columnAt(image, contacts.end, recipientCount) : undefined
    const end = keys?.end ?? contacts.end
    if (end !== image.length) {
      throw new FormatFault(`found texts that end at ${end}, expected ${image.length}`)
    }
    return {
      contactOffsets: contacts.offsets,
      contactTexts: contacts.texts,
      keys: keys === undefined ? null : { offsets: keys.offsets, texts: keys.texts },
    }
  })
}

const validator = validatorOf(IdentitiesHeaderSchema)

function checked(header: unknown): IdentitiesHeader {
  if (validator.Check(header)) return header
  const [error] = validator.Errors(header)
  throw new FormatFault(`found a header that is not as expected: ${error?.message}`)
}

/** One column of texts, and where it ends in the image. */
function columnAt(image: Uint8Array, start: number, count: number) {
  const textStart = start + 4 * (count + 1)
  if (textStart > image.length) throw new FormatFault('found an image that is too short')
  const offsets = new Uint32Array(image.buffer, start, count + 1)
  for (let at = 0; at < count; at++) {
    if (offsets[at] > offsets[at + 1]) throw new FormatFault('found offsets that do not ascend')
  }
  const end = textStart + Math.ceil(offsets[count] / 4) * 4
  if (offsets[0] !== 0 || end > image.length) {
    throw new FormatFault('found offsets beyond the image')
  }
  return { offsets, texts: image.subarray(textStart, textStart + offsets[count]), end }
}
