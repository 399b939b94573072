import t from 'tap'
import { inSharedMemory } from '../../src/shard/columns.js'
import { findRepeats } from '../../src/shard/duplicates/find-repeats.js'
import { lookOnThreads } from '../../src/snapshot/duplicates/look-on-threads.js'
import { startBuildThreads } from '../../src/snapshot/publish/build-tasks.js'
import { writeSource } from '../../src/snapshot/publish/write-source.js'
import { columnsOf } from '../support/data/columns.js'
import { phonesOf, repeatsByMap } from '../support/data/repeats.js'
import { loadShardFile } from '../support/data/shard-files.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'

for (const threadCount of [0, 1, 3]) {
  t.test(`what repeats is found in shard files, on ${threadCount} threads`, async (t) => {
    const directory = temporaryDirectory(t)
    const random = seededRandom(testSeed(t))
    const threads = startBuildThreads(threadCount)
    t.teardown(() => threads.close())
    const sources = []
    for (const id of [1, 2]) {
      const recipients = Array.from({ length: 6_000 }, () => ({
        // Around the longest that is compared by words, and a few often.
        phone: `+999${random.between(0, 9_000)}`.padEnd(random.between(0, 40) === 0 ? 40 : 0, '7'),
        lng: random.between(-100, 100),
        lat: random.between(-100, 100),
        contact: '',
      }))
      const columns = inSharedMemory(columnsOf(recipients))
      const options = { shardRecipientCount: 700 }
      const written = await writeSource(directory, { id, label: 'x' }, columns, threads, options)
      sources.push(written.source)
    }
    const files = sources.flatMap(({ shards }) => shards)
    const shards = []
    for (const source of sources) {
      for (const shard of source.shards) shards.push(await loadShardFile(directory, source, shard))
    }
    const expected = repeatsByMap(shards.map(phonesOf))
    t.ok(expected.phoneCount > 1_000)
    const counts = files.map(({ recipientCount }) => recipientCount)
    for (const phonesPerPass of [1_000_000, 900]) {
      const look = lookOnThreads(threads, directory, files)
      t.same(await findRepeats(counts, look, phonesPerPass), expected)
    }
    const missing = files.map((file) => ({ ...file, file: 'none.shard' }))
    await t.rejects(findRepeats(counts, lookOnThreads(threads, directory, missing)), {
      code: 'SnapshotCorrupt',
    })
  })
}
