/**
 * Files that were damaged: they are refused as what they are, or every position that they hold is taken, and
 * none that they do not hold.
 *
 * @module
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { ServiceError, type ServiceErrorCode } from '../../src/errors.js'
import type { DrawnCollection } from '../../src/notations/drawn.js'
import { readGpx } from '../../src/notations/gpx.js'
import { readKml } from '../../src/notations/kml/read-kml.js'
import { readTopoJson } from '../../src/notations/topojson/read-topojson.js'
import {
  gpxDocuments,
  kmlShapes,
  kmlStyles,
  writeGpx,
  writeKml,
} from '../support/random/file-shapes.js'
import { testSeed } from '../support/random/properties.js'
import { topologyPlans, writeTopology } from '../support/random/topologies.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const RUN_COUNT = byTier({ ci: 500, soak: 10_000 })

const ODD_NUMBERS = ['', ',', ' ', 'NaN', '1e999', '-', '.', '0x1', '1,2', ' 3,4 ', '١', '\u00a0']

const KML_WORDS = [
  ...['Placemark', 'Point', 'LineString', 'LinearRing', 'Polygon', 'MultiGeometry'],
  ...['outerBoundaryIs', 'innerBoundaryIs', 'coordinates', 'Folder', 'Document', 'name'],
  ...['Track', 'coord', 'NetworkLink', 'GroundOverlay', 'Model', 'Update', 'point', 'x:Point'],
  ...['<Point>', '</Point>', '<coordinates>', '</coordinates>', '<coordinates>9,9</coordinates>'],
  ...[
    '<a/>',
    '<Placemark/>',
    '</Placemark>',
    '<Folder>',
    '<Point><coordinates>7,8</coordinates></Point>',
  ],
]

const GPX_WORDS = [
  ...['wpt', 'rte', 'rtept', 'trk', 'trkseg', 'trkpt', 'ele', 'lat', 'lon', 'extensions'],
  ...['<wpt lat="8" lon="9"/>', '<trkpt lat="8" lon="9"/>', '<trkseg>', '</trkseg>', '<rte>'],
  ...['</rte>', '<extensions>', '</extensions>', 'lat="1"', 'lon="2"', 'x:lat="3"'],
]

const ODD_VALUES = [
  null,
  0,
  -1,
  1,
  0.5,
  1e300,
  -1e9,
  '',
  '0',
  [],
  {},
  [[]],
  true,
  'Polygon',
  'Point',
]

t.test('mutated KML', async (t) => {
  const random = seededRandom(testSeed(t))
  const documents = fc.tuple(fc.array(kmlShapes, { minLength: 1, maxLength: 3 }), kmlStyles)
  const texts = sampled(documents, random).map(([shapes, style]) => writeKml(shapes, style))
  const words = [...KML_WORDS, ...ODD_NUMBERS]
  const codes: ServiceErrorCode[] = ['InvalidKml', 'InvalidXml', 'TooComplex']
  mutate(t, codes, () => {
    const text = mutatedText(random.pick(texts), words, random)
    const read = readKml(random.unit() < 0.5 ? text : Buffer.from(text), 'kml')
    return { text, found: pairsIn(read), written: pairsOfKml(text) }
  })
})

t.test('mutated GPX', async (t) => {
  const random = seededRandom(testSeed(t))
  const texts = sampled(gpxDocuments, random).map((document) => writeGpx(document, '1.1'))
  const words = [...GPX_WORDS, ...ODD_NUMBERS]
  mutate(t, ['InvalidGpx', 'InvalidXml', 'TooComplex'], () => {
    const text = mutatedText(random.pick(texts), words, random)
    return { text, found: pairsIn(readGpx(text, 'gpx')), written: pairsOfGpx(text) }
  })
})

t.test('mutated TopoJSON', async (t) => {
  const random = seededRandom(testSeed(t))
  const plans = sampled(topologyPlans, random).filter(({ shapes }) => shapes.length > 0)
  const topologies = plans.map((plan) => JSON.stringify(writeTopology(plan, random).topology))
  mutate(t, ['InvalidTopoJson', 'TooManyVertices', 'TooComplex'], () => {
    const text = mutatedJson(random.pick(topologies), random)
    const topology = JSON.parse(text)
    const read = readTopoJson(topology, 'topoJSON') as DrawnCollection
    const known = new Set(positionsOfTopology(topology))
    const found = pairsIn(read)
    return { text, found, written: found.filter((pair) => known.has(pair)) }
  })
})

interface Reading {
  readonly text: string
  /** Of the result, and of the document, as texts; the order does not matter. */
  readonly found: readonly string[]
  readonly written: readonly string[]
}

