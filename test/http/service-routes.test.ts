/**
 * What the service says of itself, over HTTP.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { openApi } from '../../src/describe/open-api.js'
import { descriptionRoutes } from '../../src/http/service-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { Client, request, startServer } from './wire.js'

const HTML = 'text/html; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'

t.test('every description is at its path, also below /api, in any case', async (t) => {
  const { port } = await startServer(t, descriptionRoutes('1.2.3'))
  for (const [path, type, text] of [
    ['/metadata', HTML, 'Hickory 1.2.3'],
    ['/metadata/', HTML, 'http://test/api/recipients.csv'],
    ['/json/metadata', HTML, 'http://test/api/recipients'],
    ['/csv/metadata?op=RecipientRequest', HTML, '<title>RecipientRequest'],
    ['/types', JSON_TYPE, '{"TypeScript":"/types/typescript"}'],
    ['/types/typescript', TEXT, 'BaseUrl: http://test\n'],
    ['/openapi.json', JSON_TYPE, '"openapi":"3.1.0"'],
    ['/openapi', JSON_TYPE, '"openapi":"3.1.0"'],
    ['/METADATA', HTML, 'Hickory 1.2.3'],
  ]) {
    for (const prefix of ['', '/api']) {
      const { status, headers, body } = await request(port, `GET ${prefix}${path}`)
      t.equal(status, 200, prefix + path)
      t.equal(headers['content-type'], type, prefix + path)
      t.ok(String(body).includes(text), `${prefix}${path} has ${text}`)
    }
  }
})

t.test('the public address is what descriptions tell, whatever a request says', async (t) => {
  const url = 'https://alerts.example.org/hickory'
  const { port } = await startServer(t, descriptionRoutes('1.2.3', url))
  for (const [path, text] of [
    ['/metadata', `${url}/api/recipients`],
    ['/json/metadata?op=RecipientRequest', `${url}/api/recipients`],
    ['/types/typescript', `BaseUrl: ${url}\n`],
    ['/openapi.json', `"servers":[{"url":"${url}"}]`],
  ]) {
    const { body } = await request(port, `GET ${path}`)
    t.ok(String(body).includes(text), path)
    t.notMatch(String(body), 'http://test')
  }
  t.match((await request(port, 'GET /')).headers, { location: `${url}/metadata` })
})

t.test('the document is what is generated, and is not CSV', async (t) => {
  const { port } = await startServer(t, descriptionRoutes('1.2.3'))
  const { body } = await request(port, 'GET /openapi.json')
  t.same(JSON.parse(String(body)), JSON.parse(JSON.stringify(openApi('1.2.3'))))
  t.equal((await request(port, 'GET /openapi.csv')).status, 404)
})

t.test('the root leads to the page, HEAD has no body, other verbs are refused', async (t) => {
  const { port } = await startServer(t, descriptionRoutes('1.2.3'))
  const root = await request(port, 'GET /')
  t.match(root, { status: 302, headers: { location: '/metadata' } })
  const head = await request(port, 'HEAD /metadata')
  t.match(head, { status: 200, headers: { 'content-type': HTML } })
  t.match(await request(port, 'POST /metadata', { body: '' }), {
    status: 405,
    headers: { allow: 'GET, HEAD' },
  })
})

t.test('one operation is shown by its name in any case; an unknown one is not found', async (t) => {
  const { port } = await startServer(t, descriptionRoutes('1.2.3'))
  for (const format of ['json', 'csv']) {
    for (const name of operationNames) {
      for (const op of [name, name.toLowerCase()]) {
        const { status, body } = await request(port, `GET /${format}/metadata?op=${op}`)
        t.equal(status, 200)
        t.match(String(body), `<h1>${name}</h1>`)
      }
    }
    const { status, body } = await request(port, `GET /${format}/metadata?op=%3Cscript%3E`)
    t.equal(status, 404)
    t.match(JSON.parse(String(body)), {
      ResponseStatus: { ErrorCode: 'NotFound', Errors: [{ FieldName: 'op' }] },
    })
  }
})

t.test('the page may use its own style and nothing else', async (t) => {
  const { port } = await startServer(t, descriptionRoutes('1.2.3'))
  const { headers, body } = await request(port, 'GET /metadata')
  const [, style] = /<style>([^<]*)<\/style>/.exec(String(body)) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  t.match(headers['content-security-policy'], `default-src 'none'; style-src 'sha256-${hash}'`)
  t.notMatch(String(body), / style=/)
})

t.test('a host is repeated when it is one, and never otherwise', async (t) => {
  const { port } = await startServer(t, descriptionRoutes('1.2.3'))
  for (const [host, baseUrl] of [
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['hickory.example', 'http://hickory.example'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['"><script>alert(1)</script>', 'http://localhost'],
    ['a*/ import "evil" /*', 'http://localhost'],
    ['$(reboot)', 'http://localhost'],
    ["a';reboot;'", 'http://localhost'],
    ['a'.repeat(255), `http://${'a'.repeat(255)}`],
    ['a'.repeat(256), 'http://localhost'],
    ['a:65535', 'http://a:65535'],
    ['a:123456', 'http://localhost'],
  ]) {
    const page = await getAs(port, '/metadata', host)
    t.ok(page.includes(`curl -s &#39;${baseUrl}/api/recipients&#39;`), host)
    const types = await getAs(port, '/types/typescript', host)
    t.ok(types.includes(`BaseUrl: ${baseUrl}\n`), host)
    if (!baseUrl.includes(host)) t.notOk((page + types).includes(host), host)
  }
})

async function getAs(port: number, path: string, host: string): Promise<string> {
  const client = new Client(port)
  client.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const { status, body } = await client.answer()
  client.socket.destroy()
  return status === 200 ? String(body) : `status ${status}`
}
