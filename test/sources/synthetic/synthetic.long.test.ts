import { createHash } from 'node:crypto'
import t from 'tap'
import {
  type SyntheticOptions,
  subscriberDigits,
  syntheticRecipients,
} from '../../../src/sources/synthetic/synthetic.js'

interface Recipient {
  readonly lng: number
  readonly lat: number
  readonly number: string
  readonly contact: number
}

function recipients(options: SyntheticOptions): Recipient[] {
  const all: Recipient[] = []
  for (const batch of syntheticRecipients(options))
    for (let row = 0; row < batch.recipientCount; row += 1) {
      const { value, width } = subscriberDigits(batch.subscribers[row])
      all.push({
        lng: batch.lngs[row],
        lat: batch.lats[row],
        number: `+999${String(value).padStart(width, '0')}`,
        contact: batch.contacts[row],
      })
    }
  return all
}

function countBy<Key>(keys: Iterable<Key>): Map<Key, number> {
  const counts = new Map<Key, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

const sample = recipients({ recipientCount: 200_000, seed: 1 })

t.test('a seed gives the same recipients wherever it is run', async (t) => {
  const hash = createHash('sha256')
  for (const each of recipients({ recipientCount: 20_000, seed: 7 }))
    hash.update(`${each.number} ${each.lat} ${each.lng} ${each.contact}\n`)
  t.equal(hash.digest('hex'), '9920099308dc37b324b6c92e8e168d0bfa1047ace5b225afb7aace76c68c001f')
})

t.test('other seeds, the largest too, give other recipients', async (t) => {
  const beginnings = [0, 1, 2, 2 ** 31, 2 ** 32 - 1].map((seed) =>
    JSON.stringify(recipients({ recipientCount: 100, seed })),
  )
  t.equal(new Set(beginnings).size, beginnings.length)
})

t.test('a shorter run is the beginning of a longer one', async (t) => {
  for (const recipientCount of [0, 1, 16_383, 16_384, 16_385, 40_000]) {
    const run = recipients({ recipientCount, seed: 1 })
    t.equal(run.length, recipientCount)
    t.ok(JSON.stringify(run) === JSON.stringify(sample.slice(0, recipientCount)))
  }
})

t.test('positions are on the globe', async (t) => {
  t.ok(sample.every(({ lng }) => Number.isInteger(lng) && Math.abs(lng) <= 1_800_000_000))
  t.ok(sample.every(({ lat }) => Number.isInteger(lat) && Math.abs(lat) <= 900_000_000))
})

t.test('islands on the antimeridian have people on both sides of it, none beyond', async (t) => {
  const fiji = recipients({ recipientCount: 20_000, seed: 1, countries: ['FJ'] })
  t.ok(fiji.some(({ lng }) => lng > 1_790_000_000))
  t.ok(fiji.some(({ lng }) => lng < -1_790_000_000))
  t.ok(fiji.every(({ lng }) => Math.abs(lng) <= 1_800_000_000))
})

t.test('phones are unique, and of a country that there is not', async (t) => {
  t.equal(new Set(sample.map(({ number }) => number)).size, sample.length)
  t.ok(sample.every(({ number }) => /^\+999[0-9]{8,9}$/.test(number)))
  t.ok(sample.some(({ number }) => number.length === 12))
})

t.test('about 15 % of the contacts have several phones, 4 at most', async (t) => {
  const sizes = [...countBy(sample.map(({ contact }) => contact)).values()]
  const several = sizes.filter((size) => size > 1).length / sizes.length
  t.ok(Math.abs(several - 0.15) < 0.01, `${several}`)
  t.equal(
    sizes.reduce((a, b) => Math.max(a, b)),
    4,
  )
  t.ok(sample.every(({ contact }, row) => contact <= row && contact >= 0))
})

t.test('contacts with several phones have them at home or elsewhere', async (t) => {
  const homes = new Map<number, Recipient>()
  const seconds: Recipient[] = []
  for (const each of sample)
    if (homes.has(each.contact)) seconds.push(each)
    else homes.set(each.contact, each)
  const atHome = seconds.filter(({ contact, lng, lat }) => {
    const home = homes.get(contact)
    return home?.lng === lng && home.lat === lat
  })
  t.ok(Math.abs(atHome.length / seconds.length - 0.5) < 0.02)
})

t.test('about 10 % of the contacts live in blocks of 2 to 60', async (t) => {
  const homes = sample.filter((each, row) => row === 0 || sample[row - 1].contact !== each.contact)
  const sizes = [...countBy(homes.map(({ lng, lat }) => `${lng} ${lat}`)).values()]
  const flats = sizes.filter((size) => size > 1)
  const share = flats.reduce((sum, size) => sum + size, 0) / homes.length
  t.ok(Math.abs(share - 0.1) < 0.01, `${share}`)
  t.ok(Math.max(...flats) <= 60)
  t.ok(Math.max(...flats) > 50)
})

t.test('most live near a large city', async (t) => {
  const newYork = sample.filter(
    ({ lng, lat }) => Math.abs(lng + 740_000_000) < 5_000_000 && Math.abs(lat - 407_000_000) < 4e6,
  )
  t.ok(newYork.length / sample.length > 0.003, `${newYork.length}`)
})

t.test('countries narrow the cities, in any order and once each', async (t) => {
  const both = recipients({ recipientCount: 5_000, seed: 3, countries: ['US', 'CA'] })
  t.ok(both.every(({ lng, lat }) => lng < -400_000_000 && lat > 100_000_000))
  t.same(recipients({ recipientCount: 5_000, seed: 3, countries: ['CA', 'US', 'US'] }), both)
})

t.test('a country without a city is refused before anything is made', async (t) => {
  for (const [countries, message] of [
    [['US', 'XX'], /"XX"/],
    [['us'], /"us"/],
    [[''], /""/],
    [[], /empty/],
  ] as const)
    t.throws(() => syntheticRecipients({ recipientCount: 1, seed: 1, countries }), {
      code: 'Usage',
      message,
    })
})
