import t from 'tap'
import { limits } from '../../src/limits.js'
import { isFilled } from '../../src/selection/catalogue.js'
import { planTasks } from '../../src/selection/plan.js'
import { validate } from '../../src/selection/validate.js'
import { everywhere } from '../support/data/everywhere.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { localService } from '../support/service/local-service.js'

t.test('a small shape is small in however many sources, up to a limit', async (t) => {
  const columns = randomWorld('uniform', 20, seededRandom(2))
  for (const sourceCount of [limits.smallShardCount, limits.smallShardCount + 1]) {
    const sources = Array.from({ length: sourceCount }, (_, id) => ({
      id,
      label: `${id}`,
      columns,
    }))
    const { catalogue } = localService(sources, 20)
    const query = validate({ geoJSON: everywhere })
    const plain = { countMode: 'ContactLocation', mask: null, moment: 0 } as const
    const tasks = planTasks('count', query, plain, catalogue, 4)
    const isLarge = sourceCount > limits.smallShardCount
    t.equal(tasks.length, isLarge ? 3 : 1)
    t.ok(tasks.every((task) => task.isLarge === isLarge))
    const shardIndexes = tasks.flatMap((task) => task.shardIndexes).sort((a, b) => a - b)
    const filled = [...catalogue.shards.keys()].filter((at) => isFilled(catalogue.shards[at]))
    t.same(shardIndexes, filled, 'each shard is in one task')
  }
})

t.test('shapes and shards say what is large, and of what counts once only the nearest', (t) => {
  const random = seededRandom(1)
  const { shardsPerTaskCount } = limits
  for (const shardCount of [shardsPerTaskCount, shardsPerTaskCount + 1]) {
    const columns = randomWorld('uniform', 10 * shardCount, random)
    const { catalogue } = localService([{ id: 1, label: 'one', columns }], 10)
    t.equal(catalogue.shards.filter(isFilled).length, shardCount)
    const tasksOf = (request: object, countMode: 'Contact' | 'ContactLocation') => {
      const query = validate({ geoJSON: everywhere, ...request })
      return planTasks('count', query, { countMode, mask: null, moment: 0 }, catalogue, 4)
    }
    const isLarge = shardCount > shardsPerTaskCount
    for (const mode of ['Contact', 'ContactLocation'] as const) {
      for (const distinct of [false, true]) {
        const tasks = tasksOf({ distinct }, mode)
        const what = `${mode}, distinct ${distinct}, ${shardCount} shards`
        t.ok(tasks.length > 0 && tasks.every((task) => task.isLarge === isLarge), what)
        if (mode === 'Contact' || distinct) t.equal(tasks.length, 1, 'one task has the source')
      }
    }
    const nearest = { properties: { nearest: 1 }, geometry: { type: 'Point', coordinates: [0, 0] } }
    const near = { geoJSON: { type: 'Feature', ...nearest } }
    t.ok(tasksOf(near, 'ContactLocation').every((task) => task.isLarge))
  }
  t.end()
})

t.test('the nearest that are excluded may be anywhere, and the others where the area is', (t) => {
  const columns = randomWorld('uniform', 200, seededRandom(3))
  const { catalogue } = localService([{ id: 1, label: 'one', columns }], 20)
  const filled = [...catalogue.shards.keys()].filter((at) => isFilled(catalogue.shards[at]))
  const { lng, lat } = { lng: columns.lngs[0] / 1e7, lat: columns.lats[0] / 1e7 }
  const area = {
    type: 'Feature',
    properties: { radius: 1 },
    geometry: { type: 'Point', coordinates: [lng, lat] },
  }
  const touchedWith = (properties: object) => {
    const geometry = { type: 'Point', coordinates: [lng, lat] }
    const near = { type: 'Feature', properties: { nearest: 1, ...properties }, geometry }
    const query = validate({ geoJSON: { type: 'FeatureCollection', features: [area, near] } })
    const plain = { countMode: 'ContactLocation', mask: null, moment: 0 } as const
    const tasks = planTasks('count', query, plain, catalogue, 4)
    return tasks.flatMap(({ shardIndexes }) => shardIndexes).sort((a, b) => a - b)
  }
  t.same(touchedWith({ exclude: true }), filled)
  const touched = touchedWith({})
  t.ok(touched.length > 0 && touched.length < filled.length)
  t.end()
})
