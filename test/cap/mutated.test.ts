/**
 * Random alerts, whose drawings must be what was written, and alerts that were damaged in any way: they are
 * refused, or nothing is drawn that they do not have word for word.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { type CapDrawing, drawingOfAlert } from '../../src/cap/drawing.js'
import { CAP_PROFILES } from '../../src/cap/profiles.js'
import { errorTables, ServiceError } from '../../src/errors.js'
import type { Position } from '../../src/notations/drawn.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'
import { linesOf } from './canonical.js'
import { areaOf, type Facts, factsOf, geocode, infoOf, writeAlert } from './writer.js'

t.test('a random alert is drawn as it was written', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < byTier({ ci: 100, soak: 10_000 }); round++) {
    const { text, features } = randomAlert(random)
    const { drawing } = drawingOfAlert(readAlert(text, 'cap'), { nowMs: 0 })
    const expected = linesOf({ type: 'FeatureCollection', features })
    if (linesOf(drawing).join() !== expected.join()) {
      t.same(linesOf(drawing), expected, text)
      return
    }
  }
})

t.test('damaged alerts: refused, or drawn from what is in them', async (t) => {
  const random = seededRandom(testSeed(t))
  const table = fileURLToPath(new URL('../../../test/cap/real/alerts.jsonl', import.meta.url))
  const real = readFileSync(table, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && line.length < 3_000)
    .map((line) => JSON.parse(line) as [string, string, Facts[]])
  const codes = new Map<string, number>()
  for (let round = 0; round < byTier({ ci: 1_000, soak: 30_000 }); round++) {
    const [, version, members] = random.pick(real)
    const whole = random.unit() < 0.5 ? randomAlert(random).text : writeAlert(version, members)
    const text = damaged(random, whole)
    const outcome = outcomeOf(random, text)
    codes.set(outcome.code, (codes.get(outcome.code) ?? 0) + 1)
    const strange = outcome.drawing === undefined ? undefined : strangeIn(outcome.drawing, text)
    if (strange !== undefined) {
      t.fail(`${strange} is not in ${text}`)
      return
    }
  }
  t.comment([...codes].map(([code, count]) => `${code} ${count}`).join(', '))
  for (const code of ['drawn', 'InvalidXml', 'InvalidCap', 'CapPolygonOpen', 'CapAreaMissing']) {
    t.ok((codes.get(code) ?? 0) > byTier({ ci: 3, soak: 20 }), code)
  }
})

interface Outcome {
  readonly code: string
  readonly drawing?: CapDrawing['drawing']
}

/** What is no ServiceError is a fault of ours, and fails the test. */
function outcomeOf(random: Random, text: string): Outcome {
  const source = random.unit() < 0.5 ? text : Buffer.from(text)
  const profile = random.pick([undefined, undefined, undefined, ...CAP_PROFILES])
  const geocodes = random.pick(['union', 'fallback'] as const)
  try {
    const options = { nowMs: 0, geocodes, ...(profile !== undefined && { profile }) }
    return { code: 'drawn', drawing: drawingOfAlert(readAlert(source, 'cap'), options).drawing }
  } catch (fault) {
    if (!(fault instanceof ServiceError) || fault.status >= 500) throw fault
    if (!Object.hasOwn(errorTables.serviceErrors, fault.code)) throw fault
    return { code: fault.code }
  }
}

/** A place, a radius or a name that the text does not have. */
function strangeIn({ features }: CapDrawing['drawing'], text: string): string | undefined {
  const plain = text.replace(/<!--.*?-->|<!\[CDATA\[|\]\]>/gs, '')
  const words = plain.split(/[\s<>]+/)
  const pairs = new Set<string>()
  for (const word of words) {
    const [lat, lng, ...rest] = word.split(',')
    if (lng !== undefined && rest.length === 0) pairs.add(`${Number(lat) + 0},${Number(lng) + 0}`)
  }
  const metres = words.map((word) => Number(word) * 1000)
  for (const { geometry, properties } of features) {
    const places =
      geometry === null || geometry.type === 'GeometryCollection'
        ? []
        : ((geometry.type === 'Point'
            ? [geometry.coordinates]
            : geometry.coordinates.flat(3)) as unknown[])
    const numbers = places.flat() as number[]
    for (let i = 0; i < numbers.length; i += 2) {
      const pair = `${numbers[i + 1] + 0},${numbers[i] + 0}`
      if (!pairs.has(pair)) return pair
    }
    const { radius } = properties
    if (radius !== undefined && !metres.some((each) => Math.abs(each / radius - 1) < 1e-12)) {
      return `radius ${radius}`
    }
    for (const name of [properties.area ?? []].flat()) {
      const value = name.slice(name.indexOf(':') + 1)
      if (!plain.includes(value.replaceAll('&', '&amp;'))) return name
    }
  }
  return undefined
}

function damaged(random: Random, text: string): string {
  let result = text
  const isKept = random.unit() < 0.6
  for (let left = random.between(1, 3); left > 0; left--) {
    const at = random.between(0, result.length)
    const end = Math.min(result.length, at + random.between(1, random.pick([1, 3, 20, 200])))
    const from = random.between(0, result.length)
    const piece = result.slice(from, from + random.between(1, 60))
    // What is no XML any more is refused for that alone.
    const kept = [
      () => withoutNumber(random, result),
      () => exchanged(random, result),
      () => withoutElement(random, result),
      () => otherDigit(random, result),
    ]
    const broken = [
      () => result.slice(0, at) + result.slice(end),
      () => result.slice(0, at) + piece + result.slice(at),
      () => result.slice(0, at) + piece + result.slice(end),
      () => result.slice(0, at) + random.pick(INSERTED) + result.slice(at),
      () => swappedTags(random, result),
    ]
    result = random.pick(isKept ? kept : broken)()
  }
  return result
}

