import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createRooms } from '../../src/shard/arena.js'
import type { Repeats } from '../../src/shard/duplicates/find-repeats.js'
import { findDifference } from '../../src/snapshot/duplicates/faults.js'
import { readRepeatsFile, writeRepeatsFile } from '../../src/snapshot/duplicates/file.js'
import { testSeed } from '../support/random/properties.js'

type Shards = [recipients: number[], phoneIds: number[]][]

function repeatsOf(phoneCount: number, shards: Shards): Repeats {
  return {
    phoneCount,
    shards: shards.map(([recipients, phoneIds]) => ({
      recipients: Uint32Array.from(recipients),
      phoneIds: Uint32Array.from(phoneIds),
    })),
  }
}

const GOOD: Shards = [
  [
    [1, 4, 9],
    [0, 1, 0],
  ],
  [[], []],
  [[0], [1]],
]
const SHARD_COUNTS = [10, 5, 1]

async function roundTrip(t: Test, repeats: Repeats, shardCounts: readonly number[]) {
  const path = join(t.testdir({}), 'repeats')
  const entry = await writeRepeatsFile(path, repeats)
  const [room] = createRooms([entry.byteLength], 1)
  return { path, entry, read: () => readRepeatsFile(path, entry, shardCounts, room) }
}

t.test('repeats are read as they were written, in shared memory', async (t) => {
  const { path, entry, read } = await roundTrip(t, repeatsOf(2, GOOD), SHARD_COUNTS)
  t.same(await read(), repeatsOf(2, GOOD))
  t.ok((await read()).shards[0].recipients.buffer instanceof SharedArrayBuffer)
  t.match(entry, { file: 'repeats', byteLength: 4096 + 8 * 4, numberCount: 2, recipientCount: 4 })
  t.equal(statSync(path).size, entry.byteLength)
  t.equal(statSync(path).mode & 0o777, 0o600)
  await t.rejects(writeRepeatsFile(path, repeatsOf(2, GOOD)), { code: 'EEXIST' })
})

t.test('no shards, and shards without repeats, are repeats like others', async (t) => {
  for (const shards of [[], [[[], []]]] as Shards[]) {
    const counts = shards.map(() => 3)
    const { read } = await roundTrip(t, repeatsOf(0, shards), counts)
    t.same(await read(), repeatsOf(0, shards))
  }
})

t.test('more than one block is read as it was written, and damage is found in each', async (t) => {
  const wordCount = 200_000
  const recipients = Array.from({ length: wordCount }, (_, i) => i)
  const phoneIds = recipients.map((i) => i >> 1)
  const repeats = repeatsOf(wordCount / 2, [[recipients, phoneIds]])
  const { path, read } = await roundTrip(t, repeats, [wordCount])
  t.same(await read(), repeats)
  const original = readFileSync(path)
  for (const [byte, block] of [
    [4096, 0],
    [4096 + 2 ** 20 - 1, 0],
    [4096 + 2 ** 20, 1],
    [original.length - 1, 1],
  ]) {
    const damaged = Buffer.from(original)
    damaged[byte] ^= 0x10
    writeFileSync(path, damaged)
    await t.rejects(read(), { code: 'SnapshotCorrupt', message: new RegExp(`block ${block} `) })
  }
})