/** Reads until it has read enough, and expects faults of these codes alone. */
function mutate(t: Test, codes: readonly ServiceErrorCode[], read: () => Reading): void {
  let takenCount = 0
  for (let run = 0; run < RUN_COUNT; run++) {
    try {
      const { text, found, written } = read()
      takenCount++
      const [one, other] = [found, written].map((pairs) => pairs.toSorted().join(' '))
      if (one !== other) t.equal(one, other, text)
    } catch (fault) {
      if (fault instanceof ServiceError && codes.includes(fault.code)) continue
      t.fail(`${run}: ${(fault as Error).stack}`)
    }
  }
  t.ok(takenCount > RUN_COUNT / 100, `${takenCount} of ${RUN_COUNT} are taken`)
  t.ok(takenCount < RUN_COUNT * 0.9, 'and others refused')
}

function sampled<T>(values: fc.Arbitrary<T>, random: Random): T[] {
  return fc.sample(values, { numRuns: 200, seed: random.between(0, 2 ** 31 - 1) })
}

/** A few changes of what stands between other characters: names, numbers, tags. */
function mutatedText(text: string, words: readonly string[], random: Random): string {
  let tokens: string[] = text.match(/<\/?|\/?>|[\w.:+-]+|\s+|./gs) ?? []
  for (let change = random.pick([1, 1, 1, 2, 3]); change > 0; change--) {
    const at = random.between(0, tokens.length - 1)
    const to = Math.min(tokens.length, at + random.pick([1, 1, 2, 8, 40]))
    const way = random.between(0, 6)
    if (way === 0) tokens = tokens.toSpliced(at, to - at)
    else if (way === 1) tokens = tokens.toSpliced(at, 1, random.pick(words))
    else if (way === 2) tokens = tokens.toSpliced(at, 0, random.pick(words))
    else if (way === 3) tokens = tokens.toSpliced(to, 0, ...tokens.slice(at, to))
    else if (way === 4) tokens = renamed(tokens, random.pick(words), random)
    else if (way === 5) tokens = withoutElement(tokens.join(''), random)
    else tokens = tokens.toSpliced(at, 1, flipped(tokens[at] ?? '', random))
  }
  return tokens.join('')
}

/** One name everywhere, so that the document stays well-formed. */
function renamed(tokens: readonly string[], word: string, random: Random): string[] {
  const names = tokens.filter((_, i) => /^<\/?$/.test(tokens[i - 1] ?? ''))
  if (names.length === 0) return [...tokens]
  const name = random.pick(names)
  return tokens.map((each) => (each === name ? word : each))
}

/** One element, of which the content may stay. */
function withoutElement(text: string, random: Random): string[] {
  const elements = [...text.matchAll(/<([\w:]+)[^>]*>(?:(?!<\1[ >])[\s\S])*?<\/\1>/g)]
  if (elements.length === 0) return [text]
  const { 0: element, index } = random.pick(elements)
  const content = random.unit() < 0.5 ? '' : element.replace(/^<[^>]*>|<\/[^<]*$/g, '')
  const changed = text.slice(0, index) + content + text.slice(index + element.length)
  return changed.match(/<\/?|\/?>|[\w.:+-]+|\s+|./gs) ?? []
}

function flipped(token: string, random: Random): string {
  const at = random.between(0, token.length - 1)
  const code = token.charCodeAt(at) ^ (1 << random.between(0, 6))
  return token.slice(0, at) + String.fromCharCode(code) + token.slice(at + 1)
}

