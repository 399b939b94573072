/**
 * A service against a model, a plain map and brute force, in random rounds: phones are put on lists
 * and taken off, sources imported, the service ended, also by force, and started again.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { askBox, changeList, importPlaces, type Place } from '../support/data/suppressions.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 10, soak: 200 })
const SOURCE_IDS = [1, 2, 7]
const SIDE = 30

type Scope = number | 'all'

interface Model {
  readonly sources: Map<number, readonly Place[]>
  /** `<scope> <phone>` */
  readonly listed: Set<string>
}

t.test(`${ROUND_COUNT} rounds agree with the model`, async (t) => {
  const random = seededRandom(testSeed(t))
  const data = temporaryDirectory(t)
  const model: Model = { sources: new Map(), listed: new Set() }
  await importSource(t, data, model, random)
  let service = await serve(t, '--data', data)
  for (let round = 0; round < ROUND_COUNT; round++) {
    const what = random.unit()
    if (what < 0.1) {
      const id = await importSource(t, data, model, random)
      await untilServed(service, id)
    } else if (what < 0.2) {
      await service.stop(random.pick(['SIGTERM', 'SIGKILL']))
      service = await serve(t, '--data', data)
    } else {
      const changeCount = random.between(1, 4)
      const changes = Array.from({ length: changeCount }, () => change(t, service, model, random))
      await Promise.all(changes)
    }
    await compare(t, service, model, random, `round ${round}`)
  }
  const { stderr } = await service.stop()
  t.notMatch(stderr, /\+999/, 'no number is in the log')
})

function randomPhone(random: Random): string {
  return `+999${random.between(0, 150)}`
}

async function importSource(t: Test, data: string, model: Model, random: Random): Promise<string> {
  const sourceId = random.pick(SOURCE_IDS)
  const places = Array.from({ length: random.between(1, 200) }, () => ({
    phone: randomPhone(random),
    lng: random.between(1, SIDE),
    lat: random.between(0, SIDE),
    contact: random.pick(['', 'a', 'b', 'c', `d${random.between(0, 50)}`]),
  }))
  model.sources.set(sourceId, places)
  return importPlaces(t, data, sourceId, places)
}

async function untilServed({ url }: Service, snapshotId: string): Promise<void> {
  for (;;) {
    const ready = (await (await fetch(`${url}/readyz`)).json()) as { snapshotId: string }
    if (ready.snapshotId === snapshotId) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Changes that go on at once have phones of their own, so that their order does not matter. */
async function change(t: Test, service: Service, model: Model, random: Random): Promise<void> {
  const scope: Scope = random.pick(['all', ...SOURCE_IDS])
  const phones = [
    ...new Set(Array.from({ length: random.between(1, 12) }, () => randomPhone(random))),
  ]
  const verb = random.unit() < 0.6 ? 'PUT' : 'DELETE'
  const own = phones.filter((phone) => !pending.has(phone))
  for (const phone of own) pending.add(phone)
  const changed = own.filter(
    (phone) => model.listed.has(`${scope} ${phone}`) === (verb === 'DELETE'),
  )
  const { status, body } = await changeList(service, verb, scope, own)
  t.equal(status, 200, JSON.stringify(body))
  t.equal(body[verb === 'PUT' ? 'AddedCount' : 'RemovedCount'], changed.length)
  const affected = [...model.sources].flatMap(([sourceId, places]) =>
    scope === 'all' || scope === sourceId
      ? places.filter((place) => own.includes(place.phone))
      : [],
  )
  t.equal(body.RecipientCount, affected.length)
  for (const phone of own) {
    if (verb === 'PUT') model.listed.add(`${scope} ${phone}`)
    else model.listed.delete(`${scope} ${phone}`)
    pending.delete(phone)
  }
}

const pending = new Set<string>()

async function compare(
  t: Test,
  service: Service,
  model: Model,
  random: Random,
  what: string,
): Promise<void> {
  for (let i = 0; i < 4; i++) {
    const [west, south] = [random.between(0, SIDE), random.between(0, SIDE)]
    const box = [west, south, random.between(west, SIDE), random.between(south, SIDE)]
    const contactCountMode = random.pick(['ContactLocation', 'Contact'])
    const counted = await askBox(service, box, { countsOnly: true, contactCountMode })
    const listed = await askBox(service, box, { contactCountMode })
    const expected = [...model.sources].sort(([a], [b]) => a - b)
    for (const [at, [sourceId, places]] of expected.entries()) {
      const inside = places.filter(
        (place) => isIn(place, box) && !isSuppressed(model, sourceId, place.phone),
      )
      const contacts = new Set(inside.map(contactOf))
      const count = contactCountMode === 'Contact' ? contacts.size : inside.length
      t.equal(counted[at].Count, count, `${what}, counted in source ${sourceId}`)
      t.equal(listed[at].Count, count, `${what}, listed in source ${sourceId}`)
      const phones = (listed[at].Recipients ?? []).map((recipient) => recipient.Number)
      t.equal(phones.length, count)
      if (contactCountMode === 'Contact') {
        const allowed = new Set(inside.map(({ phone }) => phone))
        t.ok(
          phones.every((phone) => allowed.has(phone)),
          'nobody else is listed',
        )
      } else t.same(phones.sort(), inside.map(({ phone }) => phone).sort())
    }
  }
}

function isIn({ lng, lat }: Place, [west, south, east, north]: readonly number[]): boolean {
  return lng >= west && lng <= east && lat >= south && lat <= north
}

function isSuppressed({ listed }: Model, sourceId: number, phone: string): boolean {
  return listed.has(`all ${phone}`) || listed.has(`${sourceId} ${phone}`)
}

/** Recipients without a contact are one by their phone; no contact is written like a phone. */
function contactOf({ contact, phone }: Place): string {
  return contact === '' ? phone : contact
}
