import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { squareGeometry } from '../support/data/store.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'

/** `clipToBoundary` held for outlines alone: a recipient request with it counted and listed everybody. */
t.test('a recipient request that asks for the boundary has nobody beyond it', async (t) => {
  const data = temporaryDirectory(t)
  const file = join(temporaryDirectory(t), 'people.csv')
  writeFileSync(file, 'number,lat,lng\n+9990000001,1.5,1.5\n+9990000002,1.5,2.5\n')
  await hickory('import', '--data', data, '--source', '1', '--label', 'A', file)
  const { url } = await serve(t, '--data', data)
  const post = (path: string, body: object) =>
    fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
  await post('/api/configuration', { CustomerBoundaryGeometry: squareGeometry(1, 1, 1) })
  const geoJSON = { type: 'Polygon', coordinates: squareGeometry(0, 0, 5).rings }
  for (const countsOnly of [true, false]) {
    const asked = { countsOnly, geoJSON, clipToBoundary: true }
    const { SourceRecords } = (await (await post('/api/recipients', asked)).json()) as {
      SourceRecords: { Count: number; Recipients?: { Number: string }[] }[]
    }
    t.equal(SourceRecords[0].Count, 1)
    if (!countsOnly) t.match(SourceRecords[0].Recipients, [{ Number: '+9990000001' }])
  }
})
