/**
 * Where PostgreSQL with PostGIS is on this machine. test/install-tools.sh installs it.
 *
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

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

/** Of the testing release of Debian: test/install-tools.sh unpacks it where it can be had. */
const NEWER = '/var/cache/hickory-tests/postgresql-18/usr/lib/postgresql/18/bin'

/**
 * Runs a test with the newest server of this machine. HICKORY_POSTGRES names the directory of initdb and postgres of another
 * one, which is then the only one.
 *
 * @param isWithAll  whether the one that is installed has its turn, too
 */
export function withNewestPostgres(
  t: Test,
  isWithAll: boolean,
  test: (t: Test, binaries: string) => Promise<void>,
): void {
  const { HICKORY_POSTGRES: named } = process.env
  const hasNewer = existsSync(NEWER)
  const installed = isWithAll || !hasNewer ? [postgresBinaries()] : []
  const found = hasNewer ? [...installed, NEWER] : installed
  const servers = named === undefined ? found : [named]
  if (named === undefined && !hasNewer) {
    t.comment(`note: with ${versionOf(servers[0])} alone, since there is no ${NEWER}`)
  }
  for (const binaries of servers) t.test(versionOf(binaries), (t) => test(t, binaries))
}

function versionOf(binaries: string): string {
  return execFileSync(join(binaries, 'postgres'), ['--version'], { encoding: 'utf8' }).trim()
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
