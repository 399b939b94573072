/**
 * Members that are misspelt or misplaced, made of the schemas: none is answered without a word.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { bind } from '../../src/interface/bind.js'
import { GeoJsonSchema } from '../../src/interface/drawing.js'
import { lowerCase } from '../../src/interface/letter-case.js'
import { operations } from '../../src/interface/operations.js'
import { RecipientRequestSchema } from '../../src/interface/recipients.js'
import { isReserved } from '../../src/interface/reserved-members.js'
import { answer } from '../../src/selection/answer.js'
import { NOTATION_NAMES } from '../../src/selection/shapes/notations.js'
import { parseRequest } from '../../src/selection/skeleton/sent-drawing.js'
import { columnsOf } from '../support/data/columns.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const service = localService([
  {
    id: 1,
    label: 'A',
    columns: columnsOf([{ phone: '+9990001', lng: 5_000_000, lat: 5_000_000, contact: '' }]),
  },
])
const ring = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
  [0, 0],
]
const MISTAKE_COUNT = byTier({ ci: 300, soak: 5_000 })

type Json = Record<string, unknown>
type Level = 'request' | 'collection' | 'feature' | 'geometry' | 'properties' | 'spatialReference'

/** A request that has all levels, and somebody inside. */
function wholeRequest(): Record<Level, Json> {
  const spatialReference = { wkid: 4326 }
  const geometry = { type: 'polygon', rings: [ring], spatialReference }
  const properties = { radius: 5, units: 'm' }
  const feature = { type: 'Feature', geometry, properties }
  const collection = { type: 'FeatureCollection', features: [feature] }
  return {
    request: { countsOnly: true, geoJSON: collection },
    collection,
    feature,
    geometry,
    properties,
    spatialReference,
  }
}

const VALUES: Readonly<Record<string, unknown>> = {
  countsOnly: true,
  geoJSON: { type: 'Polygon', coordinates: [ring] },
  sources: [1],
  contactCountMode: 'Contact',
  distinct: true,
  limit: 5,
  after: 'cursor',
  minSequence: 7,
  clipToBoundary: true,
  partial: true,
  areas: ['counties:48201'],
  wkt: 'POINT (0.5 0.5)',
  wkb: '0101000000000000000000E03F000000000000E03F',
  bbox: [0, 0, 1, 1],
  h3: ['8a2a1072b59ffff'],
  geohash: ['s00'],
  polyline: '_p~iF~ps|U',
  mgrs: ['15RTN7000090000'],
  cap: 'no alert',
  language: 'en',
  expired: true,
  ended: false,
  profile: 'WEA',
  geocodes: 'union',
  geocodeSystems: ['SAME'],
  kml: '<kml><Placemark><Point><coordinates>0.5,0.5</coordinates></Point></Placemark></kml>',
  gpx: '<gpx version="1.1" creator="a"><wpt lat="0.5" lon="0.5"/></gpx>',
  topoJSON: { type: 'Topology', objects: {}, arcs: [] },
  utm: ['15R 270000 3290000'],
  exclude: true,
  radius: 7,
  buffer: 7,
  nearest: 3,
  units: 'm',
  area: 'counties:48201',
  properties: { exclude: true },
  spatialReference: { wkid: 102100 },
  type: 'Feature',
  wkid: 102100,
  latestWkid: 3857,
}

const OF_LEVEL: Readonly<Record<Level, readonly string[]>> = {
  request: Object.keys(RecipientRequestSchema.properties),
  collection: ['type', 'spatialReference'],
  feature: ['type', 'properties', 'spatialReference'],
  geometry: ['type', 'spatialReference'],
  properties: ['exclude', 'radius', 'buffer', 'nearest', 'units', 'sources'],
  spatialReference: ['wkid', 'latestWkid'],
}
/** Words of everyday, that a client may have in a drawing as well. */
const OF_ALERTS = ['language', 'expired', 'ended', 'profile', 'geocodes', 'geocodeSystems']
const LEVELS = Object.keys(OF_LEVEL) as Level[]

t.test('the values are for all members of the schemas', async (t) => {
  const { properties } = GeoJsonSchema.properties.features.items.properties
  const own = (properties as unknown as { properties: object }).properties
  const names = [...OF_LEVEL.request, ...Object.keys(own)]
  t.same(
    names.filter((name) => !(name in VALUES)),
    [],
  )
})

