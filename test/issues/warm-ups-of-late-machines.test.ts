/**
 * A machine of a cluster that is not level yet, and is told to list nobody then, did not start: its own warm-up was
 * refused the lists that it asks for.
 */
import t from 'tap'
import { answer } from '../../src/selection/answer.js'
import { warm } from '../../src/serve/front-warm.js'
import { everywhere } from '../support/data/everywhere.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

t.test('a machine that may list nobody yet is warmed all the same', async (t) => {
  const columns = randomWorld('uniform', 400, seededRandom(1))
  const freshness = { lagSeconds: () => 0, refusesLists: true, isDraining: () => false }
  const local = localService([{ id: 1, label: 'A', columns }], 100)
  const late = { ...local, freshness }
  await t.resolves(warm(late))
  const kinds = new Set(local.tasks.map(({ kind }) => kind))
  t.same([...kinds].toSorted(), ['count', 'encode', 'select'])
  await t.rejects(answer(late, { geoJSON: everywhere }, inTime()), { code: 'Lagging' })
})
