/**
 * Every bound of the service in one place; the unit is the last word of each name.
 * Relations between bounds are asserted when the module loads.
 *
 * @module
 */
import assert from 'node:assert/strict'

const KiB = 1024
const MiB = 1024 * KiB

export const limits = {
  /** A request body; one byte more is answered 413. */
  bodyBytes: 4 * MiB,
  /** Nesting of arrays and objects in a JSON body. */
  jsonDepthCount: 64,
  /** Features of one request. */
  featureCount: 1_000,
  /** Rings of one request, over all its features. */
  ringCount: 10_000,
  /** Positions of one request, over all its rings. */
  vertexCount: 50_000,

  /** UTF-8 bytes of a recipient's number. */
  numberBytes: 64,
  /** UTF-8 bytes of a contact id. */
  contactBytes: 128,
  /** UTF-8 bytes of a source's label. */
  labelBytes: 128,
  /** Ids of sources run from 0 to this. */
  sourceIdMax: 2_147_483_647,
  /** Sources in one snapshot. */
  sourceCount: 256,
  /** Recipients that one shard aims to hold; a source is cut into as few equal shards as fit. */
  shardRecipientCount: 1_000_000,
  /** Recipients of one source (offsets into their text are 32-bit). */
  sourceRecipientCount: 200_000_000,
  /** Examples kept of each reason for which rows were rejected. */
  rejectExampleCount: 5,
  /** Snapshots kept on disk, the current one among them. */
  snapshotCount: 3,
  /** The header of a shard file, before it is unpacked. */
  shardHeaderBytes: 1 * MiB,
} as const

assert(limits.vertexCount >= limits.ringCount)
assert(limits.numberBytes * limits.shardRecipientCount < 2 ** 32, 'text offsets are 32-bit')
