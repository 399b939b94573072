/**
 * The certificate of a server of NATS that was named by its address was compared with `localhost`: one for the address
 * alone was refused, and one for `localhost` was accepted at any address.
 *
 * @module
 */
import t from 'tap'
import { Connection } from '../../src/cluster/nats/connection.js'
import { startNatsServer } from '../cluster/support/nats-servers.js'
import { createAuthority } from '../support/service/certificates.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const EVENTS = { onChange() {}, onDenied() {} }

for (const [names, isRight] of [
  ['IP:127.0.0.1', true],
  ['DNS:localhost', false],
  ['IP:127.0.0.2', false],
] as const) {
  t.test(`a server at 127.0.0.1 shows a certificate for ${names}`, async (t) => {
    const authority = createAuthority(temporaryDirectory(t), 'nats')
    const { certificate, key } = authority.issue('server', { names })
    const settings = `tls { cert_file: "${certificate}", key_file: "${key}", timeout: 5 }`
    const { url } = await startNatsServer(t, { settings })
    const servers = [url.replace('nats:', 'tls:')]
    const opening = Connection.open(
      { servers, tls: { authority: authority.certificate } },
      'site-a',
      EVENTS,
    )
    if (isRight) await (await opening).close()
    else await t.rejects(opening, /does not match certificate/)
  })
}
