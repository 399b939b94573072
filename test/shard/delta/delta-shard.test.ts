/**
 * A snapshot and what came since, as shards and deltas, against shards of the same recipients.
 *
 * @module
 */
import t from 'tap'
import { ServiceError } from '../../../src/errors.js'
import type { Shapes } from '../../../src/geometry/shapes.js'
import { readDrawing } from '../../../src/selection/shapes/shapes.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { deltaShard } from '../../../src/shard/delta/delta-shard.js'
import { PackRoom } from '../../../src/shard/delta/pack-room.js'
import { attachPack, buildPack } from '../../../src/shard/delta/packs.js'
import { attachShard, type Pack, type Shard, type ShardImage } from '../../../src/shard/layout.js'
import { countInside, selectInside } from '../../../src/shard/select.js'
import { isMarked, type Marks, mark, marksBytes } from '../../../src/shard/suppressed.js'
import { extendTies } from '../../../src/shard/ties/extend-ties.js'
import { rankOf } from '../../../src/shard/ties/ranked-set.js'
import type { Ties } from '../../../src/shard/ties/ties.js'
import { inArenas } from '../../support/data/arenas.js'
import { withRepeatedPhones } from '../../support/data/repeated-phones.js'
import { withRepeats } from '../../support/data/repeats.js'
import { withContactTies } from '../../support/data/ties.js'
import { testSeed } from '../../support/random/properties.js'
import { featureKinds, randomRequest } from '../../support/random/requests.js'
import { type Random, randomWorld, seededRandom, worldKinds } from '../../support/random/world.js'
import { shardsOf } from '../../support/service/local-service.js'
import { byTier } from '../../support/tier.js'

const WORLD_SIZE = byTier({ ci: 600, soak: 1_500 })
const plenty = () => ({ edgeTestCount: 1e10 })

/** Which the kernel does not reach. */
const packsAsTheyCame = { layOut: (packs: readonly Pack[]) => packs }

/** All recipients of a source that ever were; those from `firstNew` on came after the snapshot. */
interface History {
  readonly sourceId: number
  readonly columns: RecipientColumns
  readonly firstNew: number
  readonly isThere: (row: number) => boolean
  readonly isSuppressed: (row: number) => boolean
  /** What the snapshot holds of it, and the row of each of its recipients. */
  readonly base: { readonly image: ShardImage; readonly rows: ArrayLike<number> }
}

/** Ids for what is shared, with those that ties have; whoever is newly tied is noted. */
class IdsByText {
  idEnd: number
  readonly #ties: readonly Ties[]
  readonly #holders = new Map<string, [at: number, index: number][]>()
  readonly #ids = new Map<string, number>()
  readonly #tied: [at: number, index: number, id: number][] = []

  constructor(ties: readonly Ties[]) {
    this.#ties = ties
    this.idEnd = Math.max(...ties.map(({ idEnd }) => idEnd))
  }

  know(text: string, at: number, index: number): void {
    const holders = this.#holders.get(text)
    if (holders === undefined) this.#holders.set(text, [[at, index]])
    else holders.push([at, index])
  }

  idOf(text: string): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    const holders = this.#holders.get(text) ?? []
    const [first] = holders
    let id: number
    if (holders.length > 1) {
      const { set, ids } = this.#ties[first[0]]
      id = ids[set === null ? first[1] : rankOf(set, first[1])]
    } else {
      id = this.idEnd++
      if (first !== undefined) this.#tied.push([...first, id])
    }
    this.#ids.set(text, id)
    return id
  }

  tied(at: number) {
    const own = this.#tied.filter(([its]) => its === at).sort((a, b) => a[1] - b[1])
    return {
      recipients: Uint32Array.from(own, ([, index]) => index),
      ids: Uint32Array.from(own, ([, , id]) => id),
    }
  }
}

