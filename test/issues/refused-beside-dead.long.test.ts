/**
 * One of two services is dead and the other one refuses a read, since it starts or is busy. nginx then answered 502, as
 * a page without Retry-After, for every second read.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createAuthority } from '../support/service/certificates.js'
import { freePort } from '../support/service/free-port.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { proxies } from '../support/service/proxies.js'
import { callTls, tlsAgent } from '../support/service/tls-client.js'

const authority = createAuthority(temporaryDirectory(t), 'authority')
const certificate = authority.issue('proxy')
const agent = tlsAgent(authority)
t.teardown(() => agent.destroy())

const READS = [
  { path: '/api/recipients', body: '{}' },
  { path: '/api/contexts/4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60' },
  { path: '/api/contexts/4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60/events' },
]

for (const [name, start] of Object.entries(proxies)) {
  t.test(`behind ${name}`, async (t) => {
    const refusing = createServer((request, response) => {
      request.resume()
      const isReadiness = request.url === '/readyz'
      const body = '{"ResponseStatus":{"ErrorCode":"Overloaded"}}'
      response.writeHead(isReadiness ? 200 : 503, { 'Retry-After': '1' }).end(body)
    })
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      refusing.closeAllConnections()
      refusing.close()
    })
    const ports = { blue: (refusing.address() as AddressInfo).port, green: await freePort() }
    const proxy = await start(t, { ports, certificate })
    await proxy.until('green', 'unready')
    for (const { path, body } of READS) {
      // Twice, since nginx begins with the other one.
      for (let i = 0; i < 2; i++) {
        const url = `https://localhost:${proxy.port}${path}`
        const answer = await callTls(agent, url, body === undefined ? {} : { body })
        t.equal(answer.status, 503, path)
        t.match(answer.headers['retry-after'], /^[123]$/)
        const { ResponseStatus } = JSON.parse(String(answer.body))
        t.match(ResponseStatus.ErrorCode, /^(Overloaded|Unavailable)$/)
      }
    }
  })
}
