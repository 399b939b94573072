import t from 'tap'
import { request, startServer } from '../http/wire.js'

const { port } = await startServer(
  t,
  [{ path: '/', methods: { POST: (_, reply) => reply.send(200, {}, '') } }],
  { corsOrigins: ['https://map.example.org'] },
)

/** Only five names were allowed, so that browsers sent no request that had another header. */
t.test('a page of a named origin may send the headers that clients and gateways add', async (t) => {
  for (const asked of [
    'authorization',
    'content-type,x-requested-with',
    'traceparent,tracestate',
  ]) {
    const headers = [
      'Origin: https://map.example.org',
      'Access-Control-Request-Method: POST',
      `Access-Control-Request-Headers: ${asked}`,
    ]
    const answer = await request(port, 'OPTIONS /', { headers })
    const allowed = answer.headers['access-control-allow-headers'].toLowerCase().split(', ')
    for (const name of asked.split(',')) t.ok(allowed.includes(name), name)
  }
})
