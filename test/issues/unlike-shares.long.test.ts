/**
 * The same of services: a port is not shared by two data directories.
 */
import t from 'tap'
import { freePort } from '../support/service/free-port.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

t.test('a service of another data directory does not begin to share a port', async (t) => {
  const port = String(await freePort())
  const shared = ['--port', port, '--share-port', '--sample', '--data']
  const blue = temporaryDirectory(t)
  const first = await serve(t, ...shared, blue)
  for (const more of [[], ['--host', '0.0.0.0', '--open']]) {
    const other = serve(t, ...shared, temporaryDirectory(t), ...more)
    await t.rejects(other, /ended with 8: .*a service of another data directory has it/s)
  }
  const second = await serve(t, ...shared, blue)
  for (const { url, stop } of [first, second]) {
    t.equal((await fetch(`${url}/livez`)).status, 200)
    t.equal((await stop()).code, 0)
  }
})
