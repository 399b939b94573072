/**
 * Whether the disk has room for what an import is about to write.
 *
 * @module
 */
import { statfs } from 'node:fs/promises'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Identities, RecipientColumns } from '../../shard/columns.js'

/** An index entry (coordinates and id), a contact and the offset of a phone. */
const RECIPIENT_BYTES = 8 + 4 + 4 + 4
/** In the file of the repeats, for a recipient whose phone repeats: all may. */
const REPEAT_BYTES = 4 + 4
/** Headers, padding, the manifest and directories, amply. */
const SHARD_EXTRA_BYTES = 64 << 10
const SNAPSHOT_EXTRA_BYTES = 4 << 20

/**
 * Refuses work that the disk has no room for; work that it has room for can still fill it.
 *
 * @param columns  what is to be written
 * @param otherCount  recipients of all other sources of the snapshot
 */
export async function assertFreeSpace(
  directory: string,
  columns: RecipientColumns,
  otherCount: number,
): Promise<void> {
  const { recipientCount, phones, identities } = columns
  const shardCount = Math.ceil(recipientCount / limits.shardRecipientCount)
  const neededBytes =
    recipientCount * RECIPIENT_BYTES +
    phones.length +
    identitiesBytes(identities, recipientCount) +
    (recipientCount + otherCount) * REPEAT_BYTES +
    shardCount * SHARD_EXTRA_BYTES +
    SNAPSHOT_EXTRA_BYTES
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize >= neededBytes) return
  throw new OperatorError(
    'Failed',
    `${directory}: ${bavail * bsize} bytes are free, the new snapshot needs ${neededBytes}`,
  )
}

function identitiesBytes(identities: Identities | undefined, recipientCount: number): number {
  if (identities === undefined) return 0
  const { contactTexts, keys } = identities
  const keyBytes = keys === null ? 0 : keys.texts.length + OFFSET_BYTES * recipientCount
  return contactTexts.length + OFFSET_BYTES * recipientCount + keyBytes
}

/** Of a text. */
const OFFSET_BYTES = 4
