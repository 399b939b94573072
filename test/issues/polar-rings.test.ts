import t from 'tap'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { attachShard } from '../../src/shard/layout.js'
import { countInside, selectInside } from '../../src/shard/select.js'
import { columnsOf } from '../support/data/columns.js'
import { shardsOf } from '../support/service/local-service.js'

const plenty = () => ({ edgeTestCount: 1e9 })
const cap = (lat: number, lngs = [-170, -60, 60, 170]) => lngs.map((lng) => [lng, lat])

/**
 * Of an Esri polygon round the south pole the hole was ignored, and one round the north pole was
 * refused: rings round a pole were compared where there is no place, and crossed there.
 */
t.test('an Esri polygon round a pole has its hole, like the same in GeoJSON', async (t) => {
  const places = []
  for (let lng = -177; lng < 180; lng += 7.5) {
    for (let lat = -89; lat <= 89; lat += 4) places.push({ lng, lat })
  }
  const shards = shardsAt(places)
  const count = (geometry: object) =>
    countInside(shards, readDrawing(geometry, 'shape').shapes, plenty()).reduce(
      (sum, each) => sum + each,
      0,
    )
  for (const sign of [1, -1]) {
    for (const lngs of [undefined, [-100, 20, 140]]) {
      const [shell, hole] = [cap(50 * sign), cap(70 * sign, lngs)]
      const expected = count({ type: 'Polygon', coordinates: [shell, hole] })
      t.equal(expected, 5 * 48)
      for (const rings of [
        [shell, hole],
        [shell, hole.toReversed()],
        [hole, shell.toReversed()],
      ]) {
        t.equal(count({ rings }), expected, JSON.stringify(rings))
      }
    }
  }
})

/** The edge from 170 to -170 lost the part beside a hole that lies across the antimeridian. */
t.test('the margin of a polygon round a pole is whole where a hole crosses ±180', async (t) => {
  const places = [
    { lng: 175, lat: 59.99 },
    { lng: -175, lat: 59.99 },
    { lng: 175, lat: 60 },
    { lng: -175, lat: 60 },
  ]
  const shards = shardsAt(places)
  const selected = (west: number, east: number) => {
    const hole = [
      [west, 55],
      [east, 55],
      [east, 65],
      [west, 65],
    ]
    const feature = {
      type: 'Feature',
      properties: { radius: 10_000 },
      geometry: { type: 'Polygon', coordinates: [cap(60), hole] },
    }
    const found = selectInside(shards, readDrawing(feature, 'shape').shapes, plenty())
    return shards
      .flatMap(({ coords }, at) =>
        placesIn(found[at]).map((i) => `${coords[2 * i] / 1e7} ${coords[2 * i + 1] / 1e7}`),
      )
      .sort()
  }
  t.same(selected(-178, -172), ['175 59.99', '175 60'])
  t.same(selected(172, 178), ['-175 59.99', '-175 60'])
})

function shardsAt(places: readonly { lng: number; lat: number }[]) {
  const columns = columnsOf(
    places.map(({ lng, lat }, i) => ({
      lng: Math.round(lng * 1e7),
      lat: Math.round(lat * 1e7),
      phone: `+999${i}`,
      contact: '',
    })),
  )
  return shardsOf(columns, 1, places.length).map(attachShard)
}

function placesIn(runs: Uint32Array): number[] {
  const places: number[] = []
  for (let i = 0; i < runs.length; i += 2)
    for (let j = runs[i]; j < runs[i + 1]; j++) places.push(j)
  return places
}
