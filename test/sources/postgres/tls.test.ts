import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { securitiesOf } from '../../../src/sources/postgres/tls.js'
import { type DatabaseAddress, parseDatabaseUrl } from '../../../src/sources/postgres/url.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

t.test('each mode encrypts, verifies and names the host as libpq means it', async (t) => {
  const authority = join(temporaryDirectory(t), 'root.crt')
  writeFileSync(authority, 'an authority')
  const clear = 'in the clear'
  const unverified = { isVerified: false, isHostChecked: false }
  const cases: readonly [DatabaseAddress['sslMode'], readonly unknown[]][] = [
    ['disable', [clear]],
    ['allow', [clear, unverified]],
    ['prefer', [unverified, clear]],
    // An authority that is named is asked.
    ['require', [{ isVerified: true, isHostChecked: false }]],
    ['verify-ca', [{ isVerified: true, isHostChecked: false }]],
    ['verify-full', [{ isVerified: true, isHostChecked: true }]],
  ]
  for (const [mode, expected] of cases) {
    const address = parseDatabaseUrl(`postgres://u@db.example/d?sslmode=${mode}`)
    const securities = securitiesOf(
      { ...address, sslRootCertificate: authority },
      address.servers[0],
    )
    const found = securities.map((security) => {
      if (security === false) return clear
      t.equal(security.ca, 'an authority', mode)
      t.equal(security.minVersion, 'TLSv1.2', mode)
      return {
        isVerified: security.rejectUnauthorized,
        isHostChecked: security.checkServerIdentity === undefined,
      }
    })
    t.same(found, expected, mode)
  }
})

t.test('a socket of this machine has no TLS', async (t) => {
  const address = parseDatabaseUrl('postgres://u@/d?host=/run/postgresql&sslmode=prefer')
  t.same(securitiesOf(address, address.servers[0]), [false])
})
