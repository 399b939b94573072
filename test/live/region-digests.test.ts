/**
 * Digests of who is there, of two machines that have the same snapshot.
 *
 * @module
 */
import t from 'tap'
import { type Change, identityOf } from '../../src/changes/change.js'
import { type RegionDigest, RegionDigests } from '../../src/live/region-digests.js'
import type { ChangedShards, DeltaIncrement } from '../../src/shard/delta/increment.js'
import { type SectionName, type ShardImage, withoutColumns } from '../../src/shard/layout.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import {
  changedBy,
  liveOf,
  openedLive,
  type People,
  type Person,
  randomChanges,
  randomPerson,
  SOURCE_IDS,
} from '../support/random/live-world.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

interface Batch {
  readonly sourceId: number
  readonly changes: readonly Change[]
}

interface World {
  readonly data: string
  /** After each batch, and before the first one. */
  readonly history: readonly People[]
  readonly batches: readonly Batch[]
}

/** The last batch has one recipient come who is new. */
async function randomWorld(data: string, random: Random): Promise<World> {
  const hasKeys = [random.unit() < 0.5, random.unit() < 0.5]
  const made = new Map<number, Person>()
  const people = SOURCE_IDS.map(() =>
    Array.from({ length: random.between(1, 60) }, (_, at) => randomPerson(made, `k${at}`, random)),
  )
  const { close } = await openedLive(data, people, hasKeys)
  close()
  const history: People[] = [people]
  const batches: Batch[] = []
  const add = (source: number, made: ReturnType<typeof randomChanges>) => {
    const before = history[history.length - 1]
    const after = changedBy(before[source], made, hasKeys[source])
    history.push(before.map((each, at) => (at === source ? after : each)))
    batches.push({ sourceId: SOURCE_IDS[source], changes: made.map(({ change }) => change) })
  }
  for (let count = random.between(0, 15); count > 0; count--) {
    const source = random.between(0, 1)
    const before = history[history.length - 1]
    add(source, randomChanges(made, before[source], hasKeys[source], random))
  }
  const person = { ...randomPerson(made, 'new', random), phone: '+999555', contact: 'new' }
  const { key, ...row } = person
  const identity = hasKeys[0] ? key : identityOf(row.phone, row.contact)
  const change = { op: 'upsert', identity, ...row, key: hasKeys[0] ? key : undefined } as const
  add(0, [{ person, change }])
  return { data, history, batches }
}

interface Machine {
  readonly snapshot: Snapshot
  readonly increments: readonly ChangedShards[]
}

/** A machine that has applied batches, and told of them in increments of any length; the last batch in one of its own. */
async function machineOf(
  { data, batches }: Pick<World, 'data' | 'batches'>,
  random: Random,
): Promise<Machine> {
  const { live, snapshot, close } = await liveOf(data, await openSnapshot(data))
  const increments: ChangedShards[] = []
  const take = () => {
    const increment = live.takeChanged()
    if (increment !== undefined) increments.push(increment)
  }
  for (const [at, { sourceId, changes }] of batches.entries()) {
    if (at === batches.length - 1 || random.unit() < 0.5) take()
    live.apply(sourceId, changes, at + 1)
  }
  take()
  close()
  return { snapshot, increments }
}

function digestsOf({ snapshot, increments }: Machine, moment: number): readonly RegionDigest[] {
  const digests = new RegionDigests(snapshot)
  for (const increment of increments) digests.add(increment)
  return [...digests.at(moment)]
}

t.test('machines with the same changes have the same digests at every moment', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let number = 0; number < byTier({ ci: 4, soak: 200 }); number++) {
    const world = await randomWorld(temporaryDirectory(t), random)
    const [one, other] = [await machineOf(world, random), await machineOf(world, random)]
    const moment = random.between(0, world.batches.length)
    const digests = digestsOf(one, moment)
    t.same(digestsOf(other, moment), digests, `world ${number}, moment ${moment}`)
    const early = { ...world, batches: world.batches.slice(0, moment) }
    if (moment > 0) {
      const late = digestsOf(await machineOf(early, random), moment)
      t.same(late, digests, `world ${number}: without what came behind moment ${moment}`)
    }
    for (const [at, sourceId] of SOURCE_IDS.entries()) {
      const counts = digests.filter((each) => each.sourceId === sourceId)
      const count = counts.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
      t.equal(count, world.history[moment][at].length, `world ${number}, source ${sourceId}`)
    }
  }
})

