/**
 * Where PostgreSQL with PostGIS is on this machine. test/install-tools.sh installs it.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The directory of initdb and postgres.
 *
 * @throws Error  that says what to install
 */
export function postgresBinaries(): string {
  const found = [...debianServers(), ...configuredServer()].find(
    ({ binaries, share }) =>
      existsSync(join(binaries, 'initdb')) && existsSync(join(share, 'extension/postgis.control')),
  )
  if (found !== undefined) return found.binaries
  throw new Error(
    'PostgreSQL with PostGIS is needed to test reading from it: install it ' +
      '(Debian: postgresql and postgresql-postgis), or run `sh test/install-tools.sh` as root',
  )
}

interface Server {
  readonly binaries: string
  /** Where its extensions are described. */
  readonly share: string
}

const DEBIAN = '/usr/lib/postgresql'

function debianServers(): Server[] {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort().reverse() : []
  return versions.map((version) => ({
    binaries: join(DEBIAN, version, 'bin'),
    share: join('/usr/share/postgresql', version),
  }))
}

function configuredServer(): Server[] {
  const ask = (what: string) => spawnSync('pg_config', [what], { encoding: 'utf8' }).stdout?.trim()
  const [binaries, share] = [ask('--bindir'), ask('--sharedir')]
  return binaries && share ? [{ binaries, share }] : []
}
