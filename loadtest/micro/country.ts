/**
 * How long does it take to find who is inside a country, whose outline has tens of thousands of
 * vertices?
 *
 * The naive way tests every edge for everybody in the bounding box, and PostGIS has its trouble, too:
 * minutes a shape for all recipients. So both are asked about few of them, beside the engine on the
 * same few. That flatters them: their time grows with the recipients, the engine's much less.
 *
 * @module
 */

import assert from 'node:assert/strict'
import type { MultiPolygon, Polygon } from 'geojson'
import { withoutDegenerateRings } from '../../test/support/data/counties.js'
import { formatCount } from '../harness/table.js'
import { clusteredOrder } from '../peers/postgis.js'
import { loadCountries } from '../requests/atlas.js'
import { buildNaiveIndex } from './harness/naive.js'
import type { Question } from './harness/stage.js'
import { buildShards } from './harness/world.js'
import { comparePolygons } from './polygons.js'

const FEW_RECIPIENT_COUNT = 50_000

export const country: Question = async ({ world, database }) => {
  const { columns, shards } = world
  const rows = everySoMany(columns.recipientCount, FEW_RECIPIENT_COUNT)
  const shared = { geometries: outlines(), baselineShapeCount: Number.POSITIVE_INFINITY }
  const title = 'mainland of Canada in one ring, mainland of the US in one, all of the US'
  const fewShards = buildShards(columns, [rows])
  return [
    await comparePolygons({ ...shared, title, shards, naiveIndex: undefined, database: undefined }),
    await comparePolygons({
      ...shared,
      title: `the same among ${formatCount(rows.length)} of the recipients`,
      shards: fewShards,
      naiveIndex: buildNaiveIndex({
        lngs: Int32Array.from(rows, (row) => columns.lngs[row]),
        lats: Int32Array.from(rows, (row) => columns.lats[row]),
      }),
      database: database && {
        ...database,
        table: await database.postgis.load(clusteredOrder(fewShards)),
      },
    }),
  ]
}

/** About 20,000, 12,500 and 36,000 vertices; hardly anybody lives in the first, all in the last. */
function outlines(): (Polygon | MultiPolygon)[] {
  const countries = loadCountries()
  const find = (wanted: string) => {
    const found = countries.find(({ name }) => name === wanted)
    assert(found, `world-atlas has ${wanted}`)
    return found.geometry
  }
  const us = find('United States of America')
  return [mainland(find('Canada')), mainland(us), withoutDegenerateRings(us) ?? us]
}

/** The ring of most vertices, without its lakes. */
function mainland(geometry: Polygon | MultiPolygon): Polygon {
  const members = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const [longest] = members.map(([shell]) => shell).toSorted((a, b) => b.length - a.length)
  return { type: 'Polygon', coordinates: [longest] }
}

/** Rows [0, recipientCount), thinned to about `count`. */
function everySoMany(recipientCount: number, count: number): Uint32Array {
  const step = Math.max(1, Math.round(recipientCount / count))
  return Uint32Array.from({ length: Math.ceil(recipientCount / step) }, (_, i) => i * step)
}