t.test('shards and deltas select who is there, each contact and each phone once', async (t) => {
  const random = seededRandom(testSeed(t))
  let foundCount = 0
  let droppedCount = 0
  for (let world = 0; world < byTier({ ci: 12, soak: 150 }); world++) {
    const kind = random.pick(worldKinds)
    const histories = [1, 2].map((sourceId) => randomHistory(sourceId, kind, random))
    const shards = liveShards(histories, random, world % 2 === 0)
    const reference = histories.map(referenceShard)
    for (let round = 0; round < byTier({ ci: 3, soak: 8 }); round++) {
      const shapes = randomShapes(histories[0].columns, random)
      if (shapes === undefined) continue
      const what = `${kind}, world ${world}, round ${round}`
      const plain = selectInside(shards, shapes, plenty()).map(membersOf)
      const rows = plain.map((members, at) => rowsOf(members, at, histories))
      const expected = selectInside(reference, shapes, plenty()).map((runs, at) =>
        membersOf(runs).map((index) => reference[at].ids[index]),
      )
      t.same(
        [sorted([...rows[0], ...rows[1]]), sorted([...rows[2], ...rows[3]])],
        expected.map(sorted),
        what,
      )
      for (const mode of ['ContactLocation', 'Contact'] as const) {
        for (const isDistinct of [false, true]) {
          const list = selectInside(shards, shapes, plenty(), mode, isDistinct).map(membersOf)
          const counts = countInside(shards, shapes, plenty(), mode, isDistinct)
          t.same(
            [...counts],
            list.map(({ length }) => length),
            `${what}, ${mode}, ${isDistinct}`,
          )
          const firsts = firstsOf(plain, histories, mode === 'Contact', isDistinct)
          t.same(list, firsts, `${what}, ${mode}, distinct ${isDistinct}`)
          foundCount += list.flat().length
          droppedCount += plain.flat().length - list.flat().length
        }
      }
    }
  }
  const least = byTier({ ci: 1_000, soak: 10_000 })
  t.ok(
    foundCount > least && droppedCount > least / 10,
    `${foundCount} found, ${droppedCount} dropped`,
  )
})

function randomHistory(
  sourceId: number,
  kind: (typeof worldKinds)[number],
  random: Random,
): History {
  const plain = randomWorld(kind, random.between(200, WORLD_SIZE), random)
  const { recipientCount } = plain
  const contactCount = random.pick([recipientCount, Math.ceil(recipientCount / 3), 5])
  const contacts = Uint32Array.from({ length: recipientCount }, () =>
    random.between(0, contactCount - 1),
  )
  const columns = withRepeatedPhones({ ...plain, contacts, contactCount }, 0.3, random)
  const firstNew = random.between(1, recipientCount - 1)
  const [image] = shardsOf({ ...columns, recipientCount: firstNew }, sourceId, firstNew)
  const goneShare = random.pick([0, 0.02, 0.5])
  const gone = Array.from({ length: recipientCount }, () => random.unit() < goneShare)
  const suppressed = Array.from({ length: recipientCount }, () => random.unit() < 0.01)
  return {
    sourceId,
    columns,
    firstNew,
    isThere: (row) => !gone[row],
    isSuppressed: (row) => suppressed[row],
    base: { image, rows: attachShard(image).ids },
  }
}

/** One shard with everybody, and a mask for whoever is not there. */
function referenceShard({ sourceId, columns, isThere, isSuppressed }: History): Shard {
  const [shard] = shardsOf(columns, sourceId, columns.recipientCount).map(attachShard)
  const marks = marksOf(columns.recipientCount)
  for (const [index, row] of shard.ids.entries()) if (isSuppressed(row)) mark(marks, index)
  return {
    ...shard,
    marks,
    mask: runsOf(shard.recipientCount, (index) => isThere(shard.ids[index])),
  }
}

/** Of each source the shard of the snapshot, and the delta. */
function liveShards(histories: readonly History[], random: Random, areInArenas: boolean): Shard[] {
  const images = histories.map(({ base }) => base.image)
  const placed: readonly ShardImage[] = areInArenas ? inArenas(images, 1) : images
  const bases = withContactTies(withRepeats(placed)).map(attachShard)
  const phones = new IdsByText(bases.map(({ phoneTies }) => phoneTies))
  for (const [at, history] of histories.entries()) {
    for (const [index, row] of bases[at].ids.entries())
      phones.know(phoneOf(history, row), at, index)
  }
  const newPhones = histories.map((history) =>
    newRows(history).map((row) => phones.idOf(phoneOf(history, row))),
  )
  return histories.flatMap((history, at) => {
    const base = bases[at]
    const contacts = new IdsByText([base.contactTies])
    for (const [index, row] of base.ids.entries())
      contacts.know(`${history.columns.contacts[row]}`, 0, index)
    const newContacts = newRows(history).map((row) =>
      contacts.idOf(`${history.columns.contacts[row]}`),
    )
    const { firstNew, columns, isThere, isSuppressed } = history
    const marks = base.marks ?? marksOf(base.recipientCount)
    for (const [index, row] of base.ids.entries()) if (isSuppressed(row)) mark(marks, index)
    const live: Shard = {
      ...base,
      marks,
      mask: runsOf(base.recipientCount, (index) => isThere(base.ids[index])),
      contactTies: extendTies(base.contactTies, base.recipientCount, contacts.tied(0)),
      phoneTies: extendTies(base.phoneTies, base.recipientCount, phones.tied(at)),
    }
    const recipientCount = columns.recipientCount - firstNew
    const coords = new Int32Array(2 * recipientCount)
    for (let place = 0; place < recipientCount; place++) {
      coords[2 * place] = columns.lngs[firstNew + place]
      coords[2 * place + 1] = columns.lats[firstNew + place]
    }
    const deltaMarks = marksOf(recipientCount)
    for (let place = 0; place < recipientCount; place++) {
      if (isSuppressed(firstNew + place)) mark(deltaMarks, place)
    }
    const delta = deltaShard(
      history.sourceId,
      {
        coords,
        phoneOffsets: columns.phoneOffsets.slice(firstNew),
        phones: columns.phones,
        contactIds: Uint32Array.from(newContacts),
        phoneIds: Uint32Array.from(newPhones[at]),
        marks: deltaMarks,
      },
      { recipientCount, contactIdEnd: contacts.idEnd, phoneIdEnd: phones.idEnd },
      (areInArenas ? new PackRoom() : packsAsTheyCame).layOut(
        packed(recipientCount, random).map(([start, end]) =>
          attachPack(buildPack(history.sourceId, coords, start, end)),
        ),
      ),
      runsOf(recipientCount, (place) => isThere(firstNew + place)),
    )
    return [live, delta]
  })
}

