/**
 * Looks at the phones of shard files on the threads of an import. The heads of the files are read
 * here.
 *
 * @module
 */
import { join } from 'node:path'
import type { PhoneLook } from '../../shard/duplicates/shard-look.js'
import { importThreadCount } from '../../threads/tasks.js'
import type { ManifestShard } from '../format/manifest.js'
import { findPhones } from '../load/read-columns.js'
import { type BuildThreads, candidates, deal, search } from '../publish/build-tasks.js'

export function lookOnThreads(
  threads: BuildThreads,
  directory: string,
  shards: readonly ManifestShard[],
): PhoneLook {
  const placeOf = (at: number) =>
    findPhones(join(directory, shards[at].file), shards[at].byteLength)
  return {
    // Some wait, so that no thread does.
    aheadCount: 2 * importThreadCount(),
    deal: async (at, dealing, room) => deal(threads, await placeOf(at), dealing, room),
    findTwins: (twinSearch) => search(threads, twinSearch),
    candidates: async (at, twins, share) => candidates(threads, await placeOf(at), twins, share),
  }
}