t.test('one bit of a phone or of a position makes another digest', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let number = 0; number < byTier({ ci: 3, soak: 100 }); number++) {
    const world = await randomWorld(temporaryDirectory(t), random)
    const machine = await machineOf(world, random)
    const moment = world.batches.length
    const digests = digestsOf(machine, moment)
    const { snapshot, increments } = machine
    for (const section of ['index', 'numbers'] as const) {
      const place = random.between(0, snapshot.shards.length - 1)
      const shards = snapshot.shards.map((shard, at) =>
        at === place ? flippedIn(shard, section, random) : shard,
      )
      const flipped = digestsOf({ snapshot: { ...snapshot, shards }, increments }, moment)
      t.same(differing(digests, flipped), [place], `world ${number}: ${section} of region ${place}`)
    }
    // Whoever came last is there.
    const last = increments[increments.length - 1]
    for (const column of ['phones', 'coords'] as const) {
      const deltas = last.deltas.map((delta) => flippedAtEnd(delta, column, random))
      const flipped = { snapshot, increments: [...increments.slice(0, -1), { ...last, deltas }] }
      const found = differing(digests, digestsOf(flipped, moment))
      t.same(found, [snapshot.shards.length], `world ${number}: ${column} of the delta`)
    }
  }
})

t.test('a machine that lacks a change has other digests', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let number = 0; number < byTier({ ci: 3, soak: 100 }); number++) {
    const world = await randomWorld(temporaryDirectory(t), random)
    const { batches } = world
    const moment = batches.length + 1
    const lacking = batches.length - 1
    const [{ op: _, ...last }] = batches[lacking].changes as [Extract<Change, { op: 'upsert' }>]
    const moved: Change = { ...last, op: 'upsert', lng: last.lng + 1 }
    const gone: Change = { op: 'delete', identity: last.identity }
    const more = (changes: readonly Change[]) => {
      return { ...world, batches: [...batches, { sourceId: SOURCE_IDS[0], changes }] }
    }
    const whole = digestsOf(await machineOf(more([]), random), moment)
    for (const change of [moved, gone]) {
      const other = digestsOf(await machineOf(more([change]), random), moment)
      t.strictNotSame(other, whole, `world ${number}: ${change.op}`)
    }
    const without = batches.map((batch, at) => (at === lacking ? { ...batch, changes: [] } : batch))
    const shorter = digestsOf(await machineOf({ ...world, batches: without }, random), lacking + 1)
    t.strictNotSame(shorter, whole, `world ${number}: without the last one`)
  }
})

t.test('a digest tells who is there, and not only how many', async (t) => {
  const random = seededRandom(testSeed(t))
  const { snapshot } = await machineOf(await randomWorld(temporaryDirectory(t), random), random)
  const crowded = snapshot.shards.findIndex(({ recipientCount }) => recipientCount > 1)
  const tied = { recipients: new Uint32Array(0), ids: new Uint32Array(0) }
  const without = (recipient: number) => {
    const gone = { recipients: Uint32Array.of(recipient), moments: Uint32Array.of(1) }
    const shards = [{ shardIndex: crowded, gone, byContact: tied, byPhone: tied }]
    return digestsOf({ snapshot, increments: [{ moment: 1, shards, deltas: [] }] }, 1)
  }
  const [one, other] = [without(0), without(1)]
  t.equal(one[crowded].recipientCount, other[crowded].recipientCount)
  t.same(differing(one, other), [crowded])
})

t.test('of a region that others hold, a machine knows how many are there', async (t) => {
  const random = seededRandom(testSeed(t))
  const world = await randomWorld(temporaryDirectory(t), random)
  const { snapshot, increments } = await machineOf(world, random)
  const moment = world.batches.length
  const [first, ...others] = digestsOf({ snapshot, increments }, moment)
  const holders = snapshot.shards.map((_, at) => (at === 0 ? ['b'] : ['a', 'b']))
  const shards = snapshot.shards.map((shard, at) => (at === 0 ? withoutColumns(shard) : shard))
  const part = digestsOf({ snapshot: { ...snapshot, shards, holders }, increments }, moment)
  t.same(part, [
    { ...first, digest: null, holders: ['b'] },
    ...others.map((each) =>
      each.regionIndex === undefined ? each : { ...each, holders: ['a', 'b'] },
    ),
  ])
})

/** The places of the regions that differ. */
function differing(left: readonly RegionDigest[], right: readonly RegionDigest[]): number[] {
  return left.flatMap(({ digest }, at) => (digest === right[at].digest ? [] : [at]))
}

function flippedIn(shard: ShardImage, name: SectionName, random: Random): ShardImage {
  const section = shard.sections.find((each) => each.name === name)
  if (section === undefined) throw new Error(`there is no section ${name}`)
  const image = shard.image.slice()
  const { byteOffset, byteLength } = section
  image[byteOffset + random.between(0, byteLength - 1)] ^= 1 << random.between(0, 7)
  return { ...shard, image }
}

/** Of the last one who came. */
function flippedAtEnd(
  delta: DeltaIncrement,
  column: 'phones' | 'coords',
  random: Random,
): DeltaIncrement {
  const values = delta.come[column].slice()
  values[values.length - 1] ^= 1 << random.between(0, 6)
  return { ...delta, come: { ...delta.come, [column]: values } }
}
