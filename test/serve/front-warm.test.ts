import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { QueryRunner } from '../../src/pool/tasks.js'
import { warm } from '../../src/serve/front-warm.js'
import { columnsOf } from '../support/data/columns.js'
import { globeWorldKinds, randomWorld, seededRandom, worldKinds } from '../support/random/world.js'
import { localService } from '../support/service/local-service.js'

const at = (lng: number, lat: number) =>
  columnsOf([{ phone: '+9991', lng: lng * 1e7, lat: lat * 1e7, contact: '' }])

t.test('whatever recipients there are, every shard is asked by the first requests', async (t) => {
  const kinds = [...worldKinds, ...globeWorldKinds]
  const worlds = [
    ...kinds.map((kind) => randomWorld(kind, 400, seededRandom(kinds.indexOf(kind)))),
    ...[at(0, 0), at(180, 90), at(-180, -90), at(12.3456789, -89.9999999)],
  ]
  for (const columns of worlds) {
    const service = localService([{ id: 1, label: 'A', columns }], 100)
    await warm(service)
    const asked = service.tasks.flatMap((task) =>
      'shardIndexes' in task ? [...task.shardIndexes] : [],
    )
    t.equal(new Set(asked).size, service.shards.length)
  }
  const busy = localService([{ id: 1, label: 'A', columns: worlds[0] }], 100)
  await warm(busy)
  const kindsAsked = new Set(busy.tasks.map(({ kind }) => kind))
  t.same([...kindsAsked].toSorted(), ['count', 'encode', 'select'])
})

t.test('sources in the same place are warmed, however few are in each', async (t) => {
  for (const sourceCount of [2, 3, 4, 5]) {
    for (const recipientCount of [0, 1, 400]) {
      const last = randomWorld('uniform', 400, seededRandom(1))
      const sources = Array.from({ length: sourceCount }, (_, id) => {
        const isLast = id === sourceCount - 1
        const columns = isLast ? last : randomWorld('uniform', recipientCount, seededRandom(2))
        return { id, label: 'A', columns }
      })
      await t.resolves(warm(localService(sources)), `${sourceCount} of ${recipientCount}`)
    }
  }
})

t.test('a snapshot without anybody needs no warming', async (t) => {
  const service = localService([])
  await warm(service)
  t.same(service.tasks, [])
})

t.test('so many workers that not all they could be asked may wait are warmed', async (t) => {
  const service = localService([
    { id: 1, label: 'A', columns: randomWorld('uniform', 400, seededRandom(1)) },
  ])
  let openCount = 0
  let refusedCount = 0
  const run: QueryRunner['run'] = async (task, caller) => {
    if (openCount >= 10) {
      refusedCount++
      throw new ServiceError('Overloaded', 'too many')
    }
    openCount++
    try {
      return await service.runner.run(task, caller)
    } finally {
      openCount--
    }
  }
  await t.resolves(warm({ ...service, runner: { run } }))
  t.ok(refusedCount > 0)
  const fails = async () => Promise.reject(new ServiceError('Unavailable', 'no worker'))
  await t.rejects(warm({ ...service, runner: { run: fails } }), { code: 'Unavailable' })
})
