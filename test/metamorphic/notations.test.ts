/**
 * The same area in every notation that can say it selects the same people. Where a notation rounds, how often
 * that makes a difference is told, and nobody farther than the rounding may be concerned.
 *
 * @module
 */
import t from 'tap'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { namedAreas } from '../support/data/named-areas.js'
import { testSeed } from '../support/random/properties.js'
import { randomShape } from '../support/random/shapes.js'
import { randomWorld, seededRandom, type WorldKind, worldKinds } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const AREA_COUNT = byTier({ ci: 75, soak: 2_000 })
const AREAS_PER_WORLD = 25

type Ring = readonly (readonly number[])[]
type Polygon = readonly Ring[]

/** Each takes polygons with seven decimals to a request that draws the same. */
const EXACT: Readonly<Record<string, (polygons: readonly Polygon[]) => JsonObject>> = {
  WKT: (polygons) => ({ wkt: wktOf(polygons) }),
  'EWKT, in the place of a geometry': (polygons) => ({
    geoJSON: { geometry: { wkt: `srid=4326;${wktOf(polygons)}` } },
  }),
  WKB: (polygons) => ({ wkb: wkbOf(polygons, true, false) }),
  'EWKB of the other order': (polygons) => ({ wkb: wkbOf(polygons, false, true) }),
  KML: (polygons) => ({ kml: kmlOf(polygons) }),
  TopoJSON: (polygons) => ({ topoJSON: topologyOf(polygons) }),
  'Esri JSON of each polygon': (polygons) => ({
    geoJSON: {
      features: polygons.map((rings) => ({ geometry: { type: 'Polygon', coordinates: rings } })),
    },
  }),
}

/** For a single ring. */
const OF_RING: Readonly<Record<string, (ring: Ring) => JsonObject>> = {
  CAP: (ring) => ({ cap: capOf(ring) }),
  'polyline of precision 7': (ring) => ({
    polyline: { points: polylineOf(ring, 7), precision: 7, polygon: true },
  }),
}

const SIMPLE_KINDS = ['drawn'] as const
const KINDS = ['drawn', 'drawn', 'holes', 'members', 'selfCrossing', 'grid'] as const

t.test('an area selects the same people in each notation', async (t) => {
  const random = seededRandom(testSeed(t))
  let insideCount = 0
  let roundedCount = 0
  let ringCount = 0
  for (let done = 0; done < AREA_COUNT; done += AREAS_PER_WORLD) {
    const columns = randomWorld(worldKindOf(done), 300, random)
    const service = localService([{ id: 1, label: 'A', columns }], 100)
    for (let at = 0; at < AREAS_PER_WORLD; at++) {
      const centre = random.between(0, columns.lngs.length - 1)
      const isRing = random.unit() < 0.4
      const kind = random.pick<(typeof KINDS)[number]>(isRing ? SIMPLE_KINDS : KINDS)
      const polygons = randomShape(kind, random, columns.lngs[centre], columns.lats[centre])
      const geometry = { type: 'MultiPolygon', coordinates: polygons }
      const expected = await selectedBy(service, { geoJSON: geometry })
      insideCount += expected.length
      const same = async (name: string, request: JsonObject, asked = service) => {
        const selected = await selectedBy(asked, request)
        if (selected.join() !== expected.join()) {
          t.fail(
            `${name}: ${selected.length} instead of ${expected.length}: ${JSON.stringify(geometry)}`,
          )
        }
      }
      for (const [name, write] of Object.entries(EXACT)) await same(name, write(polygons))
      // Of a version of its own: what is known of a name holds for one version.
      const areas = namedAreas({ 'zones:1': geometry }, String(done + at))
      await same('a name', { areas: ['zones:1'] }, { ...service, areas: () => areas })
      if (kind !== 'drawn') continue
      ringCount++
      const [[ring]] = polygons
      for (const [name, write] of Object.entries(OF_RING)) await same(name, write(ring))
      // Five decimals are a metre: who is farther from the boundary is selected all the same.
      const rounded = { polyline: { points: polylineOf(ring, 5), polygon: true } }
      const those = new Set(await selectedBy(service, rounded))
      const others = expected.filter((each) => !those.delete(each)).concat(...those)
      if (others.length > 0) roundedCount++
      const near = await selectedBy(service, { geoJSON: bandAround(ring, 3) })
      const far = others.filter((each) => !near.includes(each))
      if (far.length > 0)
        t.fail(`a polyline of precision 5 is more than rounded: ${JSON.stringify(ring)}`)
    }
  }
  t.ok(insideCount > 2 * AREA_COUNT, `${insideCount} people in ${AREA_COUNT} areas`)
  t.ok(ringCount > AREA_COUNT / 10, `${ringCount} are also an alert and a polyline`)
  t.pass(`rounding to five decimals changed who is in ${roundedCount} of ${ringCount}`)
})

t.test('a box selects the same people as its polygon', async (t) => {
  const random = seededRandom(testSeed(t))
  let insideCount = 0
  for (let done = 0; done < AREA_COUNT; done += AREAS_PER_WORLD) {
    const columns = randomWorld(worldKindOf(done), 300, random)
    const service = localService([{ id: 1, label: 'A', columns }], 100)
    for (let at = 0; at < AREAS_PER_WORLD; at++) {
      const corner = () => {
        const index = random.between(0, columns.lngs.length - 1)
        return [columns.lngs[index] / 1e7, columns.lats[index] / 1e7]
      }
      const [[a, b], [c, d]] = [corner(), corner()]
      const [west, east] = [Math.min(a, c), Math.max(a, c)]
      const [south, north] = [Math.min(b, d), Math.max(b, d)]
      // Wider ones run over places where a polygon of four corners would take the short way.
      if (east - west >= 180 || west === east || south === north) continue
      const ring = [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ]
      const expected = await selectedBy(service, {
        geoJSON: { type: 'Polygon', coordinates: [ring] },
      })
      insideCount += expected.length
      const bbox = [west, south, east, north]
      for (const request of [
        { bbox },
        { bbox: bbox.join() },
        { geoJSON: { geometry: { bbox } } },
      ]) {
        t.same(await selectedBy(service, request), expected, JSON.stringify(request))
      }
    }
  }
  t.ok(insideCount > AREA_COUNT, `${insideCount} people`)
})

