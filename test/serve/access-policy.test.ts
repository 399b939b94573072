/**
 * Who a service is there for.
 *
 * @module
 */
import t from 'tap'
import { type Config, readConfig } from '../../src/config.js'
import type { Log } from '../../src/log.js'
import { checkKeys, refuseForeignAddress } from '../../src/serve/access-policy.js'
import { keyFor, keysInMemory } from '../support/data/keys.js'
import { silentLog } from '../support/data/store.js'

const configOf = (flags: Record<string, string>): Config => readConfig(flags, {})

t.test('without keys, a service listens on loopback alone', async (t) => {
  for (const host of ['127.0.0.1', '127.8.9.10', '::1', 'localhost', '::ffff:127.0.0.1']) {
    await t.resolves(refuseForeignAddress(configOf({ host })), host)
  }
  for (const host of ['0.0.0.0', '::', '203.0.113.9', '2001:db8::1', '128.0.0.1', '0']) {
    await t.rejects(
      refuseForeignAddress(configOf({ host })),
      { code: 'Usage', message: /they would get every number.*--keys.*--open.*127\.0\.0\.1/ },
      host,
    )
    await t.resolves(refuseForeignAddress(configOf({ host, keys: 'true' })), host)
    await t.resolves(refuseForeignAddress(configOf({ host, open: 'true' })), host)
  }
})

t.test('a name counts by all of its addresses', async (t) => {
  const config = configOf({ host: 'alerts.example.org' })
  const check = (...addresses: string[]) => refuseForeignAddress(config, async () => addresses)
  await t.resolves(check('127.0.0.1', '::1'))
  await t.rejects(check('127.0.0.1', '203.0.113.9'), /alerts\.example\.org \(203\.0\.113\.9\)/)
  await t.resolves(check(), 'a name of nothing is for whoever listens to say')
})

t.test('a directory with keys is not served without them by mistake', async (t) => {
  const keys = keysInMemory()
  const check = (flags: Record<string, string>) => {
    const warnings: unknown[] = []
    const log = { warn: (...said: unknown[]) => void warnings.push(said.at(-1)) } as unknown as Log
    checkKeys(configOf(flags), keys, log)
    return warnings
  }
  t.same(check({}), [])
  t.match(check({ keys: 'true' }), [/no key yet/])
  t.match(check({ open: 'true' }), [/the service is open/])
  keyFor(keys)
  t.same(check({ keys: 'true' }), [])
  t.match(check({ open: 'true' }), [/the service is open/])
  t.throws(() => checkKeys(configOf({}), keys, silentLog), {
    code: 'Usage',
    message: /has keys \(1\).*add --keys.*or --open/,
  })
})
