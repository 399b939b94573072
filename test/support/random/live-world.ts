/**
 * People of two sources, as a snapshot and as they change.
 *
 * @module
 */
import { join } from 'node:path'
import { type Change, identityOf } from '../../../src/changes/change.js'
import { openShards } from '../../../src/live/live-shard.js'
import { LiveSnapshot } from '../../../src/live/live-snapshot.js'
import { PhoneFinder } from '../../../src/live/phone-finder.js'
import { SourceFinder } from '../../../src/live/source-finder.js'
import { attachShard } from '../../../src/shard/layout.js'
import { readIdentities } from '../../../src/snapshot/identities/list.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import type { Snapshot } from '../../../src/snapshot/snapshot.js'
import type { TestRecipient } from '../data/columns.js'
import { columnsWith } from '../data/keyed-columns.js'
import { publishSources } from '../data/snapshots.js'
import type { Random } from './world.js'

/** Of a source; the latitude is no other's, in units. */
export interface Person extends TestRecipient {
  readonly key: string
}

export type People = readonly (readonly Person[])[]

export const SOURCE_IDS = [3, 7]
export async function publishPeople(
  data: string,
  people: People,
  hasKeys: readonly boolean[],
): Promise<string> {
  const sources = SOURCE_IDS.map(async (id, at) => {
    return { id, columns: await columnsWith(people[at], hasKeys[at]) }
  })
  return await publishSources(data, await Promise.all(sources))
}

/** A snapshot with these people. */
export async function openedLive(data: string, people: People, hasKeys: readonly boolean[]) {
  await publishPeople(data, people, hasKeys)
  return await liveOf(data, await openSnapshot(data))
}

/** Where changes of a snapshot are applied. */
export async function liveOf(data: string, snapshot: Snapshot) {
  const shards = snapshot.shards.map(attachShard)
  const open = await openShards(data, snapshot)
  const phones = await PhoneFinder.open(open)
  const live = new LiveSnapshot(open, SOURCE_IDS, phones)
  const directory = join(data, 'snapshots', snapshot.id)
  const finders: SourceFinder[] = []
  for (const identities of await readIdentities(data, snapshot.id)) {
    const finder = await SourceFinder.open({ directory, identities, shards: open, phones })
    finders.push(finder)
    live.addSource(identities.id, finder)
  }
  const close = () => {
    for (const finder of finders) finder.close()
    for (const { rows } of open) rows.close()
  }
  return { live, snapshot, shards, close }
}

export function randomPerson(made: Map<number, Person>, key: string, random: Random): Person {
  const lat = made.size
  const person = {
    key,
    phone: `+999${random.between(0, 25)}`,
    lng: random.between(0, 99),
    lat,
    contact: random.pick(['', 'a', 'b', 'c', `d${random.between(0, 9)}`, '+9991']),
  }
  made.set(lat, person)
  return person
}

interface TestChange {
  readonly person: Person
  readonly change: Change
}

export function randomChanges(
  made: Map<number, Person>,
  people: readonly Person[],
  hasKeys: boolean,
  random: Random,
): TestChange[] {
  return Array.from({ length: random.between(0, 12) }, () => {
    const [old] = people.length === 0 ? [] : [random.pick(people)]
    const isOld = old !== undefined && random.unit() < 0.5
    const fresh = () => randomPerson(made, `k${random.between(0, 80)}`, random)
    // Some are as they were, some the same ones elsewhere.
    const moved = () => {
      const other = fresh()
      const person = {
        ...other,
        key: old?.key ?? '',
        phone: old?.phone ?? '',
        contact: old?.contact ?? '',
      }
      made.set(person.lat, person)
      return person
    }
    const person = isOld ? (random.unit() < 0.4 ? old : moved()) : fresh()
    const { phone, lng, lat, contact } = person
    const key = hasKeys ? person.key : undefined
    const identity = key ?? identityOf(phone, contact)
    const change: Change =
      random.unit() < 0.3
        ? { op: 'delete', identity }
        : { op: 'upsert', identity, phone, lng, lat, contact, key }
    return { person, change }
  })
}

/** By the plain meaning of changes, one after the other. */
export function changedBy(
  before: readonly Person[],
  changes: readonly TestChange[],
  hasKeys: boolean,
) {
  const identity = ({ key, phone, contact }: Person) => (hasKeys ? key : `${phone} ${contact}`)
  let people = [...before]
  for (const { person, change } of changes) {
    const same = people.find(({ lat }) => lat === person.lat)
    people = people.filter((each) => identity(each) !== identity(person))
    if (change.op === 'upsert') people.push(same ?? person)
  }
  return people
}
