/**
 * Each contact and each phone once, whether ties are known or not and wherever they lie, by brute force
 * over the plain selection.
 *
 * @module
 */
import t from 'tap'
import { polygonsOf } from '../../../src/geometry/polygon/polygons.js'
import { including } from '../../../src/geometry/shapes.js'
import { BudgetSpent } from '../../../src/shard/budget.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { attachShard, type Shard, type ShardImage } from '../../../src/shard/layout.js'
import { countInside, selectInside } from '../../../src/shard/select.js'
import { mark } from '../../../src/shard/suppressed.js'
import { inArenas } from '../../support/data/arenas.js'
import { withRepeatedPhones } from '../../support/data/repeated-phones.js'
import { withRepeats } from '../../support/data/repeats.js'
import { withContactTies } from '../../support/data/ties.js'
import { randomPen } from '../../support/random/fine-coordinates.js'
import { testSeed } from '../../support/random/properties.js'
import { randomShape, shapeKinds } from '../../support/random/shapes.js'
import { type Random, randomWorld, seededRandom, worldKinds } from '../../support/random/world.js'
import { shardsOf } from '../../support/service/local-service.js'
import { byTier } from '../../support/tier.js'

const WORLD_SIZE = byTier({ ci: 1_000, soak: 2_400 })
const plenty = () => ({ edgeTestCount: 1e9 })
/** The phones of a shard, which take longer to read than all else here. */
const textsOf = new WeakMap<Shard, string[]>()

t.test('each contact and each phone counts once, where the list has it first', async (t) => {
  const random = seededRandom(testSeed(t))
  let droppedCount = 0
  for (const kind of worldKinds) {
    const images = [1, 2].flatMap((id) => {
      const world = randomWorld(kind, WORLD_SIZE, random)
      const contacts = withContacts(world, random.pick([1, 2, 40, 1_500]), random)
      return shardsOf(withRepeatedPhones(contacts, 0.3, random), id, WORLD_SIZE / 4)
    })
    const held = placesOf(images)
    for (const { marks, recipientCount } of held.flatMap(({ shards }) => shards.slice(0, 3))) {
      if (marks !== null) mark(marks, recipientCount - 1)
    }
    for (let round = 0; round < byTier({ ci: 8, soak: 300 }); round++) {
      const [drawn, other] = [0, 1].map(() => {
        const { coords } = random.pick(held[0].shards)
        const shape = randomShape(
          random.pick(shapeKinds),
          random,
          coords[0],
          coords[1],
          randomPen(random),
        )
        return including(polygonsOf(shape))
      })
      const shapes = random.pick([
        drawn,
        drawn,
        { ...drawn, excluded: other.included },
        { ...drawn, included: [...drawn.included, ...other.included] },
      ])
      for (const { name, shards } of held) {
        const plain = selectInside(shards, shapes, plenty()).map(members)
        for (const mode of ['ContactLocation', 'Contact'] as const) {
          for (const isDistinct of [false, true]) {
            const expected = firsts(shards, plain, mode === 'Contact', isDistinct)
            const list = selectInside(shards, shapes, plenty(), mode, isDistinct)
            const counts = countInside(shards, shapes, plenty(), mode, isDistinct)
            const what = `${kind}, ${name}, ${mode}, distinct ${isDistinct}, round ${round}`
            t.same(list.map(members), expected, what)
            t.same([...counts], lengthsOf(expected), what)
            droppedCount += plain.flat().length - expected.flat().length
          }
        }
      }
    }
  }
  t.ok(droppedCount > 1_000, `${droppedCount} dropped`)
})

t.test('what a budget stops leaves nothing seen behind', async (t) => {
  const random = seededRandom(testSeed(t))
  const columns = withContacts(randomWorld('uniform', 2_000, random), 40, random)
  const globe = [
    [-180, -90],
    [180, -90],
    [180, 90],
    [-180, 90],
  ]
  const shapes = including(polygonsOf([[globe]]))
  for (const { name, shards } of placesOf(shardsOf(columns, 1, 500))) {
    const whole = plenty()
    const counts = [...countInside(shards, shapes, whole, 'Contact')]
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      new Set(columns.contacts).size,
      name,
    )
    const cost = plenty().edgeTestCount - whole.edgeTestCount
    const plain = plenty()
    countInside(shards, shapes, plain)
    t.ok(cost > plenty().edgeTestCount - plain.edgeTestCount + 2_000, 'a look costs')
    for (const edgeTestCount of [cost - 1, cost / 2, 10]) {
      try {
        countInside(shards, shapes, { edgeTestCount }, 'Contact')
        t.fail('that is not enough')
      } catch (error) {
        t.ok(error instanceof BudgetSpent)
      }
    }
    t.same([...countInside(shards, shapes, { edgeTestCount: cost }, 'Contact')], counts, name)
  }
})

/** The same shards by each way to hold ties. */
function placesOf(images: readonly ShardImage[]) {
  const held = {
    'nothing known of contacts': withRepeats(images),
    'ties beside the shards': withContactTies(withRepeats(images)),
    'ties in an arena': withContactTies(withRepeats(inArenas(images, 1))),
    'in an arena, nothing known of contacts': withRepeats(inArenas(images, 1)),
  }
  return Object.entries(held).map(([name, each]) => ({ name, shards: each.map(attachShard) }))
}

/** Contacts of about so many recipients each, anywhere. */
function withContacts(
  columns: RecipientColumns,
  perContactCount: number,
  random: Random,
): RecipientColumns {
  const { recipientCount } = columns
  const last = Math.ceil(recipientCount / perContactCount) - 1
  const contacts = Uint32Array.from({ length: recipientCount }, (_, row) =>
    perContactCount === 1 ? row : random.between(0, last),
  )
  return { ...columns, contacts, contactCount: last + 1 }
}

function firsts(
  shards: readonly Shard[],
  plain: readonly number[][],
  byContact: boolean,
  isDistinct: boolean,
): number[][] {
  const contacts = new Set<string>()
  const phones = new Set<string>()
  const isFirst = (seen: Set<string>, key: string) => !seen.has(key) && seen.add(key) === seen
  return plain.map((list, at) => {
    const shard = shards[at]
    const own = phoneTexts(shard)
    return list.filter((recipient) => {
      const contact = `${shard.sourceId} ${shard.contacts[recipient]}`
      if (byContact && !isFirst(contacts, contact)) return false
      return !isDistinct || isFirst(phones, own[recipient])
    })
  })
}

function phoneTexts(shard: Shard): string[] {
  const known = textsOf.get(shard)
  if (known !== undefined) return known
  const { phones, phoneOffsets, recipientCount } = shard
  const texts = Array.from({ length: recipientCount }, (_, at) =>
    Buffer.from(phones.subarray(phoneOffsets[at], phoneOffsets[at + 1])).toString(),
  )
  textsOf.set(shard, texts)
  return texts
}

function lengthsOf(lists: readonly number[][]): number[] {
  return lists.map(({ length }) => length)
}

function members(runs: Uint32Array): number[] {
  const list: number[] = []
  for (let i = 0; i < runs.length; i += 2) for (let j = runs[i]; j < runs[i + 1]; j++) list.push(j)
  return list
}
