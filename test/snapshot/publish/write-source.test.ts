import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { inSharedMemory, type RecipientColumns } from '../../../src/shard/columns.js'
import { attachShard, type ShardImage } from '../../../src/shard/layout.js'
import type { ManifestSource } from '../../../src/snapshot/format/manifest.js'
import { startBuildThreads } from '../../../src/snapshot/publish/build-tasks.js'
import { writeSource } from '../../../src/snapshot/publish/write-source.js'
import { anyRecipients, columnsOf, type TestRecipient } from '../../support/data/columns.js'
import {
  isKdOrder,
  referencePartition,
  referenceSections,
} from '../../support/data/reference-shards.js'
import { loadShardFile } from '../../support/data/shard-files.js'
import { testSeed } from '../../support/random/properties.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'

const SOURCE = { id: 7, label: 'Residents' }

/** In clusters, with repeated places, and phones of all lengths. */
function scattered(recipientCount: number): TestRecipient[] {
  let state = 12_345
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 32
  }
  return Array.from({ length: recipientCount }, (_, row) => ({
    phone: `+999${row}${'7'.repeat(Math.floor(random() * 56))}`,
    lng: Math.floor((random() - 0.5) * (row % 3 === 0 ? 3.6e9 : 40)),
    lat: Math.floor((random() - 0.5) * (row % 3 === 0 ? 1.8e9 : 40)),
    contact: row % 4 === 0 ? `c${Math.floor(random() * 50)}` : '',
  }))
}

async function read(directory: string, source: ManifestSource): Promise<ShardImage[]> {
  const shards: ShardImage[] = []
  for (const shard of source.shards) shards.push(await loadShardFile(directory, source, shard))
  return shards
}

function indexOf(image: ShardImage) {
  const { coords, nodeSize, recipientCount } = attachShard(image)
  const Ids = recipientCount < 65_536 ? Uint16Array : Uint32Array
  return { coords, nodeSize, ids: new Ids(image.image.slice().buffer, 8, recipientCount) }
}

/** Fails unless the shards are those of the reference, byte for byte, each in some kd order. */
function assertAsReference(
  t: Test,
  columns: RecipientColumns,
  size: number,
  shards: readonly ShardImage[],
): void {
  const expected = referencePartition(columns, size)
  t.equal(shards.length, expected.length)
  for (const [at, { image, sections, regionIndex }] of shards.entries()) {
    const { ids, coords, nodeSize } = indexOf(shards[at])
    if (new Set(ids).size !== expected[at].length) t.fail(`shard ${at} has an id twice`)
    if (!isKdOrder(coords, nodeSize)) t.fail(`shard ${at} is not in kd order`)
    const contents = referenceSections(columns, expected[at], ids)
    const found = sections.map(({ byteOffset, byteLength }) =>
      Buffer.from(image.subarray(byteOffset, byteOffset + byteLength)),
    )
    if (!found.every((content, section) => content.equals(contents[section]))) {
      t.fail(`shard ${at} of ${shards.length} has other bytes`)
    }
    if (regionIndex !== at) t.fail(`shard ${at} is called ${regionIndex}`)
  }
}

for (const threadCount of byTier({ ci: [0, 3], soak: [0, 1, 2, 3, 4] })) {
  t.test(`shards are the reference, byte for byte, on ${threadCount} threads`, async (t) => {
    const columns = inSharedMemory(columnsOf(scattered(8_000)))
    for (const shardRecipientCount of [700, 8_000]) {
      const directory = temporaryDirectory(t)
      const threads = startBuildThreads(threadCount)
      const counts: number[] = []
      const { source } = await writeSource(directory, SOURCE, columns, threads, {
        shardRecipientCount,
        onProgress: (recipientCount) => counts.push(recipientCount),
      })
      await threads.close()
      t.match(source, { ...SOURCE, recipientCount: 8_000, contactCount: columns.contactCount })
      assertAsReference(t, columns, shardRecipientCount, await read(directory, source))
      t.equal(counts.at(-1), 8_000)
      t.equal(counts.length, source.shards.length)
      t.same(readdirSync(directory).sort(), source.shards.map(({ file }) => file).sort())
    }
  })
}

t.test('shards of any recipients are the reference', async (t) => {
  const seed = testSeed(t)
  await fc.assert(
    fc.asyncProperty(anyRecipients, fc.integer({ min: 20, max: 300 }), async (recipients, size) => {
      const directory = temporaryDirectory(t)
      const columns = columnsOf(recipients)
      const options = { shardRecipientCount: size }
      const here = startBuildThreads(0)
      const { source } = await writeSource(directory, SOURCE, columns, here, options)
      assertAsReference(t, columns, size, await read(directory, source))
    }),
    { seed, numRuns: byTier({ ci: 10, soak: 30 }) },
  )
})

t.test('a shard that cannot be written ends the work with its error', async (t) => {
  const columns = inSharedMemory(columnsOf(scattered(8_000)))
  for (const threadCount of [0, 2]) {
    const directory = temporaryDirectory(t)
    writeFileSync(join(directory, '7-0003.shard'), 'in the way')
    const threads = startBuildThreads(threadCount)
    const options = { shardRecipientCount: 400 }
    await t.rejects(writeSource(directory, SOURCE, columns, threads, options), /EEXIST/)
    await threads.close()
    const names = readdirSync(directory)
    t.ok(existsSync(join(directory, '7-0003.shard')))
    await new Promise((resolve) => setTimeout(resolve, 50))
    t.same(readdirSync(directory), names, 'nothing is written once the threads have ended')
  }
})
