/**
 * The line for curl that a service prints could not work where it listens on every address, or speaks TLS with a
 * certificate that the machine does not know; and it served "1 sources".
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAuthority } from '../support/service/certificates.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'

t.test('the printed address can be called', async (t) => {
  const directory = temporaryDirectory(t)
  const [data, people] = [join(directory, 'data'), join(directory, 'people.csv')]
  writeFileSync(people, 'number,lat,lng\n+99912345678,29.7,-95.3\n')
  const imported = await hickory('import', '--data', data, '--source', '1', '--label', 'A', people)
  t.equal(imported.code, 0, imported.stderr)
  const { certificate, key } = createAuthority(directory, 'authority').issue('own')
  for (const [flags, listened, called] of [
    [[], 'http://127.0.0.1', 'http://127.0.0.1'],
    [['--host', '0.0.0.0', '--open'], 'http://0.0.0.0', 'http://localhost'],
    [
      ['--host', '::', '--open', '--tls-cert', certificate, '--tls-key', key],
      'https://[::]',
      'https://localhost',
    ],
  ] as const) {
    const service = await serve(t, '--data', data, ...flags)
    const { stdout } = service.output()
    t.ok(stdout.includes(`serves 1 recipient of 1 source at ${listened}:`), stdout)
    t.ok(stdout.includes(`curl -s ${called}:`), stdout)
    t.equal(stdout.includes(` --cacert "$CA"\n`), called.startsWith('https'))
    t.equal((await service.stop()).code, 0)
  }
})