t.test(
  'repeats that are wrong in themselves are refused though their sums are right',
  async (t) => {
    const cases: [expected: RegExp, phoneCount: number, shards: Shards][] = [
      [/repeats of 2 shards, expected 3/, 2, GOOD.slice(0, 2)],
      [
        /recipient 4 behind 9/,
        2,
        [
          [
            [1, 9, 4],
            [0, 1, 0],
          ],
          [[], []],
          [[0], [1]],
        ],
      ],
      [
        /recipient 4 behind 4/,
        2,
        [
          [
            [1, 4, 4],
            [0, 1, 0],
          ],
          [[], []],
          [[0], [1]],
        ],
      ],
      [
        /recipient 10, expected less than 10, in shard 0/,
        2,
        [
          [
            [1, 4, 10],
            [0, 1, 0],
          ],
          [[], []],
          [[0], [1]],
        ],
      ],
      [
        /recipient 1, expected less than 1, in shard 2/,
        2,
        [
          [
            [1, 4, 9],
            [0, 1, 0],
          ],
          [[], []],
          [[1], [1]],
        ],
      ],
      [
        /number 2, expected less than 2/,
        2,
        [
          [
            [1, 4, 9],
            [0, 1, 0],
          ],
          [[], []],
          [[0], [2]],
        ],
      ],
      [
        /number 1 once or never/,
        2,
        [
          [
            [1, 4, 9],
            [0, 1, 0],
          ],
          [[], []],
          [[0], [0]],
        ],
      ],
      [
        /number 1 once or never/,
        2,
        [
          [
            [1, 4, 9],
            [0, 0, 0],
          ],
          [[], []],
          [[0], [0]],
        ],
      ],
      [
        /2 numbers of 3 recipients/,
        2,
        [
          [
            [1, 4],
            [0, 1],
          ],
          [[], []],
          [[0], [0]],
        ],
      ],
    ]
    for (const [message, phoneCount, shards] of cases) {
      const { read } = await roundTrip(t, repeatsOf(phoneCount, shards), SHARD_COUNTS)
      await t.rejects(read(), { code: 'SnapshotCorrupt', message }, String(message))
    }
  },
)

t.test('the file of another snapshot is not taken for the right one', async (t) => {
  const first = await roundTrip(t, repeatsOf(2, GOOD), SHARD_COUNTS)
  const bytes = readFileSync(first.path)
  const others: Shards = [
    [
      [1, 4, 9],
      [1, 0, 1],
    ],
    [[], []],
    [[0], [0]],
  ]
  const second = await roundTrip(t, repeatsOf(2, others), SHARD_COUNTS)
  t.equal(bytes.length, second.entry.byteLength)
  writeFileSync(second.path, bytes)
  await t.rejects(second.read(), { code: 'SnapshotCorrupt', message: /header CRC-32/ })
})

t.test('ids may be others, as long as they tell apart the same phones', async (t) => {
  const renamed: Shards = [
    [
      [1, 4, 9],
      [1, 0, 1],
    ],
    [[], []],
    [[0], [0]],
  ]
  t.equal(findDifference(repeatsOf(2, renamed), repeatsOf(2, GOOD)), undefined)
  const cases: [expected: RegExp, phoneCount: number, shards: Shards][] = [
    [/1 numbers, expected 2/, 1, GOOD],
    [
      /other recipients/,
      2,
      [
        [
          [1, 5, 9],
          [0, 1, 0],
        ],
        [[], []],
        [[0], [1]],
      ],
    ],
    [
      /other recipients/,
      2,
      [
        [
          [1, 4],
          [0, 1],
        ],
        [[], []],
        [[0], [1]],
      ],
    ],
    [
      /one number for two/,
      2,
      [
        [
          [1, 4, 9],
          [0, 1, 1],
        ],
        [[], []],
        [[0], [0]],
      ],
    ],
    [
      /one number for two/,
      2,
      [
        [
          [1, 4, 9],
          [0, 0, 0],
        ],
        [[], []],
        [[0], [1]],
      ],
    ],
  ]
  for (const [expected, phoneCount, shards] of cases) {
    const found = repeatsOf(phoneCount, shards)
    t.match(findDifference(found, repeatsOf(2, GOOD)), expected)
  }
})

t.test('random repeats come back', async (t) => {
  const seed = testSeed(t)
  const groups = fc.array(fc.integer({ min: 2, max: 5 }), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(groups, fc.integer({ min: 1, max: 4 }), async (sizes, shardCount) => {
      const shards: Shards = Array.from({ length: shardCount }, () => [[], []])
      const ids = sizes.flatMap((size, id) => Array<number>(size).fill(id))
      for (const [at, id] of ids.entries()) {
        const [recipients, phoneIds] = shards[at % shardCount]
        recipients.push(3 * at)
        phoneIds.push(id)
      }
      const repeats = repeatsOf(sizes.length, shards)
      const { read } = await roundTrip(
        t,
        repeats,
        shards.map(() => 1000),
      )
      t.same(await read(), repeats)
      t.equal(findDifference(repeats, repeats), undefined)
    }),
    { seed, numRuns: 30 },
  )
})
