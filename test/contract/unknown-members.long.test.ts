/**
 * A service that warns of members that it does not know.
 *
 * @module
 */
import t from 'tap'
import { SQUARE, serveWireWorld } from './wire-world.js'

t.test('a service may warn of unknown members instead of refusing them', async (t) => {
  const { url } = await serveWireWorld(t, '--unknown-members', 'warn')
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const geoJSON = { type: 'Polygon', coordinates: [SQUARE] }
  const warned = await post('/api/recipients', { geoJSON, countOnly: true })
  t.equal(warned.status, 200)
  t.match(await warned.json(), {
    Warnings: [{ Code: 'UnknownMember', Path: 'countOnly', Message: /countsOnly\?/ }],
  })
  const read = await fetch(`${url}/api/configuration?MapDvi=1`)
  t.match(JSON.parse(read.headers.get('x-warnings') ?? ''), [{ Code: 'UnknownMember' }])
  const strict = await post('/json/reply/PutSuppressionsRequest', { Numbrs: [] })
  t.match(await strict.json(), {
    ResponseStatus: { ErrorCode: 'UnknownMember', Errors: [{ FieldName: 'Numbrs' }] },
  })
})
