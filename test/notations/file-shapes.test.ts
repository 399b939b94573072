/**
 * Random shapes that an independent writer writes into files, and that must come back to the last bit.
 *
 * @module
 */
import { kml as togeojson } from '@tmcw/togeojson'
import { DOMParser } from '@xmldom/xmldom'
import fc from 'fast-check'
import t from 'tap'
import { readGpx } from '../../src/notations/gpx.js'
import { kmlFeatures, readKml } from '../../src/notations/kml/read-kml.js'
import {
  gpxDocuments,
  kmlShapes,
  kmlStyles,
  type Pair,
  type Shape,
  writeGpx,
  writeKml,
} from '../support/random/file-shapes.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const RUN_COUNT = byTier({ ci: 500, soak: 10_000 })

t.test('shapes come back from KML as they were written', async (t) => {
  const documents = fc.tuple(
    fc.array(fc.option(kmlShapes), { maxLength: 3 }),
    kmlStyles,
    fc.boolean(),
  )
  fc.assert(
    fc.property(documents, ([shapes, style, asBytes]) => {
      const text = writeKml(shapes, style)
      const read = kmlFeatures(asBytes ? Buffer.from(text) : text, 'kml')
      expectSame(
        read.map(({ geometry }) => geometry),
        shapes,
      )
      const names = shapes.map((_, index) => `${index}`)
      if (read.some(({ name }, index) => name !== names[index])) throw new Error('other names')
    }),
    { seed: testSeed(t), numRuns: RUN_COUNT },
  )
})

t.test('a library that shows KML on maps reads the same positions', async (t) => {
  // It drops polygons whose rings have fewer than four positions.
  const shown = kmlShapes.filter(hasLongRings)
  const documents = fc.tuple(fc.array(shown, { minLength: 1, maxLength: 2 }), kmlStyles)
  fc.assert(
    fc.property(documents, ([shapes, style]) => {
      // It looks for elements by their qualified names, and takes one ring of an inner boundary.
      const text = writeKml(shapes, { ...style, prefix: '', areHolesTogether: false })
      const dom = new DOMParser().parseFromString(text, 'text/xml')
      const converted = togeojson(dom as never, { skipNullGeometry: false })
      expectSame(
        pairsIn(readKml(text, 'kml').features.map(({ geometry }) => geometry)),
        pairsIn(converted.features.map(({ geometry }) => geometry)),
      )
    }),
    { seed: testSeed(t), numRuns: RUN_COUNT / 10 },
  )
})

t.test('shapes come back from GPX as they were written', async (t) => {
  const documents = fc.tuple(gpxDocuments, fc.constantFrom('1.0' as const, '1.1' as const))
  fc.assert(
    fc.property(documents, ([document, version]) => {
      const read = readGpx(writeGpx(document, version), 'gpx')
      const { waypoints, routes, tracks } = document
      expectSame(
        read.features.map(({ geometry }) => geometry),
        [
          ...waypoints.map((coordinates) => ({ type: 'Point', coordinates })),
          ...routes.map((route) => linesOf([route])),
          ...tracks.map(linesOf),
        ],
      )
    }),
    { seed: testSeed(t), numRuns: RUN_COUNT },
  )
})

function hasLongRings(shape: Shape): boolean {
  if (shape.type === 'GeometryCollection') return shape.geometries.every(hasLongRings)
  return shape.type !== 'Polygon' || shape.coordinates.every(({ length }) => length > 3)
}

/** What segments of a track are. */
function linesOf(segments: readonly (readonly Pair[])[]): Shape | null {
  const lines = segments.filter(({ length }) => length > 1).map((line) => [...line])
  const points = segments.filter(({ length }) => length === 1)
  const shapes: Shape[] = []
  if (points.length === 0 && lines.length > 1) {
    return { type: 'MultiLineString', coordinates: lines }
  }
  for (const coordinates of lines) shapes.push({ type: 'LineString', coordinates })
  for (const [coordinates] of points) shapes.push({ type: 'Point', coordinates })
  if (shapes.length > 1) return { type: 'GeometryCollection', geometries: shapes }
  return shapes[0] ?? null
}

/** Longitudes and latitudes, in order, of values that hold positions. */
function pairsIn(value: unknown): Pair[] {
  if (Array.isArray(value)) {
    if (typeof value[0] === 'number') return [[value[0], value[1]]]
    return value.flatMap(pairsIn)
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(pairsIn)
}

/** By texts, which tell 0 from -0 no more than people do. */
function expectSame(found: unknown, wanted: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (one !== other) throw new Error(`${one} is not ${other}`)
}
