/**
 * Areas of an alert whose geocodes became polygons: they are those of the gazetteer, position by position.
 *
 * @module
 */

import t from 'tap'
import type { Alert } from '../../../src/cap/model.js'
import { type Gazetteer, openGazetteer } from '../../../src/gazetteer/gazetteer.js'
import { makeDefaultAreas } from '../../../src/gazetteer/make-default.js'
import type { Polygons } from '../../../src/geometry/polygon/polygons.js'
import { limits } from '../../../src/limits.js'
import type { DrawnFeature } from '../../../src/notations/drawn.js'
import { alertAreas } from '../../../src/operations/alerts/sent-alert.js'
import { validate } from '../../../src/selection/validate.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

t.test('each area of the gazetteer that comes along is kept as it is', async (t) => {
  const data = temporaryDirectory(t)
  await makeDefaultAreas(data)
  const gazetteer = openGazetteer(data) as Gazetteer
  t.teardown(() => gazetteer.close())
  let areaCount = 0
  for (let after: string | undefined; ; ) {
    const page = gazetteer.search({
      layer: undefined,
      q: undefined,
      at: undefined,
      limit: 500,
      after,
    })
    for (const { id } of page.areas) {
      const polygons = gazetteer.find(id)?.polygons as Polygons
      if (polygons.vertices.length / 2 > limits.vertexCount) {
        const fault = { code: 'TooManyVertices', field: PATH }
        t.throws(() => drawingOf([id], gazetteer), fault, id)
        continue
      }
      const { included } = validate({ geoJSON: drawingOf([id], gazetteer) }).shapes
      const kept = textsOf(included[0].polygons)
      const wanted = textsOf(polygons)
      if (kept.join() !== wanted.join()) t.same(kept, wanted, id)
      areaCount++
    }
    after = page.next
    if (after === undefined) break
  }
  t.ok(areaCount > 3_500, `${areaCount} areas`)
})

function drawingOf(names: string[], areas: Parameters<typeof alertAreas>[2]): object {
  const feature: DrawnFeature = { type: 'Feature', geometry: null, properties: { area: names } }
  const drawing = { type: 'FeatureCollection', features: [feature] } as const
  const [area] = alertAreas(ALERT, { drawing, paths: [PATH], geocodePaths: new Map() }, areas)
  return area.Drawing as object
}

const PATH = 'cap.info[0].area[0]'
const ALERT = { infos: [{ areas: [{ path: PATH, areaDesc: 'x' }] }] } as unknown as Alert

/** Each polygon as a text, in some order that is the same for the same ones. */
function textsOf({ vertices, ringStarts, polygonStarts }: Polygons): string[] {
  const texts: string[] = []
  for (let polygon = 0; polygon + 1 < polygonStarts.length; polygon++) {
    const rings: string[] = []
    for (let ring = polygonStarts[polygon]; ring < polygonStarts[polygon + 1]; ring++) {
      const { buffer, byteOffset, byteLength } = vertices.subarray(
        2 * ringStarts[ring],
        2 * ringStarts[ring + 1],
      )
      rings.push(Buffer.from(buffer, byteOffset, byteLength).toString('base64'))
    }
    texts.push(rings.join(' '))
  }
  return texts.sort()
}
