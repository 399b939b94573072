/**
 * The floor to compare with: an HTTP library alone, parsing the same bodies as JSON and answering a
 * constant. It selects nobody and checks nothing, so what it does not reach, no service of this library
 * reaches. The library is that of the service beside it (`HICKORY_HTTP_ENGINE`).
 *
 * @module
 */
import { bestEngine, loadEngine } from '../../src/http/engine/choose.js'
import type { EngineName } from '../../src/http/engine/engine.js'

const answer = '{"SourceRecords":[{"SourceId":1,"Label":"Residents","Count":1234,"Status":"Ok"}]}'

const asked = process.env.HICKORY_HTTP_ENGINE ?? 'auto'
const engine = asked === 'auto' ? await bestEngine() : await loadEngine(asked as EngineName)
const app = engine.createApp({
  request(response) {
    let held: Buffer | undefined
    response.onAborted(() => {})
    response.onData((piece, isLast) => {
      const bytes = Buffer.from(piece)
      // The library detaches a piece when this turn ends.
      if (!isLast) held = Buffer.concat(held === undefined ? [bytes] : [held, bytes])
      else respond(held === undefined ? bytes : Buffer.concat([held, bytes]))
    })
    const respond = (body: Buffer) => {
      if (body.length > 0) JSON.parse(body.toString())
      response.cork(() => {
        response.writeHeader('Content-Type', 'application/json; charset=utf-8')
        response.end(answer)
      })
    }
  },
})
const port = await app.listen({ host: '127.0.0.1', port: 0, isShared: false })
if (port === undefined) throw new Error('no port is free')
process.stdout.write(`echo answers at http://127.0.0.1:${port}\n`)

// Whoever started it is gone when its end of the pipe is.
process.stdin.on('end', () => process.exit()).resume()
