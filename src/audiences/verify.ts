/**
 * Whether an audience on the disk is intact: every byte of its file, with those who came since its snapshot, its digest, and that its snapshot is
 * there with the shard files that it names. What is in these files `hickory verify` of the snapshot says.
 *
 * @module
 */
import { type ManifestShard, readManifest } from '../snapshot/format/manifest.js'
import { type AudienceName, listAudienceNames } from '../snapshot/retention/audience-names.js'
import { withAudience } from './directory.js'
import { type AudienceHeader, readAudienceRuns } from './file.js'

interface AudienceState {
  readonly id: string
  readonly snapshotId: string
  readonly expiresAt: string
  /** Its file may go at any time, and its snapshot may have gone: a fault is none then. */
  readonly isExpired: boolean
  /** Of who is in it; undefined where it is not intact. */
  readonly digest: string | undefined
  /** Undefined where it is intact. */
  readonly fault: string | undefined
}

/** All whose files are there, by id. */
export async function verifyAudiences(
  dataDirectory: string,
  nowMs: number,
): Promise<AudienceState[]> {
  const names = await listAudienceNames(dataDirectory)
  const states: AudienceState[] = []
  for (const name of names.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const { id, snapshotId, expiresMs } = name
    const expiresAt = new Date(expiresMs).toISOString()
    const found = await lookAt(dataDirectory, name)
    states.push({ id, snapshotId, expiresAt, isExpired: expiresMs <= nowMs, ...found })
  }
  return states
}

async function lookAt(
  dataDirectory: string,
  name: AudienceName,
): Promise<Pick<AudienceState, 'digest' | 'fault'>> {
  try {
    const digest = await withAudience(dataDirectory, name, async (file, header, imageStart) => {
      const runs = await readAudienceRuns(file, header, imageStart)
      const { sources } = await readManifest(dataDirectory, name.snapshotId)
      const entries = sources.flatMap(({ shards }) => shards)
      for (const [at, shard] of header.shards.entries()) refuseOther(entries, shard, runs[at])
      return header.digest
    })
    return { digest, fault: digest === undefined ? 'found no file' : undefined }
  } catch (error) {
    return { digest: undefined, fault: (error as Error).message }
  }
}

function refuseOther(
  entries: readonly ManifestShard[],
  { file, sha256, byteLength, headerCrc32 }: AudienceHeader['shards'][number],
  runs: Uint32Array,
): void {
  const entry = entries.find((candidate) => candidate.file === file)
  const isSame =
    entry?.sha256 === sha256 &&
    entry.byteLength === byteLength &&
    entry.headerCrc32 === headerCrc32 &&
    (runs.at(-1) ?? 0) <= entry.recipientCount
  if (!isSame)
    throw new Error(`found ${file} in the snapshot, which is not the one that was frozen`)
}
