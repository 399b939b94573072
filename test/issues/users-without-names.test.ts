import { spawnSync } from 'node:child_process'
import t from 'tap'

const URL_MODULE = new URL('../../src/sources/postgres/url.js', import.meta.url).href
const TLS_MODULE = new URL('../../src/sources/postgres/tls.js', import.meta.url).href

/**
 * In a container that runs as a user without an entry and without HOME, an import from PostgreSQL said that the connection
 * was lost, or the words of libuv.
 */
t.test('a user without a name and a home may read from PostgreSQL', async (t) => {
  const calls = `
    process.env = {}
    const os = process.getBuiltinModule?.('node:os') ?? (await import('node:os')).default
    const none = () => { throw new Error('uv_os_get_passwd returned ENOENT') }
    Object.assign(os, { userInfo: none, homedir: none })
    ;(await import('node:module')).syncBuiltinESMExports()
    const { parseDatabaseUrl } = await import('${URL_MODULE}')
    const { securitiesOf } = await import('${TLS_MODULE}')
    const address = parseDatabaseUrl('postgres://u@host/d?sslmode=require')
    console.log(securitiesOf(address, address.servers[0]).length)
    try {
      parseDatabaseUrl('postgres://host/d')
    } catch (error) {
      console.log(error.code, error.message)
    }`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', calls])
  t.match(stdout.toString(), /^1\nUsage .* has no name on this system.*USER@HOST/)
})
