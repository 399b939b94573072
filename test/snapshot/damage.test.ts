import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { columnsOf } from '../support/data/columns.js'
import { copyVersion1, damageMany, prepareSubject } from '../support/data/damage.js'
import { publishTest } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const DAMAGE_COUNT = byTier({ ci: 60, soak: 10_000 })

t.test(`each of ${DAMAGE_COUNT} damages to a snapshot is found, and none is served`, async (t) => {
  const data = t.testdir({})
  await prepareSubject(data)
  const { kinds, missed } = await damageMany(data, testSeed(t), DAMAGE_COUNT)
  t.same(missed, [])
  t.ok(Object.keys(kinds).length > 3, 'of several kinds')
  t.ok((await openSnapshot(data)).shards.some(({ phoneTies }) => phoneTies.ids.length > 0))
})

t.test('so is each damage to a snapshot of format version 1', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, columnsOf([]))
  rmSync(join(data, 'CURRENT'))
  copyVersion1(data)
  const { missed } = await damageMany(data, testSeed(t), DAMAGE_COUNT / 2)
  t.same(missed, [])
})
