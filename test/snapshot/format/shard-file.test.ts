import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { limits } from '../../../src/limits.js'
import { createRooms } from '../../../src/shard/arena.js'
import { buildShard } from '../../../src/shard/build/build.js'
import { attachShard, type ShardImage } from '../../../src/shard/layout.js'
import type { ManifestShard } from '../../../src/snapshot/format/manifest.js'
import { writeShardFile } from '../../../src/snapshot/format/write-shard-file.js'
import { manyColumns } from '../../support/data/columns.js'
import { loadShardFile, roomFor } from '../../support/data/shard-files.js'

const RECIPIENTS = 300
const SOURCE = { id: 4, contactCount: RECIPIENTS }

function shardOf(recipientCount: number): ShardImage {
  const rows = Uint32Array.from({ length: recipientCount }, (_, row) => row)
  return buildShard(manyColumns(recipientCount), rows, 4, 0)
}

const FILE = '4-0000.shard'

/** Writes a shard, and returns its entry in a manifest. */
async function write(directory: string, shard: ShardImage): Promise<ManifestShard> {
  const { recipientCount, box } = shard
  const digest = await writeShardFile(join(directory, FILE), shard)
  return { file: FILE, recipientCount, box, ...digest }
}

async function roundTrip(t: Test, shard: ShardImage) {
  const directory = t.testdir({})
  const entry = await write(directory, shard)
  const source = { id: shard.sourceId, contactCount: RECIPIENTS }
  // Damaged, it may claim less or more than there is.
  const room = roomFor({ ...entry, recipientCount: RECIPIENTS })
  return loadShardFile(directory, source, entry, room)
}

t.test(
  'a shard is read as it was written, and its image starts at a multiple of 4096',
  async (t) => {
    const shard = shardOf(RECIPIENTS)
    const directory = t.testdir({})
    const entry = await write(directory, shard)
    const room = roomFor(entry)
    const found = await loadShardFile(directory, SOURCE, entry, room)
    const { image, arena, marks, ...rest } = found
    const { image: written, arena: _, marks: __, ...expected } = shard
    t.same(rest, expected)
    t.equal(arena, room.arena)
    t.ok(marks?.every((word) => word === 0))
    t.ok(Buffer.from(image).equals(written))
    t.equal((entry.byteLength - written.byteLength) % 4096, 0)
    t.ok(readFileSync(join(directory, FILE)).subarray(4096).equals(written))
  },
)

t.test('a file that is there already is not written over', async (t) => {
  const path = join(t.testdir({ '4-0000.shard': 'mine' }), '4-0000.shard')
  await t.rejects(writeShardFile(path, shardOf(RECIPIENTS)), { code: 'EEXIST' })
  t.equal(readFileSync(path, 'utf8'), 'mine')
})

