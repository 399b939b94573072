/**
 * Contexts as collections of features: the count of an area is beside its own shape, whatever is changed meanwhile.
 */
import t from 'tap'
import { limits } from '../../../src/limits.js'
import { contextCollections } from '../../../src/operations/features/contexts.js'
import { squareGeometry } from '../../support/data/store.js'

const ID = '8f14e45f-ceea-467f-a0f0-1234567890ab'

/** A store with one context, and a reader that counts it: 1 in the north, 2 in the south. */
function stage(whileCounting: (turn: () => void) => void) {
  let version = 1
  let areas = ['north', 'south']
  const turn = () => {
    version++
    areas = areas.toReversed()
  }
  const context = () => ({
    Id: ID,
    Areas: areas.map((Id) => ({ Id, Geometry: squareGeometry(10, Id === 'north' ? 60 : -60, 1) })),
  })
  const store = {
    contextVersion: () => version,
    context: () => ({ version, json: Buffer.from(JSON.stringify(context())) }),
  }
  let readCount = 0
  const read = async () => {
    readCount++
    const Areas = context().Areas.map((area) => {
      return { ...area, ContactTotalCount: area.Id === 'north' ? 1 : 2 }
    })
    whileCounting(turn)
    return { json: () => JSON.stringify({ Areas }) }
  }
  const collections = contextCollections(store as never, read as never)
  return { open: () => collections.open(ID, {} as never), readCount: () => readCount }
}

t.test('areas that change places while they are counted keep their counts', async (t) => {
  let turnCount = 1
  const { open, readCount } = stage((turn) => {
    if (turnCount-- > 0) turn()
  })
  const page = await (await open())?.page(undefined, 10, 0)
  t.match(page?.features, [
    { id: 'south', properties: { Id: 'south', ContactTotalCount: 2 } },
    { id: 'north', properties: { Id: 'north', ContactTotalCount: 1 } },
  ])
  t.equal(readCount(), 2)
  t.match(await (await open())?.feature('south'), { properties: { ContactTotalCount: 2 } })
})

t.test('a context that never stays as it is, is not answered wrongly', async (t) => {
  const { open, readCount } = stage((turn) => turn())
  const collection = await open()
  await t.rejects(async () => collection?.page(undefined, 10, 0), { code: 'Unavailable' })
  t.equal(readCount(), limits.countedContextAttemptCount)
})
