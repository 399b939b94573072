/**
 * Where PostgreSQL with PostGIS is on this machine. As root on Debian it is installed if need be.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = '15'
const PACKAGE = `postgresql-${VERSION}-postgis-3`

/** Set by hand to do without: `HICKORY_TEST_POSTGRES=off npm test`. */
export const isPostgresOff = process.env.HICKORY_TEST_POSTGRES === 'off'

/** The directory of initdb and postgres; installs them, or says what is missing. */
export function postgresBinaries(): string {
  const found = findBinaries()
  if (found !== undefined) return found
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) install()
  const installed = findBinaries()
  if (installed !== undefined) return installed
  throw new Error(
    `PostgreSQL with PostGIS is needed to test reading from it: install it (Debian: ${PACKAGE}), ` +
      'run the tests as root, which installs it, or leave these out with HICKORY_TEST_POSTGRES=off',
  )
}

function findBinaries(): string | undefined {
  const configured = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim()
  const places = [`/usr/lib/postgresql/${VERSION}/bin`, ...(configured ? [configured] : [])]
  return places.find(
    (place) => existsSync(join(place, 'initdb')) && existsSync(extensionFile(place)),
  )
}

function extensionFile(binaries: string): string {
  const debian = `/usr/share/postgresql/${VERSION}/extension/postgis.control`
  return existsSync(debian) ? debian : join(binaries, '../share/extension/postgis.control')
}

function install(): void {
  // Another run on this machine may be doing the same.
  const options = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  process.stderr.write(`installing ${PACKAGE}\n`)
  for (const args of [['update'], ['install', ...options, PACKAGE]]) {
    spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  }
}
