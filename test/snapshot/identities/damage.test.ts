import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { verifySnapshot } from '../../../src/snapshot/load/verify.js'
import { RecipientCollector } from '../../../src/sources/columns/collector.js'
import { batchOf, manyColumns } from '../../support/data/columns.js'
import { publishTest } from '../../support/data/snapshots.js'
import { testSeed } from '../../support/random/properties.js'
import { seededRandom } from '../../support/random/world.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'

const DAMAGE_COUNT = byTier({ ci: 150, soak: 3_000 })

t.test(
  'each damage to identities is found by verify, and none keeps a service from it',
  async (t) => {
    const data = temporaryDirectory(t)
    const collector = new RecipientCollector()
    const people = Array.from({ length: 50 }, (_, at) => {
      return { phone: `+999${at}`, lng: at, lat: -at, contact: at % 3 === 0 ? '' : `c${at >> 1}` }
    })
    const keys = people.map((_, at) => `key ${at}`)
    const keyOffsets = new Uint32Array(people.length + 1)
    for (const [at, key] of keys.entries()) keyOffsets[at + 1] = keyOffsets[at] + key.length
    collector.add({ ...batchOf(people), keyOffsets, keys: Buffer.from(keys.join('')) })
    const id = await publishTest(data, 1, await collector.finish())
    const directory = join(data, 'snapshots', id)
    const names = readdirSync(directory).filter((name) => name.includes('identities'))
    t.same(names, ['1-0000.identities', 'identities.json'])
    t.ok((await verifySnapshot(data, id)).isWhole)
    const random = seededRandom(testSeed(t))
    for (let count = 0; count < DAMAGE_COUNT; count++) {
      const path = join(directory, random.pick(names))
      const bytes = readFileSync(path)
      const damaged = Buffer.from(bytes)
      const at = random.between(0, bytes.length - 1)
      damaged[at] ^= 1 << random.between(0, 7)
      const isCut = random.between(0, 5) === 0
      writeFileSync(path, isCut ? bytes.subarray(0, at) : damaged)
      const { isWhole, files } = await verifySnapshot(data, id)
      const faults = files.filter(({ fault }) => fault !== undefined).map(({ file }) => file)
      if (isWhole || faults.length === 0) t.fail(`byte ${at} of ${path} was not missed`)
      writeFileSync(path, bytes)
    }
    rmSync(join(directory, names[0]))
    t.notOk((await verifySnapshot(data, id)).isWhole, 'a file that is gone is missed')
    t.equal((await openSnapshot(data)).id, id, 'a service needs none of it')
  },
)

t.test('a source is carried over with its identities, and only where they are sound', async (t) => {
  const data = temporaryDirectory(t)
  const collector = new RecipientCollector()
  collector.add(batchOf([{ phone: '+9991', lng: 1, lat: 1, contact: 'a' }]))
  const first = await publishTest(data, 1, await collector.finish())
  const second = await publishTest(data, 2, manyColumns(5))
  const path = (id: string) => join(data, 'snapshots', id, '1-0000.identities')
  t.same(readFileSync(path(second)), readFileSync(path(first)))
  t.notOk(existsSync(join(data, 'snapshots', second, '2-0000.identities')), 'not known')
  const bytes = readFileSync(path(second))
  bytes[bytes.length - 1] ^= 1
  rmSync(path(second))
  writeFileSync(path(second), bytes)
  await t.rejects(publishTest(data, 2, manyColumns(6)), {
    code: 'SnapshotCorrupt',
    message: /1-0000\.identities: found SHA-256 .* cannot be carried over/,
  })
})