t.test('a shard that is wrong in itself is refused though its checksums are right', async (t) => {
  type Damage = (shard: ShardImage) => ShardImage | undefined
  const coords = (shard: ShardImage) => attachShard(shard).coords
  const cases: [what: RegExp, damage: Damage][] = [
    [
      /not a KDBush/,
      ({ image }) => {
        image[0] = 0
      },
    ],
    [
      /not a KDBush/,
      ({ image }) => {
        image[1] = 0x18
      },
    ],
    [
      /nodes of 0/,
      ({ image }) => {
        new Uint16Array(image.buffer)[1] = 0
      },
    ],
    [
      /299 in the index/,
      ({ image }) => {
        new Uint32Array(image.buffer)[1] = 299
      },
    ],
    [
      /id 300, expected less/,
      ({ image }) => {
        new Uint16Array(image.buffer, 8)[5] = 300
      },
    ],
    [
      /twice/,
      ({ image }) => {
        new Uint16Array(image.buffer, 8).copyWithin(0, 1, 2)
      },
    ],
    [
      /outside the bounds/,
      (shard) => {
        coords(shard)[0] = 1_500_000_000
      },
    ],
    [
      /outside the bounds/,
      (shard) => {
        coords(shard)[1] = 1
      },
    ],
    [/beyond the globe/, (shard) => ({ ...shard, box: { ...shard.box, maxLng: 1_800_000_001 } })],
    [/end before they start/, (shard) => ({ ...shard, box: { ...shard.box, maxLat: -1000 } })],
    [/beyond the globe/, (shard) => ({ ...shard, box: { ...shard.box, minLat: -900_000_001 } })],
    [
      /contact 300/,
      (shard) => {
        attachShard(shard).contacts[9] = 300
      },
    ],
    [
      /start at 0/,
      (shard) => {
        attachShard(shard).phoneOffsets[0] = 1
      },
    ],
    [
      /number 6 empty/,
      (shard) => {
        attachShard(shard).phoneOffsets[7] = 0
      },
    ],
    [
      // Rows are written into memory that has room for phones up to the limit.
      /number 7 of 65 bytes/,
      (shard) => {
        const { phoneOffsets } = attachShard(shard)
        phoneOffsets[8] = phoneOffsets[7] + limits.phoneBytes + 1
      },
    ],
    [
      /numbers that end/,
      (shard) => {
        attachShard(shard).phoneOffsets[300]++
      },
    ],
    [/no recipients/, (shard) => ({ ...shard, recipientCount: 0 })],
    [/an image of/, (shard) => ({ ...shard, recipientCount: 2000 })],
    [/section 1 elsewhere/, (shard) => ({ ...shard, sections: swapped(shard.sections) })],
    [
      /section 2 elsewhere|more sections/,
      (shard) => ({ ...shard, sections: [...shard.sections, shard.sections[0]] }),
    ],
    [/not as expected/, (shard) => ({ ...shard, sourceId: -1 })],
  ]
  for (const [message, damage] of cases) {
    const shard = shardOf(RECIPIENTS)
    const damaged = damage(shard) ?? shard
    await t.rejects(roundTrip(t, damaged), { code: 'SnapshotCorrupt', message }, String(message))
  }
})

function swapped<T>([first, second, third, fourth]: readonly T[]): T[] {
  return [first, third, second, fourth]
}

t.test('damage is found in each block, and its block is named', async (t) => {
  const count = 120_000
  const directory = t.testdir({})
  const path = join(directory, FILE)
  const entry = await write(directory, shardOf(count))
  const { byteLength } = entry
  const room = roomFor(entry)
  const read = () => loadShardFile(directory, { ...SOURCE, contactCount: count }, entry, room)
  const original = readFileSync(path)
  const blockCount = Math.ceil((byteLength - 4096) / 2 ** 20)
  t.ok(blockCount > 3)
  for (let block = 0; block < blockCount; block++) {
    const start = 4096 + block * 2 ** 20
    for (const byte of [start, Math.min(start + 2 ** 20, byteLength) - 1]) {
      const damaged = Buffer.from(original)
      damaged[byte] ^= 0x80
      writeFileSync(path, damaged)
      const message = new RegExp(`4-0000\\.shard: found block ${block} `)
      await t.rejects(read(), { code: 'SnapshotCorrupt', message })
    }
  }
  writeFileSync(path, original)
  t.equal((await read()).recipientCount, count)
})

t.test('a shard that there is no room for touches nothing', async (t) => {
  const directory = t.testdir({})
  const entry = await write(directory, shardOf(RECIPIENTS))
  const [room] = createRooms([entry.byteLength - 4096], 1)
  const expected = { code: 'SnapshotCorrupt', message: /300 recipients, which are too many/ }
  await t.rejects(loadShardFile(directory, SOURCE, entry, room), expected)
  t.ok(room.bytes.every((byte) => byte === 0))
})

t.test('bytes between sections must be zero', async (t) => {
  const shard = shardOf(RECIPIENTS)
  shard.image[shard.image.length - 1] = 1
  await t.rejects(roundTrip(t, shard), { code: 'SnapshotCorrupt', message: /expected zero/ })
})