const INSERTED = [
  ...[
    '<',
    '>',
    '&',
    '&amp;',
    '&x;',
    ',',
    ' ',
    '.',
    '-',
    '0',
    '9',
    'e9',
    '\u0000',
    '\ufeff',
    '𝟙',
    '٣',
  ],
  ...['<!-- x -->', '<![CDATA[1]]>', '<polygon>', '</polygon>', '<area>', '</area>', '<info/>'],
  ...['<!DOCTYPE alert>', '<?xml version="1.0"?>', ' xmlns="urn:x"', '<polygon/>', '1,2 3,4'],
]

/** One word between tags in the place of another. */
function swappedTags(random: Random, text: string): string {
  const names = [...text.matchAll(/<\/?(\w+)>/g)]
  if (names.length < 2) return text
  const [one, other] = [random.pick(names), random.pick(names)]
  return text.slice(0, one.index) + other[0] + text.slice(one.index + one[0].length)
}

function withoutNumber(random: Random, text: string): string {
  const numbers = [...text.matchAll(/[-\d.]+,[-\d.]+ ?/g)]
  if (numbers.length === 0) return text
  const { index, 0: found } = random.pick(numbers)
  return text.slice(0, index) + text.slice(index + found.length)
}

function withoutElement(random: Random, text: string): string {
  const elements = [
    ...text.matchAll(/<(polygon|circle|geocode|areaDesc|expires|value)>.*?<\/\1>/gs),
  ]
  if (elements.length === 0) return text
  const { index, 0: found } = random.pick(elements)
  return text.slice(0, index) + text.slice(index + found.length)
}

function otherDigit(random: Random, text: string): string {
  const digits = [...text.matchAll(/(?<=>[^<]*)\d/g)]
  if (digits.length === 0) return text
  const { index } = random.pick(digits)
  return text.slice(0, index) + random.pick([...'0123456789-+., e']) + text.slice(index + 1)
}

/** Latitude and longitude of a whole polygon. */
function exchanged(random: Random, text: string): string {
  const polygons = [...text.matchAll(/<polygon>([^<]*)<\/polygon>/g)]
  if (polygons.length === 0) return text
  const { index, 0: found } = random.pick(polygons)
  const turned = found.replace(/([-\d.]+),([-\d.]+)/g, '$2,$1')
  return text.slice(0, index) + turned + text.slice(index + found.length)
}

function randomAlert(random: Random): {
  readonly text: string
  readonly features: CapDrawing['drawing']['features'][number][]
} {
  const features: CapDrawing['drawing']['features'][number][] = []
  const infos = Array.from({ length: random.between(1, 3) }, (): Facts => {
    const areas = Array.from({ length: random.between(1, 3) }, () => {
      const members: Facts[] = []
      while (members.length === 0 || random.unit() < 0.5) {
        const [fact, feature] = random.pick([randomPolygon, randomCircle, randomGeocode])(random)
        members.push(fact)
        features.push(feature)
      }
      return areaOf(...members)
    })
    return ['info', infoOf(areas, { language: random.pick(['en-US', 'es-MX', 'fr-CA']) })]
  })
  const head = factsOf([]).filter(([name]) => name !== 'info')
  const version = random.pick(['1.1', '1.2'])
  return { text: writeAlert(version, [...head, ...infos]), features }
}

type Drawn = readonly [Facts, CapDrawing['drawing']['features'][number]]

/** A star around a place, which does not cross itself. */
function randomPolygon(random: Random): Drawn {
  const [lng, lat] = [random.between(-170, 170), random.between(-80, 80)]
  const count = random.between(3, 12)
  const ring = Array.from({ length: count }, (_, i): Position => {
    const angle = (2 * Math.PI * (i + 0.1 + 0.5 * random.unit())) / count
    const reach = 0.5 + 4 * random.unit()
    const decimals = random.between(3, 9)
    const place = (value: number) => Number(value.toFixed(decimals)) + 0
    return [place(lng + reach * Math.sin(angle)), place(lat + reach * Math.cos(angle))]
  })
  const closed = [...ring, ring[0]]
  const space = random.pick([' ', '  ', '\n', '\n\t'])
  const text = closed.map(([x, y]) => `${decimal(y)},${decimal(x)}`).join(space)
  return [
    ['polygon', text],
    { type: 'Feature', geometry: { type: 'Polygon', coordinates: [closed] }, properties: {} },
  ]
}

function randomCircle(random: Random): Drawn {
  const [lng, lat] = [random.between(-1800, 1800) / 10, random.between(-900, 900) / 10]
  const radius = random.pick([0, 1, 25_000, random.between(1, 1_000_000)])
  return [
    ['circle', `${lat},${lng} ${decimal(radius / 1000)}`],
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [lng, lat] },
      properties: radius === 0 ? {} : { radius },
    },
  ]
}

function randomGeocode(random: Random): Drawn {
  const code = String(random.between(0, 999_999)).padStart(6, '0')
  const name = random.pick(['SAME', 'UGC', 'WARNCELLID'])
  return [
    geocode(name, code),
    { type: 'Feature', geometry: null, properties: { area: `${name}:${code}` } },
  ]
}

/** As people write numbers: without an exponent. */
function decimal(value: number): string {
  return String(value).includes('e') ? value.toFixed(12) : String(value)
}
