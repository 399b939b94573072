/**
 * The floor to compare with: our own HTTP server, parsing the same bodies as JSON and answering a
 * constant. It selects nobody, so what it does not reach, no service on this machine reaches.
 *
 * @module
 */

import type { Handler } from '../../src/http/request.js'
import { HttpServer } from '../../src/http/server.js'
import { operations } from '../../src/interface/operations.js'
import { createLog } from '../../src/log.js'

const decoder = new TextDecoder()
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Snapshot': '000000-00000000',
  'Cache-Control': 'no-store',
}
const answer = '{"SourceRecords":[{"SourceId":1,"Label":"Residents","Count":1234,"Status":"Ok"}]}'

const echo: Handler = async (request, reply) => {
  JSON.parse(decoder.decode(await request.body()))
  reply.send(200, headers, answer)
}

const server = new HttpServer({
  log: createLog('error'),
  routes: operations.RecipientRequest.paths.map((path) => ({ path, methods: { POST: echo } })),
})
const port = await server.listen('127.0.0.1', 0)
process.stdout.write(`echo answers at http://127.0.0.1:${port}\n`)

// Whoever started it is gone when its end of the pipe is.
process.stdin.on('end', () => process.exit()).resume()