/** All places, cut anywhere. */
function packed(count: number, random: Random): [start: number, end: number][] {
  const cuts = Array.from({ length: random.between(0, 3) }, () => random.between(1, count))
  const bounds = [...new Set([0, ...cuts, count])].sort((a, b) => a - b)
  return bounds.slice(1).map((end, at) => [bounds[at], end])
}

function newRows({ columns, firstNew }: History): number[] {
  return Array.from({ length: columns.recipientCount - firstNew }, (_, at) => firstNew + at)
}

function phoneOf({ columns: { phones, phoneOffsets } }: History, row: number): string {
  return Buffer.from(phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])).toString()
}

/** Rows of the members of a live shard: those of source 1 are the first two. */
function rowsOf(members: readonly number[], at: number, histories: readonly History[]): number[] {
  const history = histories[at >> 1]
  if (at % 2 === 1) return members.map((place) => history.firstNew + place)
  return members.map((index) => history.base.rows[index])
}

/** Of plain selections: each contact of a source once, then each phone once, in the order of the list. */
function firstsOf(
  plain: readonly number[][],
  histories: readonly History[],
  isByContact: boolean,
  isDistinct: boolean,
): number[][] {
  const phones = new Set<string>()
  const contacts = histories.map(() => new Set<number>())
  return plain.map((members, at) => {
    const history = histories[at >> 1]
    const rows = rowsOf(members, at, histories)
    return members.filter((_, i) => {
      const contact = history.columns.contacts[rows[i]]
      if (isByContact) {
        if (contacts[at >> 1].has(contact)) return false
        contacts[at >> 1].add(contact)
      }
      const phone = phoneOf(history, rows[i])
      if (isDistinct && phones.has(phone)) return false
      phones.add(phone)
      return true
    })
  })
}

/** Undefined for shapes that are refused. */
function randomShapes(columns: RecipientColumns, random: Random): Shapes | undefined {
  const kinds = [...featureKinds, 'exclude', 'featureSources'] as const
  const { geoJSON, geojson, GeoJson } = randomRequest(columns, [1, 2], kinds, random)
  try {
    return readDrawing(geoJSON ?? geojson ?? GeoJson, 'geoJSON').shapes
  } catch (error) {
    if (error instanceof ServiceError && [400, 422].includes(error.status)) return undefined
    throw error
  }
}

function marksOf(count: number): Marks {
  const marks = new Int32Array(marksBytes(count) / 4)
  if (count > 0 && isMarked(marks, 0)) throw new Error('nobody is marked yet')
  return marks
}

function runsOf(count: number, isIn: (at: number) => boolean): Uint32Array {
  const bounds: number[] = []
  for (let at = 0; at < count; at++) {
    if (!isIn(at)) continue
    if (bounds.at(-1) === at) bounds[bounds.length - 1] = at + 1
    else bounds.push(at, at + 1)
  }
  return Uint32Array.from(bounds)
}

function membersOf(runs: ArrayLike<number>): number[] {
  const members: number[] = []
  for (let i = 0; i < runs.length; i += 2) {
    for (let at = runs[i]; at < runs[i + 1]; at++) members.push(at)
  }
  return members
}

function sorted(rows: readonly number[]): number[] {
  return [...rows].sort((a, b) => a - b)
}
