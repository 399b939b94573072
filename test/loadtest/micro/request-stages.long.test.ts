import t from 'tap'
import { requestStages } from '../../../loadtest/micro/harness/request-stages.js'
import { catalogueOf } from '../../../src/selection/catalogue.js'

/** What is timed must be what the stages do: each pass says what it found. */
const catalogue = catalogueOf({
  snapshotId: 'one',
  createdAt: '2026-01-31T08:15:00.000Z',
  sources: [{ id: 7, label: 'Residents' }],
  shards: Array.from({ length: 10 }, (_, at) => {
    const minLng = at * 10_000_000
    return {
      sourceId: 7,
      box: { minLng, minLat: 0, maxLng: minLng + 9_999_999, maxLat: 10_000_000 },
    }
  }),
})

/** From 0.1 degrees on, with so many vertices in its upper edge. */
function bodyOf(widthDegrees: number, vertexCount: number): Buffer {
  const upper = Array.from({ length: vertexCount }, (_, at) => [
    0.1 + widthDegrees * (1 - at / vertexCount),
    0.6,
  ])
  const ring = [[0.1, 0.1], [0.1 + widthDegrees, 0.1], ...upper, [0.1, 0.1]]
  const geometry = { type: 'Polygon', coordinates: [ring] }
  const features = [{ type: 'Feature', properties: {}, geometry }]
  const geoJSON = { type: 'FeatureCollection', features }
  return Buffer.from(JSON.stringify({ countsOnly: true, geoJSON }))
}

t.test('each stage does the work of all requests', async (t) => {
  // One shard; three; all ten, in one task of two threads; one again, too large to travel with others.
  const shapes = [bodyOf(0.5, 3), bodyOf(2.5, 3), bodyOf(9.5, 3), bodyOf(0.5, 1_000)]
  const found = Object.entries(requestStages(shapes, catalogue, 2)).map(([name, pass]) => {
    const first = pass()
    t.equal(pass(), first, `${name} finds the same again`)
    return [name, first] as const
  })
  const { write, answer, 'all of these': all, ...others } = Object.fromEntries(found)
  t.same(others, {
    read: 4,
    'read and validate': 4,
    plan: 4,
    'take, by the worker': 1 + 3 + 10 + 1,
    'take back': 4,
  })
  const bodies = [1, 3, 10, 1].map((count) =>
    JSON.stringify({
      SourceRecords: [{ SourceId: 7, Label: 'Residents', Count: count, Status: 'Ok' }],
    }),
  )
  const typeLength = 'application/json; charset=utf-8'.length
  t.equal(
    answer,
    bodies.reduce((sum, body) => sum + body.length + typeLength, 0),
    'the answers are those of counts, with a recipient in each shard',
  )
  t.ok(write > 0)
  t.ok(all > others['take, by the worker'] + answer, 'and all together write, take and answer')
})