/** One after the other: in a world of equal places an area that is drawn has all or none. */
function worldKindOf(areaCount: number): WorldKind {
  return worldKinds[(areaCount / AREAS_PER_WORLD) % worldKinds.length]
}

/** The phones of who is selected, in order. */
async function selectedBy(service: SelectionService, request: JsonObject): Promise<string[]> {
  const found = await answer(
    service,
    { expired: request.cap ? true : undefined, ...request },
    inTime(),
  )
  const { SourceRecords } = JSON.parse(await bodyText(found.json()))
  const phones: string[] = SourceRecords[0].Recipients.map(({ Number: phone, LatLng }: Person) => {
    return `${phone} ${LatLng.Lng} ${LatLng.Lat}`
  })
  return phones.sort()
}

interface Person {
  readonly Number: string
  readonly LatLng: { readonly Lng: number; readonly Lat: number }
}

function bandAround(ring: Ring, metres: number): object {
  const geometry = { type: 'LineString', coordinates: ring }
  return { type: 'Feature', properties: { buffer: metres }, geometry }
}

function wktOf(polygons: readonly Polygon[]): string {
  const ringText = (ring: Ring) => `(${ring.map((position) => position.join(' ')).join(', ')})`
  return `MULTIPOLYGON (${polygons.map((rings) => `(${rings.map(ringText).join(', ')})`).join(', ')})`
}

function wkbOf(polygons: readonly Polygon[], isLittle: boolean, hasSrid: boolean): string {
  const parts: Buffer[] = []
  const word = (value: number) => {
    const bytes = Buffer.alloc(4)
    if (isLittle) bytes.writeUInt32LE(value)
    else bytes.writeUInt32BE(value)
    parts.push(bytes)
  }
  const number = (value: number) => {
    const bytes = Buffer.alloc(8)
    if (isLittle) bytes.writeDoubleLE(value)
    else bytes.writeDoubleBE(value)
    parts.push(bytes)
  }
  const head = (type: number) => {
    parts.push(Buffer.of(isLittle ? 1 : 0))
    word(type)
  }
  head(hasSrid ? 0x20000006 : 6)
  if (hasSrid) word(4326)
  word(polygons.length)
  for (const rings of polygons) {
    head(3)
    word(rings.length)
    for (const ring of rings) {
      word(ring.length)
      for (const [lng, lat] of ring) {
        number(lng)
        number(lat)
      }
    }
  }
  return Buffer.concat(parts).toString('hex')
}

function kmlOf(polygons: readonly Polygon[]): string {
  const ringText = (ring: Ring) =>
    `<LinearRing><coordinates>${ring.map((position) => position.join(',')).join(' ')}</coordinates></LinearRing>`
  const polygonText = ([shell, ...holes]: Polygon) =>
    `<Polygon><outerBoundaryIs>${ringText(shell)}</outerBoundaryIs>` +
    `${holes.map((hole) => `<innerBoundaryIs>${ringText(hole)}</innerBoundaryIs>`).join('')}</Polygon>`
  const content = polygons.map(polygonText).join('')
  return `<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><MultiGeometry>${content}</MultiGeometry></Placemark></kml>`
}

function topologyOf(polygons: readonly Polygon[]): object {
  const arcs: Ring[] = []
  const indexes = polygons.map((rings) => rings.map((ring) => [arcs.push(ring) - 1]))
  return { type: 'Topology', arcs, objects: { zones: { type: 'MultiPolygon', arcs: indexes } } }
}

function capOf(ring: Ring): string {
  const polygon = ring.map(([lng, lat]) => `${decimal(lat)},${decimal(lng)}`).join(' ')
  return (
    '<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><identifier>a</identifier><sender>b</sender>' +
    '<sent>2026-05-24T16:49:00-05:00</sent><status>Actual</status><msgType>Alert</msgType><scope>Public</scope>' +
    '<info><category>Met</category><event>Flood</event><urgency>Immediate</urgency><severity>Severe</severity>' +
    `<certainty>Likely</certainty><area><areaDesc>somewhere</areaDesc><polygon>${polygon}</polygon></area></info></alert>`
  )
}

/** Without an exponent, which CAP does not have. */
function decimal(degrees: number): string {
  return degrees.toFixed(7)
}

/** The algorithm of encoded polylines, with whole numbers of any size. */
function polylineOf(ring: Ring, precision: number): string {
  let [lastLat, lastLng] = [0n, 0n]
  let text = ''
  for (const [lng, lat] of ring) {
    const [newLat, newLng] = [lat, lng].map((degrees) =>
      BigInt(Math.round(degrees * 10 ** precision)),
    )
    text += encoded(newLat - lastLat) + encoded(newLng - lastLng)
    lastLat = newLat
    lastLng = newLng
  }
  return text
}

function encoded(difference: bigint): string {
  let left = difference < 0n ? ~(difference << 1n) : difference << 1n
  let text = ''
  while (left >= 32n) {
    text += String.fromCharCode(Number((left & 31n) | 32n) + 63)
    left >>= 5n
  }
  return text + String.fromCharCode(Number(left) + 63)
}
