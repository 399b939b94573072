import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { request, startServer } from '../http/wire.js'

const { port } = await startServer(t, [
  { path: '/', methods: { GET: (_, reply) => reply.send(200, {}, '') } },
])

/** The refusal found the connection reset, and nobody listened for the error: the service ended. */
t.test('a client that resets its connection behind a CONNECT ends nothing', async (t) => {
  for (let round = 0; round < 200; round++) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.resetAndDestroy())
    await once(socket, 'close')
  }
  t.equal((await request(port, 'GET /')).status, 200)
})