t.test('a member that is misspelt by one or two edits is refused, or warned of', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let i = 0; i < MISTAKE_COUNT; i++) {
    const level = random.pick(LEVELS)
    const name = random.pick(OF_LEVEL[level])
    const misspelt = misspell(name, random)
    if (isKnown(misspelt, level)) continue
    const levels = wholeRequest()
    delete levels[level][name]
    levels[level][misspelt] = VALUES[name]
    await isTold(t, levels.request, `${misspelt} for ${name} in ${level}`)
  }
})

t.test('a member in the wrong place is refused, or warned of', async (t) => {
  for (const from of ['request', 'properties'] as const) {
    for (const name of OF_LEVEL[from]) {
      for (const to of LEVELS) {
        if (isKnown(name, to) || (to === 'spatialReference' && from === 'properties')) continue
        // GeoJSON has boxes everywhere, and other notations are properties of a client's own.
        const isOwn = to === 'properties' && NOTATION_NAMES.includes(lowerCase(name))
        if (name === 'bbox' || name === 'area' || isOwn || OF_ALERTS.includes(name)) continue
        if (name === 'units' || name === 'geoJSON' || to === 'spatialReference') continue
        const levels = wholeRequest()
        delete levels[from][name]
        levels[to][name] = VALUES[name]
        await isTold(t, levels.request, `${name} of ${from} in ${to}`)
      }
    }
  }
})

t.test('so is a misspelt member of any other operation', async (t) => {
  const random = seededRandom(testSeed(t))
  for (const [operation, { request }] of Object.entries(operations)) {
    const names = Object.keys((request as { properties?: object }).properties ?? {})
    for (const name of names) {
      const misspelt = misspell(name, random)
      const isFree = names.some((each) => lowerCase(each) === lowerCase(misspelt))
      if (isFree || isReserved(misspelt)) continue
      const ask = () => bind(request, { [misspelt]: 1 })
      t.throws(ask, { code: 'UnknownMember' }, `${misspelt} for ${name} of ${operation}`)
    }
  }
})

async function isTold(t: Test, request: object, what: string): Promise<void> {
  let text: string
  try {
    const members = parseRequest(Buffer.from(JSON.stringify(request)))
    text = await bodyText((await answer(service, members, inTime())).json())
  } catch (error) {
    t.equal((error as { status?: number }).status, 400, what)
    return
  }
  const { Warnings = [] } = JSON.parse(text)
  t.not(Warnings.length, 0, `${what} is warned of: ${JSON.stringify(request)}`)
}

/** Whether it means something else there, or nothing by agreement. */
function isKnown(name: string, level: Level): boolean {
  const lower = lowerCase(name)
  const known = [...OF_LEVEL[level], ...KNOWN_OF_LEVEL[level]].map(lowerCase)
  return known.includes(lower) || (level === 'request' && isReserved(name))
}

const KNOWN_OF_LEVEL: Readonly<Record<Level, readonly string[]>> = {
  request: [],
  collection: ['features', 'shapes'],
  feature: ['geometry', 'attributes', 'id', 'crs'],
  geometry: ['rings', 'coordinates', 'geometries', 'x', 'y', 'crs'],
  properties: ['include', 'included', 'includes'],
  spatialReference: ['wkt', 'wkt2'],
}

/** One or two letters put in, left out, exchanged or changed. */
function misspell(name: string, random: Random): string {
  let text = name
  for (
    let edits = random.between(1, 2);
    edits > 0 || lowerCase(text) === lowerCase(name);
    edits--
  ) {
    const at = random.between(0, text.length - 1)
    const letter = random.pick([...'abcdefghijklmnopqrstuvwxyz'])
    const kind = random.between(0, 3)
    if (kind === 0) text = text.slice(0, at) + letter + text.slice(at)
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1)
    else if (kind === 2) text = text.slice(0, at) + letter + text.slice(at + 1)
    else if (at > 0 && edits > 1) {
      text = text.slice(0, at - 1) + text[at] + text[at - 1] + text.slice(at + 1)
      edits--
    }
    if (edits < -3) return `${name}${letter}`
  }
  return text
}
