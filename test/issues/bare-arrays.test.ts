/**
 * A bare array of changes was refused as "the body must be a JSON object, not an array", without the way out.
 */
import t from 'tap'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import type { Executors } from '../../src/operations/execute.js'
import { request, startServer } from '../http/wire.js'

const execute = async () => t.fail('it is refused')
const executors = Object.fromEntries(operationNames.map((name) => [name, execute]))
const { port } = await startServer(t, operationRoutes(executors as unknown as Executors))

const messageOf = async (path: string) => {
  const { status, body } = await request(port, `POST ${path}`, {
    headers: ['Content-Type: application/json'],
    body: '[{"op":"delete","number":"+99912345678"}]',
  })
  t.equal(status, 400)
  t.notMatch(body.toString(), '999')
  return JSON.parse(body.toString()).ResponseStatus.Message
}

t.test('the error says what to send instead of an array', async (t) => {
  t.equal(
    await messageOf('/api/sources/1/changes'),
    'the body must be a JSON object, not an array: send {"changes": [...]}, or each item on a line of its ' +
      'own as application/x-ndjson',
  )
  t.equal(
    await messageOf('/api/contexts'),
    'the body must be a JSON object, not an array: several requests are sent to /json/reply/{Operation}[]',
  )
})
