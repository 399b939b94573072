/**
 * The map configuration and the map contexts over HTTP.
 *
 * @module
 */
import t from 'tap'
import { documentRoutes } from '../../src/http/documents.js'
import { createDocuments } from '../../src/store/documents.js'
import { request, startServer } from './wire.js'

const ID = 'b7e3d5a19c2f4860a1d4e7f83b6c9052'
const bytes = (text: string) => new TextEncoder().encode(text)

const documents = createDocuments({
  configurationJson: bytes('{"MapDiv":"map"}'),
  countMode: 'ContactLocation',
  contextJsons: new Map([[ID, bytes(`{"Id":"${ID}"}`)]]),
})

t.test('documents are JSON, whatever is asked for', async (t) => {
  const { port } = await startServer(t, documentRoutes(documents))
  for (const path of [
    '/api/configuration',
    '/API/Configuration/',
    '/api/configuration.json',
    '/api/configuration?format=csv',
  ]) {
    const { status, headers, body } = await request(port, `GET ${path}`)
    t.equal(status, 200, path)
    t.equal(headers['content-type'], 'application/json; charset=utf-8')
    t.equal(String(body), '{"MapDiv":"map"}')
  }
  const braces = '%7BB7E3D5A1-9C2F-4860-A1D4-E7F83B6C9052%7D'
  for (const id of [ID, braces, `${ID}.json`]) {
    t.equal(String((await request(port, `GET /api/contexts/${id}`)).body), `{"Id":"${ID}"}`)
  }
})

t.test('an id that is no Guid is 400, one that is not known is 404', async (t) => {
  const { port } = await startServer(t, documentRoutes(documents))
  const invalid = await request(port, 'GET /api/contexts/xyz')
  t.equal(invalid.status, 400)
  t.match(JSON.parse(String(invalid.body)), {
    ResponseStatus: { ErrorCode: 'InvalidRequest', Errors: [{ FieldName: 'Id' }] },
  })
  t.equal((await request(port, `GET /api/contexts/${ID.replace('b', 'c')}`)).status, 404)
  const wrongVerb = await request(port, 'POST /api/configuration', { body: '{}' })
  t.equal(wrongVerb.status, 405)
  t.equal(wrongVerb.headers.allow, 'GET, HEAD')
})
