/**
 * What other machines are told of an audience that lies on this one.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Of } from '../snapshot/load/sha256.js'
import { type AudienceName, audiencesDirectory } from '../snapshot/retention/audience-names.js'
import type { MadeAudience } from '../store/audiences.js'
import { withAudience } from './directory.js'
import { readAudienceRuns } from './file.js'

/**
 * Reads all of its file, so that nobody is told of one that is damaged.
 *
 * @returns undefined where it is not there any more
 * @throws FormatFault
 */
export async function describeAudience(
  dataDirectory: string,
  name: AudienceName,
): Promise<MadeAudience | undefined> {
  const path = join(audiencesDirectory(dataDirectory), name.name)
  return await withAudience(dataDirectory, name, async (file, header, imageStart) => {
    await readAudienceRuns(file, header, imageStart)
    const { id, snapshotId, sequence, createdMs, expiresMs, keyName, boundaryDigest } = header
    const { digest, recipientCount, sources } = header
    return {
      id,
      snapshotId,
      sequence,
      createdMs,
      expiresMs,
      keyName,
      boundaryDigest,
      digest,
      recipientCount,
      sources,
      file: { sha256: await sha256Of(path), byteLength: (await stat(path)).size },
    }
  })
}
