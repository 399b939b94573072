/**
 * node:http drops what is in the same packet behind a request with `Upgrade`, and reads on with the next packet: the
 * body of a request that began there was carried out as a request.
 *
 * @module
 */
import t from 'tap'
import { nodeHttp } from '../../src/http/engine/node.js'
import type { Handler } from '../../src/http/request.js'
import { Client, requestText, startServer } from '../http/wire.js'
import { engine } from '../support/service/engine.js'

const INNER = requestText('GET /inner')

for (const each of new Set([engine, nodeHttp])) {
  t.test(`nothing is carried out that was not sent as a request, by ${each.name}`, async (t) => {
    let innerCount = 0
    const answer: Handler = (_, reply) => reply.send(200, {}, 'x')
    const inner: Handler = (...asked) => {
      innerCount++
      return answer(...asked)
    }
    const routes = [
      { path: '/first', methods: { GET: answer, POST: answer } },
      { path: '/inner', methods: { GET: inner } },
    ]
    const { port } = await startServer(t, routes, { engine: each })
    for (const upgrade of ['h2c', 'websocket']) {
      const headers = ['Connection: Upgrade', `Upgrade: ${upgrade}`]
      const client = new Client(port)
      client.write(
        requestText('GET /first', { headers }) + requestText('POST /first', { body: INNER }),
      )
      const { status } = await client.answer()
      t.equal(status, 200, upgrade)
      client.write(INNER)
      // The other engine answers the POST as well.
      if (each.name === 'node') await client.untilClosed()
      else t.equal((await client.answer()).status, 200, upgrade)
      t.equal(innerCount, 0, upgrade)
      client.socket.destroy()

      const posting = new Client(port)
      posting.write(`${requestText('POST /first', { headers, body: 'body' })}body`)
      t.equal((await posting.answer()).status, 200, 'its own body is read')
      posting.socket.destroy()
    }
  })
}
