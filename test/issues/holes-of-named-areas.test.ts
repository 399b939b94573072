/**
 * A named area that goes over the antimeridian lies in the gazetteer once for each side. A hole on one of them is
 * a hole of that one alone. Where the two were drawn again, for a distance or to be kept with an alert, the other
 * one filled the hole: people were selected who are not in the area. An alert kept the complement of an area that
 * was drawn on the next world.
 *
 * Around a pole, a distance was refused as too complex.
 *
 * @module
 */

import t from 'tap'
import type { Alert } from '../../src/cap/model.js'
import type { DrawnFeature } from '../../src/notations/drawn.js'
import { alertAreas } from '../../src/operations/alerts/sent-alert.js'
import { answer } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { columnsOf } from '../support/data/columns.js'
import { namedAreas } from '../support/data/named-areas.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const box = (west: number, east: number, south: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

const GEOMETRIES: Readonly<Record<string, object>> = {
  'a:hole': { type: 'Polygon', coordinates: [box(170, 190, 0, 10), box(182, 186, 2, 8)] },
  'a:both': {
    type: 'Polygon',
    coordinates: [box(170, 190, 0, 10), box(182, 186, 2, 8), box(172, 178, 2, 8)],
  },
  // Drawn on the next world, where an edge of more than half a turn is taken as it is.
  'a:next': { type: 'Polygon', coordinates: [box(260, 460, 0, 10), box(270, 455, 2, 8)] },
  'a:wide': { type: 'Polygon', coordinates: [box(185, 535, 0, 10)] },
  'a:round': { type: 'Polygon', coordinates: [box(-180, 180, 0, 10), box(-170, 170, 2, 8)] },
  // A vertex that is rounded to 180 where it is moved by a turn.
  'a:fine': {
    type: 'Polygon',
    coordinates: [
      [
        [179.99999999999994, 0],
        [0, 0],
        [-180, 0],
        [-180, 10],
        [0, 10],
        [179.99999999999994, 10],
        [179.99999999999994, 0],
      ],
      box(10, 20, 2, 8),
    ],
  },
  'a:pole': {
    type: 'Polygon',
    coordinates: [
      [-170, -60, 60, 170, -170].map((lng) => [lng, 60]),
      box(-178, -172, 70, 75),
      [-170, -60, 60, 170, -170].map((lng) => [lng, 80]),
    ],
  },
}

const places: { lng: number; lat: number }[] = []
for (let lng = -180; lng < 180; lng += 2) {
  for (const lat of [-1, -0.001, 1, 2.001, 5, 7.5, 10.01, 59.999, 65, 72.5, 79, 85]) {
    places.push({ lng, lat })
  }
}
const columns = columnsOf(
  places.map(({ lng, lat }, at) => ({
    lng: Math.round(lng * 1e7),
    lat: Math.round(lat * 1e7),
    phone: `+999${at}`,
    contact: '',
  })),
)
const areas = namedAreas(GEOMETRIES)
const service = {
  ...localService([{ id: 1, label: 'A', columns }], 1_000),
  areas: () => areas,
}

async function countOf(request: JsonObject): Promise<number> {
  const found = await answer(service, { countsOnly: true, ...request }, inTime())
  return JSON.parse(await bodyText(found.json())).SourceRecords[0]?.Count ?? 0
}

t.test('a distance leaves the holes of a named area open', async (t) => {
  for (const [id, geometry] of Object.entries(GEOMETRIES)) {
    const feature = (buffer: number, drawn: object) => ({
      geoJSON: { type: 'Feature', geometry: null, ...drawn, properties: { ...drawn, buffer } },
    })
    for (const buffer of byTier({ ci: [500], soak: [1, 500, 20_000] })) {
      const byShape = await countOf(feature(buffer, { geometry }))
      const byName = await countOf(feature(buffer, { area: id }))
      t.equal(byName, byShape, `${id}, ${buffer} m`)
      t.ok(byShape > 20)
    }
  }
})

t.test('an alert keeps the holes of its geocodes', async (t) => {
  const kept = (id: string) => {
    const feature: DrawnFeature = { type: 'Feature', geometry: null, properties: { area: id } }
    const drawing = { type: 'FeatureCollection', features: [feature] } as const
    const [{ Drawing }] = alertAreas(
      ALERT,
      { drawing, paths: [PATH], geocodePaths: new Map() },
      areas,
    )
    return Drawing as JsonObject
  }
  for (const id of ['a:hole', 'a:both', 'a:next', 'a:wide', 'a:round', 'a:fine']) {
    t.equal(await countOf({ geoJSON: kept(id) }), await countOf({ areas: [id] }), id)
  }
  t.throws(() => kept('a:pole'), { code: 'TooComplex', field: PATH, message: /holds a pole/ })
})

const PATH = 'cap.info[0].area[0]'
const ALERT = { infos: [{ areas: [{ path: PATH, areaDesc: 'x' }] }] } as unknown as Alert
