/**
 * Audiences as the machines of a cluster tell each other of them.
 *
 * @module
 */
import { describeAudience, findAudience } from '../../../src/audiences/directory.js'
import { freeze } from '../../../src/audiences/freeze.js'
import { announcedSnapshot } from '../../../src/cluster/snapshot-files.js'
import type { SharedAudience } from '../../../src/store/audiences.js'

/** One of which nothing is on a disk. */
export function sharedAudience(number: number, more: Partial<SharedAudience> = {}): SharedAudience {
  const createdMs = 1_000 * Math.floor(Date.now() / 1_000)
  return {
    id: number.toString(16).padStart(32, '0'),
    snapshotId: '000001-00000001',
    sequence: 0,
    createdMs,
    expiresMs: createdMs + 3_600_000,
    keyName: null,
    boundaryDigest: null,
    digest: 'd'.repeat(64),
    recipientCount: 3,
    sources: [{ id: 1, label: 'Some', recipientCount: 3 }],
    file: { sha256: number.toString(16).padStart(64, '0'), byteLength: 1_000 },
    documents: [],
    entrySequence: number,
    ...more,
  }
}

/** Freezes the first recipients of source 1 in a directory. */
export async function frozenAudience(
  data: string,
  {
    snapshotId,
    count = 5,
    entrySequence,
    keyName = null,
  }: {
    readonly snapshotId: string
    readonly count?: number
    readonly entrySequence: number
    readonly keyName?: string | null
  },
): Promise<SharedAudience> {
  const { id } = await freeze(
    data,
    {
      kind: 'freeze',
      snapshotId,
      sequence: 0,
      sources: [{ id: 1, label: 'Some' }],
      shards: [{ shardIndex: 0, runs: Uint32Array.of(0, count) }],
      deltas: [],
      suppressionVersion: 0,
      lifetimeSeconds: 600,
      asker: { keyName, boundaryDigest: null, isForAll: true },
    },
    null,
  )
  const name = await findAudience(data, id, Date.now())
  const made = name && (await describeAudience(data, name))
  if (made === undefined) throw new Error('it was frozen a moment ago')
  const { documents } = await announcedSnapshot(data, snapshotId)
  return { ...made, documents, entrySequence }
}
