/**
 * Who may write, by the address of the other end.
 *
 * @module
 */
import t from 'tap'
import type { HttpRequest } from '../../src/http/request.js'
import { refuseForeignWrite } from '../../src/http/writers.js'

const ZEROS = '0000:0000:0000:0000:0000'

t.test('loopback addresses of both families may write', async (t) => {
  for (const address of [
    '127.0.0.1',
    '127.255.0.9',
    `${ZEROS}:0000:0000:0001`,
    `${ZEROS}:ffff:7f00:0001`,
  ]) {
    t.doesNotThrow(() => refuseForeignWrite(from(address), []), address)
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
    t.throws(() => refuseForeignWrite(from(address), ['*']), { code: 'Forbidden' }, address)
  }
})

function from(peerAddress: string): HttpRequest {
  return { peerAddress, header: () => undefined } as unknown as HttpRequest
}