/** Whatever stands in `coordinates`, without comments, by an expression alone. */
function pairsOfKml(text: string): string[] {
  const bare = text.replace(/<!--[\s\S]*?-->/g, '')
  const lists = bare.matchAll(/<(?:\w+:)?coordinates(?:\s[^>]*)?>([^<]*)</g)
  return [...lists].flatMap(([, list]) =>
    (list.match(/[^ \t\r\n]+/g) ?? []).map((tuple) => {
      const [lng, lat] = tuple.split(',')
      return pairText(Number(lng), Number(lat))
    }),
  )
}

/** Of tags with both attributes. */
function pairsOfGpx(text: string): string[] {
  const tags = text.match(/<[^/!?][^>]*>/g) ?? []
  return tags.flatMap((tag) => {
    const [lat, lon] = ['lat', 'lon'].map((name) =>
      new RegExp(`\\s${name}\\s*=\\s*(["'])(.*?)\\1`, 's').exec(tag),
    )
    return lat === null || lon === null ? [] : [pairText(Number(lon[2]), Number(lat[2]))]
  })
}

/** All that arcs and points of a topology can stand for. */
function positionsOfTopology(topology: {
  readonly arcs: readonly (readonly (readonly number[])[])[]
  readonly transform?: { readonly scale: readonly number[]; readonly translate: readonly number[] }
  readonly objects: unknown
}): string[] {
  const { transform } = topology
  const place = (x: number, y: number) => {
    if (!transform) return pairText(x, y)
    const { scale, translate } = transform
    return pairText(x * scale[0] + translate[0], y * scale[1] + translate[1])
  }
  const found: string[] = []
  for (const arc of topology.arcs) {
    let [x, y] = [0, 0]
    for (const [stepX, stepY] of arc) {
      x = transform ? x + stepX : stepX
      y = transform ? y + stepY : stepY
      found.push(place(x, y))
    }
  }
  const visit = (value: unknown): void => {
    if (Array.isArray(value) && typeof value[0] === 'number') found.push(place(value[0], value[1]))
    else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) visit(each)
  }
  visit(topology.objects)
  return found
}

/** JSON with a value or two replaced, left out, doubled or moved. */
function mutatedJson(text: string, random: Random): string {
  const root: unknown[] = [JSON.parse(text)]
  for (let change = random.pick([1, 1, 2, 3]); change > 0; change--) {
    const sites: [holder: Record<string, unknown>, name: string][] = []
    const visit = (holder: Record<string, unknown>) => {
      for (const [name, value] of Object.entries(holder)) {
        sites.push([holder, name])
        if (typeof value === 'object' && value !== null) visit(value as Record<string, unknown>)
      }
    }
    visit(root as never)
    const [holder, name] = random.pick(sites.slice(1))
    const [otherHolder, otherName] = random.pick(sites.slice(1))
    const way = random.between(0, 4)
    if (way === 0) holder[name] = structuredClone(random.pick(ODD_VALUES))
    else if (way === 1 && Array.isArray(holder)) holder.splice(Number(name), 1)
    else if (way === 1) delete holder[name]
    else if (way === 2) holder[name] = structuredClone(otherHolder[otherName])
    else if (way === 3 && typeof holder[name] === 'number')
      holder[name] += random.pick([-1, 1, 0.5])
    else if (Array.isArray(holder)) holder.splice(Number(name), 0, structuredClone(holder[+name]))
  }
  return JSON.stringify(root[0])
}

/** Longitudes and latitudes of all features. */
function pairsIn({ features }: DrawnCollection): string[] {
  const pairs: string[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value) && typeof value[0] === 'number')
      pairs.push(pairText(value[0], value[1]))
    else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value)) visit(each)
  }
  for (const { geometry } of features) visit(geometry)
  return pairs
}

/** Minus zero is zero. */
function pairText(lng: number, lat: number): string {
  return `${lng + 0},${lat + 0}`
}
