/**
 * Coordinate systems as PROJ has them, in each form in which files bring one: what is read leads back to
 * the same place, or is refused.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import type { CrsStatement } from '../../../src/gazetteer/crs/crs-statement.js'
import { type Projection, projectionOf } from '../../../src/gazetteer/crs/projection.js'

type Form = 'epsg' | 'proj' | 'wkt1' | 'wkt_esri' | 'wkt2' | 'projjson'

/** The system, degrees on the same datum, west, south, east and north, and the forms that are refused. */
type Row = readonly [string, string, readonly [number, number, number, number], (readonly Form[])?]

const WGS84 = 'EPSG:4326'
const NAD83 = 'EPSG:4269'
const ETRS89 = 'EPSG:4258'
const US = [-125, 24, -66, 50] as const
const byCode: readonly Form[] = ['epsg']
const described: readonly Form[] = ['epsg', 'wkt1', 'wkt_esri', 'wkt2', 'projjson']

const rows: readonly Row[] = [
  ['EPSG:4326', WGS84, [-180, -90, 180, 90]],
  ['EPSG:4269', NAD83, US],
  ['EPSG:3857', WGS84, [-180, -85, 180, 85]],
  ['EPSG:3395', WGS84, [-179, -80, 179, 84], described],
  ['EPSG:32615', WGS84, [-96, 0, -90, 84]],
  ['EPSG:32733', WGS84, [12, -80, 18, 0]],
  ['EPSG:26915', NAD83, [-96, 25, -90, 60]],
  ['EPSG:6344', NAD83, [-96, 25, -90, 60]],
  ['EPSG:25832', ETRS89, [6, 38, 12, 83]],
  ['EPSG:28355', 'EPSG:4283', [144, -45, 150, -10]],
  ['EPSG:7855', 'EPSG:7844', [144, -45, 150, -10]],
  ['EPSG:2193', 'EPSG:4167', [166, -47, 178, -34]],
  ['EPSG:5070', NAD83, US],
  ['EPSG:3338', NAD83, [172, 51, 190, 66]],
  ['EPSG:3338', NAD83, [-170, 51, -130, 72]],
  ['EPSG:3347', NAD83, [-141, 40, -52, 84]],
  ['EPSG:3978', NAD83, [-141, 40, -52, 84]],
  ['EPSG:2154', 'EPSG:4171', [-5, 41, 10, 51]],
  ['EPSG:3034', ETRS89, [-10, 35, 30, 70]],
  ['EPSG:3035', ETRS89, [-10, 35, 30, 70]],
  // State Plane: Lambert and transverse Mercator in metres and feet, and the oblique zone of Alaska.
  ['EPSG:26980', NAD83, [-90, 36, -82, 39], byCode],
  ['EPSG:2276', NAD83, [-104, 31, -94, 34], byCode],
  ['EPSG:2236', NAD83, [-83, 24, -79, 31], byCode],
  ['EPSG:6438', 'EPSG:6318', [-83, 24, -79, 31], byCode],
  ['EPSG:26931', NAD83, [-141, 54, -129, 60], [...byCode, 'wkt2', 'projjson']],
  // Polar stereographic of variants A and B, and equal-area of the pole.
  ['EPSG:3413', WGS84, [-180, 60, 180, 89], [...byCode, 'wkt_esri']],
  ['EPSG:3031', WGS84, [-180, -89, 180, -60], byCode],
  ['EPSG:5041', WGS84, [-180, 60, 180, 89], byCode],
  ['EPSG:3573', WGS84, [-180, 45, 180, 89], byCode],
  // Lambert of one standard parallel with a scale, and Mercator of one that is not the equator.
  [
    '+proj=lcc +lat_1=40 +lat_0=40 +lon_0=-95 +k_0=0.9996 +x_0=500000 +y_0=100000 +datum=NAD83 +units=us-ft',
    NAD83,
    US,
    byCode,
  ],
  ['+proj=merc +lat_ts=41 +lon_0=100 +datum=WGS84', WGS84, [-70, -70, 270, 70], described],
  [
    '+proj=merc +k=0.997 +lon_0=110 +x_0=3900000 +y_0=900000 +datum=WGS84',
    WGS84,
    [90, -12, 140, 12],
    described,
  ],
  [
    '+proj=tmerc +lat_0=31 +lon_0=-104 +k=0.99 +x_0=165000 +datum=NAD83 +units=ft',
    NAD83,
    [-106, 31, -102, 37],
    byCode,
  ],
  // Without a grid, PROJ shifts as is done here.
  ['EPSG:27700', WGS84, [-6, 50, 1, 58]],
]

/** Degrees; a place is kept to 1e-7. */
const MOST = 5e-8

for (const [system, degrees, bounds, refused = []] of rows) {
  t.test(system, async (t) => {
    const places = [...placesIn(bounds)]
    const points = transformed(places, degrees, system)
    for (const [form, statement] of formsOf(system)) {
      let projection: Projection
      try {
        projection = projectionOf('file', statement)
      } catch (error) {
        t.ok(refused.includes(form), `${form}: ${(error as Error).message}`)
        continue
      }
      t.notOk(refused.includes(form), `${form} is refused`)
      let most = 0
      for (const [i, [x, y]] of points.entries()) {
        const [lng, lat] = projection.toDegrees(x, y) ?? [Number.NaN, Number.NaN]
        const west = ((((lng - places[i][0] + 540) % 360) + 360) % 360) - 180
        const away = Math.max(
          Math.abs(west) * Math.cos((lat * Math.PI) / 180),
          Math.abs(lat - places[i][1]),
        )
        most = Math.max(most, Number.isNaN(away) ? Number.POSITIVE_INFINITY : away)
      }
      t.ok(most <= MOST, `${form}: ${most} degrees away`)
    }
  })
}

function* placesIn([west, south, east, north]: Row[2]): Generator<readonly [number, number]> {
  const steps = 9
  for (let i = 0; i <= steps; i++) {
    for (let j = 0; j <= steps; j++) {
      yield [west + ((east - west) * i) / steps, south + ((north - south) * j) / steps]
    }
  }
}

function transformed(
  places: readonly (readonly [number, number])[],
  from: string,
  to: string,
): (readonly [number, number])[] {
  if (from === to) return [...places]
  const input = places.map((place) => place.join(' ')).join('\n')
  const output = execFileSync('gdaltransform', ['-s_srs', from, '-t_srs', to, '-output_xy'], {
    input,
  })
  return output
    .toString()
    .trim()
    .split('\n')
    .map((line) => {
      const [x, y] = line.split(' ').map(Number)
      return [x, y] as const
    })
}

function* formsOf(system: string): Generator<readonly [Form, CrsStatement]> {
  const [, code] = /^EPSG:(\d+)$/.exec(system) ?? []
  if (code !== undefined) yield ['epsg', { kind: 'epsg', code: Number(code) }]
  else yield ['proj', { kind: 'proj', text: system }]
  for (const form of ['wkt1', 'wkt_esri', 'wkt2'] as const) {
    yield [form, { kind: 'wkt', text: textOf(form, system) }]
  }
  yield ['projjson', { kind: 'projJson', value: JSON.parse(textOf('projjson', system)) }]
}

function textOf(form: Form, system: string): string {
  return execFileSync('gdalsrsinfo', ['-o', form, system]).toString().trim()
}
