/**
 * What our own HTTP library makes of a list that is there already: the same bytes over and over,
 * each handed over when the client has taken the last. No list on this machine is sent faster.
 *
 *   node dist/loadtest/peers/ready-buffer.js --bytes N
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { bestEngine } from '../../src/http/engine/choose.js'
import { OPEN_ADMISSION } from '../../src/http/gate.js'
import type { Handler } from '../../src/http/request.js'
import { HttpServer } from '../../src/http/server.js'
import { operations } from '../../src/interface/operations.js'
import { createLog } from '../../src/log.js'
import { privatePage } from '../../src/metrics/memory.js'

const { values } = parseArgs({ options: { bytes: { type: 'string', default: '1' } } })
const body = Buffer.alloc(Number(values.bytes), '0123456789abcdef')
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Snapshot': '000000-00000000',
  'Cache-Control': 'no-store',
}
/** Of about as many bytes as the rows that are encoded at a time. */
const CHUNK_BYTES = 600 * 1024

const stream: Handler = async (_, reply) => {
  const sink = reply.begin(200, headers, body.length)
  for (let at = 0; at < body.length && !sink.gone; at += CHUNK_BYTES) {
    if (!sink.write(body.subarray(at, at + CHUNK_BYTES))) await sink.drained()
  }
  sink.end()
}

const server = new HttpServer({
  engine: await bestEngine(),
  log: createLog('error'),
  admission: OPEN_ADMISSION,
  corsOrigins: [],
  isFull: () => false,
  watcherCount: () => 0,
  page: privatePage(),
  peers: undefined,
  trail: undefined,
  accessLog: undefined,
  routes: operations.RecipientRequest.paths.map((path) => ({ path, methods: { POST: stream } })),
})
const port = await server.listen({ host: '127.0.0.1', port: 0, isShared: false })
process.stdout.write(`ready-buffer answers at http://127.0.0.1:${port}\n`)

// Whoever started it is gone when its end of the pipe is.
process.stdin.on('end', () => process.exit()).resume()
