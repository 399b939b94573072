/**
 * What is refused before the body of a request is taken, and who may write.
 *
 * @module
 */
import t from 'tap'
import { Gate, OPEN_ADMISSION } from '../../src/http/gate.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import type { HttpRequest } from '../../src/http/request.js'
import { DEFAULT_OPTIONS } from '../../src/http/response/response-options.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { operations } from '../../src/interface/operations.js'
import { limits } from '../../src/limits.js'
import type { Executors } from '../../src/operations/execute.js'
import { OPEN_ACCESS } from '../../src/selection/access.js'
import { Client, request, requestText, startServer } from './wire.js'

const ZEROS = '0000:0000:0000:0000:0000'

t.test('loopback addresses of both families may write', async (t) => {
  for (const address of [
    '127.0.0.1',
    '127.255.0.9',
    `${ZEROS}:0000:0000:0001`,
    `${ZEROS}:ffff:7f00:0001`,
  ]) {
    t.equal(writeFault(address), undefined, address)
  }
})

t.test('no other address may', async (t) => {
  for (const address of [
    '',
    '10.0.0.1',
    '203.0.113.127',
    '128.0.0.1',
    '1.127.0.0',
    `${ZEROS}:0000:0000:0000`,
    `${ZEROS}:ffff:0a00:0001`,
    `${ZEROS}:ffff:807f:0001`,
    '2001:0db8:0000:0000:0000:ffff:7f00:0001',
    'fe80:0000:0000:0000:0000:0000:0000:0001',
  ]) {
    t.match(writeFault(address, ['*']), { code: 'Forbidden' }, address)
  }
})

const executedNames: string[] = []
const executors = Object.fromEntries(
  operationNames.map((name) => [name, async () => void executedNames.push(name)]),
) as unknown as Executors
const { port, server } = await startServer(t, operationRoutes(executors))

const FOREIGN = 'Origin: https://evil.example.org'
const SENT_BYTES = 64 * 1024
const declared = [`Content-Length: ${limits.bodyBytes}`, 'Content-Type: application/json']

t.test('a write from a foreign page is refused before its body is there', async (t) => {
  const writes = operationNames.filter((name) => operations[name].isWrite)
  const lines = writes.flatMap((name) => {
    const { verb, paths } = operations[name]
    return [
      ...paths.map((path) => `${verb} ${path}`),
      `POST /json/reply/${name}[]`,
      `POST /api/${name}`,
    ]
  })
  for (const line of lines) {
    const client = new Client(port)
    client.write(requestText(line, { headers: [FOREIGN, ...declared] }))
    client.write(Buffer.alloc(SENT_BYTES, ' '))
    const { status, headers, body } = await client.answer()
    t.equal(status, 403, line)
    t.match(String(body), '"ErrorCode":"Forbidden"')
    t.equal(headers.connection, undefined, 'the connection goes on')
    t.equal(server.heldBodyBytes, 0, 'no byte was kept')
    // Bytes that were on their way are dropped, and the next request is a request.
    client.write(Buffer.alloc(limits.bodyBytes - SENT_BYTES, ' '))
    client.write(requestText('GET /api/contexts'))
    t.equal((await client.answer()).status, 204, line)
    client.socket.destroy()
  }
  t.same(new Set(executedNames.splice(0)), new Set(['GetMapContextsRequest']))
})

t.test('the same body from this machine is waited for', async (t) => {
  const client = new Client(port)
  client.write(requestText('POST /api/contexts', { headers: declared }))
  client.write(Buffer.alloc(SENT_BYTES, ' '))
  t.equal((await request(port, 'GET /api/contexts')).status, 204)
  t.equal(server.heldBodyBytes, SENT_BYTES)
  client.write(Buffer.alloc(limits.bodyBytes - SENT_BYTES, ' '))
  t.equal((await client.answer()).status, 204)
  client.socket.destroy()
  t.same(executedNames.splice(0), ['GetMapContextsRequest', 'PostMapContextRequest'])
})

t.test('a form names its verb in the body, so that its client is looked at again', async (t) => {
  const form = (verb: string) => ({
    headers: [FOREIGN, 'Content-Type: application/x-www-form-urlencoded'],
    body: verb === '' ? 'ContextName=a' : `X-HTTP-Method-Override=${verb}`,
  })
  const statusOf = async (path: string, verb: string) =>
    (await request(port, `POST ${path}`, form(verb))).status
  t.equal(await statusOf('/api/contexts', ''), 403)
  t.equal(await statusOf('/api/contexts', 'PUT'), 403)
  t.equal(await statusOf('/api/contexts/a', 'DELETE'), 403)
  t.equal(await statusOf('/api/contexts/a', ''), 405)
  t.same(executedNames.splice(0), [])
  t.equal(await statusOf('/api/contexts', 'GET'), 204)
  t.equal(await statusOf('/api/contexts/a', 'get'), 204)
  t.same(executedNames.splice(0), ['GetMapContextsRequest', 'GetMapContextRequest'])
})

t.test('a client that sends a refused body that is too large reads why', async (t) => {
  for (const line of ['POST /api/PostMapContextRequest[]', 'POST /api/recipients?layout=bad']) {
    const client = new Client(port)
    const byteCount = limits.bodyBytes + limits.discardBytes
    client.write(requestText(line, { headers: [FOREIGN, `Content-Length: ${byteCount}`] }))
    client.write(Buffer.alloc(byteCount, ' '))
    const answer = await client.answer()
    t.equal(answer.status, line.includes('layout') ? 400 : 403)
    t.equal(answer.headers.connection, undefined)
    client.write(requestText('GET /api/contexts'))
    t.equal((await client.answer()).status, 204, 'all of it was dropped')
    client.socket.destroy()
  }
  t.same(executedNames.splice(0), ['GetMapContextsRequest', 'GetMapContextsRequest'])
})

t.test('a refused body that is far too large ends its connection', async (t) => {
  const client = new Client(port)
  const headers = [FOREIGN, `Content-Length: ${limits.bodyBytes + limits.discardBytes + 1}`]
  client.write(requestText('POST /api/PostMapContextRequest[]', { headers }))
  const answer = await client.answer()
  t.equal(answer.status, 403)
  t.equal(answer.headers.connection, 'close')
  await client.untilClosed()
})

function writeFault(peerAddress: string, corsOrigins: readonly string[] = []) {
  const gate = new Gate({ admission: OPEN_ADMISSION, corsOrigins, isFull: () => false })
  const sent = {
    peerAddress,
    access: OPEN_ACCESS,
    options: DEFAULT_OPTIONS,
    header: () => undefined,
  }
  return gate.callFault(sent as unknown as HttpRequest, {
    name: 'PostMapContextRequest',
    isBatch: false,
  })
}
