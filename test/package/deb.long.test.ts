/**
 * The Debian package for amd64, installed, upgraded under load, downgraded, removed and purged by the dpkg of a
 * minimal Debian. What systemd would do is done by hand, as the units say it.
 *
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { META, openTables } from '../../src/store/tables.js'
import { readVersion } from '../../src/version.js'
import { freePort } from '../support/service/free-port.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'
import { minimalDebian } from './debian.js'
import { commandOfUnit, pretendSystemd } from './debian-service.js'
import { packagesForX64 } from './packages.js'
import { countOf, started } from './started.js'

const VERSION = readVersion()
const LATER = '99.0.0'
const PACKED_BYTES_MAX = 90e6

const { out, made } = await packagesForX64(t)
const deb = readdirSync(out).find((name) => name.endsWith('_amd64.deb')) ?? ''

t.test('the package is small, its sum is written down, and its scripts are sound', async (t) => {
  t.equal(made.code, 0, made.stderr)
  t.equal(deb, `hickory_${VERSION}_amd64.deb`)
  const { size } = statSync(join(out, deb))
  t.comment(`${(size / 1e6).toFixed(1)} MB packed`)
  t.ok(size <= PACKED_BYTES_MAX)
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out })
  t.equal(String(execFileSync('dpkg-deb', ['-f', join(out, deb), 'Version'])), `${VERSION}\n`)
  const control = join(temporaryDirectory(t), 'control')
  execFileSync('dpkg-deb', ['-e', join(out, deb), control])
  const scripts = ['preinst', 'postinst', 'prerm', 'postrm'].map((name) => join(control, name))
  const checked = spawnSync('shellcheck', ['--shell=sh', ...scripts], { encoding: 'utf8' })
  t.equal(checked.status, 0, checked.stdout)
})

t.test('installed, upgraded under load, downgraded, removed and purged', async (t) => {
  const debian = await minimalDebian(t)
  const inside = (path: string) => join(debian.root, path)
  const later = 'hickory_later_amd64.deb'
  for (const name of [deb, later]) {
    if (name === later) remake(t, join(out, deb), inside(`root/${later}`))
    else cpSync(join(out, deb), inside(`root/${deb}`))
  }
  const dpkg = (...args: readonly string[]) => debian.run('dpkg', ...args)
  const succeed = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await debian.run(...args)
    t.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  const install = (name: string) => succeed('dpkg', '-i', `/root/${name}`)
  const state = async () => {
    const format = ['-W', '-f', `\${Status} \${Version}`, 'hickory']
    return (await debian.run('dpkg-query', ...format)).stdout
  }
  const versionThere = async () => (await succeed('hickory', '--version')).trim()
  const releases = () => readdirSync(inside('usr/lib/hickory')).filter((name) => /^\d/.test(name))
  const generate = async (count: number) => {
    const rows = ['--recipients', String(count), '--seed', '1', '--out', '/srv/made.csv']
    await succeed(
      'sh',
      '-c',
      'rm -f /srv/made.csv; umask 022; exec hickory generate "$@"',
      'sh',
      ...rows,
    )
  }
  const importByUnit = () => succeed(...commandOfUnit(debian, 'hickory-import@.service', 'night'))
  const start = async () => {
    const child = debian.start(...commandOfUnit(debian, 'hickory.service'))
    const service = await started(child)
    return { ...service, program: () => readlinkSync(`/proc/${child.pid}/exe`) }
  }
  const data = inside('var/lib/hickory')

  const startedMs = performance.now()
  t.match(await install(deb), 'import recipients, then')
  const secondsSince = (ms: number) => ((performance.now() - ms) / 1000).toFixed(1)
  t.comment(`dpkg -i took ${secondsSince(startedMs)} s`)
  t.equal(await versionThere(), VERSION)
  t.equal(await succeed('dpkg', '--verify', 'hickory'), '', 'all files are as they were packed')
  const id = (flag: string) => succeed('id', flag, 'hickory')
  const owner = [Number(await id('-u')), Number(await id('-g'))]
  t.ok(owner[0] > 0 && owner[0] < 1000, 'a user of the system')
  const held = (path: string) => {
    const { uid, gid, mode } = statSync(inside(path))
    return [uid, gid, (mode & 0o777).toString(8)]
  }
  t.same(held('var/lib/hickory'), [...owner, '700'])
  t.same(held('etc/hickory'), [0, owner[1], '750'])
  const empty = await debian.run(...commandOfUnit(debian, 'hickory.service'))
  t.equal(empty.code, 3, `nothing was imported: ${empty.stderr}`)
  // A configuration that an operator changed, which every upgrade leaves as it is.
  const settings = inside('etc/hickory/hickory.json')
  const changed = readFileSync(settings, 'utf8').replace('8080', String(await freePort()))
  writeFileSync(settings, changed)
  const source = { id: 1, label: 'Night', files: ['/srv/made.csv'] }
  writeFileSync(inside('etc/hickory/sources-night.json'), JSON.stringify({ sources: [source] }))
  await generate(1_000)
  await importByUnit()
  let service = await start()
  t.equal(await countOf(service.url), 1_000)
  t.comment(`first answer ${secondsSince(startedMs)} s after dpkg -i began, with an import`)

  await t.test('an upgrade under load', async (t) => {
    const [before] = releases()
    const client = countAllTheTime(service.url)
    await succeed('dpkg', '--unpack', `/root/${later}`)
    t.equal(await versionThere(), VERSION, 'until it is configured, the earlier one is there whole')
    await generate(2_000)
    await importByUnit()
    // For the new snapshot the service starts threads, from files that dpkg has replaced.
    await until(() => client.seen().has(2_000))
    t.match(service.program(), `/${before}/`)
    t.same(client.failures(), [], 'nobody notices it')
    const untilRestart = client.requestCount()
    const systemd = pretendSystemd(debian)
    const configured = dpkg('--configure', 'hickory')
    await systemd.onRestart(async () => {
      t.equal(await service.stop(), 0)
      service = await start()
    })
    const { code, stderr } = await configured
    t.equal(code, 0, stderr)
    t.match(systemd.calls(), /^--system daemon-reload\n(.*\n)*try-restart hickory\.service$/m)
    systemd.end()
    const reached = client.requestCount()
    await until(() => client.requestCount() > reached + 50)
    await client.stop()
    t.equal(await versionThere(), LATER)
    t.match(service.program(), new RegExp(`/usr/lib/hickory/${LATER}-`))
    t.equal(releases().length, 1, 'the earlier folder is gone with its service')
    t.same([...client.seen()].sort(), [1_000, 2_000], 'no answer is another')
    t.equal(readFileSync(settings, 'utf8'), changed)
    const failures = client.failures()
    t.ok(
      failures.every((each) => /^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET|503)$/.test(each)),
      [...new Set(failures)].join(' '),
    )
    const sums = [...new Set(failures)].map(
      (each) => `${failures.filter((other) => other === each).length} ${each}`,
    )
    t.comment(
      `${client.requestCount()} requests, ${untilRestart} of them while dpkg unpacked and imported: 0 errors; ` +
        `at the restart: ${sums.join(', ') || 'none'}; nobody was answered for ${client.gapMs().toFixed(0)} ms`,
    )
  })

  await t.test('a downgrade that could not read the data is refused', async (t) => {
    const refused = async (message: RegExp) => {
      const { code, stderr } = await dpkg('-i', `/root/${deb}`)
      t.not(code, 0)
      t.match(stderr, message)
      t.match(stderr, /Nothing was changed. To go back:/)
      t.equal(await state(), `install ok installed ${LATER}`)
      t.equal(await versionThere(), LATER)
      t.equal(await countOf(service.url), 2_000, 'the service goes on')
    }
    const current = readFileSync(join(data, 'CURRENT'), 'utf8').trim()
    const manifest = join(data, 'snapshots', current, 'manifest.json')
    const text = readFileSync(manifest, 'utf8')
    writeFileSync(manifest, text.replace('"formatVersion": 2', '"formatVersion": 3'))
    await refused(
      /the current snapshot of \S+ \(\S+\) has format 3, and version \S+ reads formats up to 2/,
    )
    writeFileSync(manifest, text)
    await service.stop()
    const kept = join(temporaryDirectory(t), 'store')
    cpSync(join(data, 'store'), kept, { recursive: true, preserveTimestamps: true })
    const tables = openTables(join(data, 'store'), 'write')
    await tables.meta.put(META.format, '12')
    await tables.close()
    const { code, stderr } = await dpkg('-i', `/root/${deb}`)
    t.not(code, 0)
    t.match(stderr, /the store of \S+ has format 12, and version \S+ reads formats up to 4/)
    t.equal(await state(), `install ok installed ${LATER}`)
    rmSync(join(data, 'store'), { recursive: true })
    execFileSync('cp', ['-a', kept, join(data, 'store')])
    execFileSync('chown', ['-R', `${owner[0]}:${owner[1]}`, join(data, 'store')])
    service = await start()
  })

  await t.test('any other downgrade is made, and a running service keeps its files', async (t) => {
    t.match(await install(deb), /99\.0\.0-\w+ is kept, because a process runs there/)
    t.equal(await versionThere(), VERSION)
    t.equal(releases().length, 2)
    t.equal(await countOf(service.url), 2_000)
    await service.stop()
    t.notMatch(await install(deb), 'is kept', 'installed again')
    t.equal(releases().length, 1)
    service = await start()
    t.equal(await countOf(service.url), 2_000)
    await service.stop()
  })

  await t.test('half a download changes nothing', async (t) => {
    const half = inside('root/half.deb')
    cpSync(join(out, deb), half)
    truncateSync(half, Math.floor(statSync(half).size / 2))
    const { code, stderr } = await dpkg('-i', '/root/half.deb')
    t.not(code, 0)
    t.comment(stderr.trim().split('\n').join(' | '))
    t.match(stderr, /unexpected end of file|truncated/)
    t.equal(await versionThere(), VERSION)
    t.equal(await state(), `install ok installed ${VERSION}`)
    rmSync(half)
  })

  await t.test('removed, it keeps settings and data; installed again, it goes on', async (t) => {
    await succeed('dpkg', '-r', 'hickory')
    t.match(await state(), 'deinstall ok config-files')
    t.notOk(existsSync(inside('usr/lib/hickory')))
    t.throws(() => lstatSync(inside('usr/bin/hickory')))
    t.equal(readFileSync(settings, 'utf8'), changed)
    await install(deb)
    service = await start()
    t.equal(await countOf(service.url), 2_000)
    await service.stop()
  })

  await t.test('purged, it keeps the data, and says so', async (t) => {
    t.match(
      await succeed('dpkg', '-P', 'hickory'),
      '/var/lib/hickory is kept; to delete it for ever: rm -r',
    )
    t.notOk(existsSync(settings))
    t.ok(existsSync(join(data, 'CURRENT')))
    t.same(held('var/lib/hickory'), [...owner, '700'])
    t.equal(Number(await id('-u')), owner[0], 'nobody else gets the number of its user')
  })

  await t.test('a folder that is a link to a tarball stays as it is', async (t) => {
    symlinkSync('/opt/hickory-0', inside('usr/lib/hickory'))
    const { code, stderr } = await dpkg('-i', `/root/${deb}`)
    t.not(code, 0)
    t.match(stderr, /\/usr\/lib\/hickory is a link to \/opt\/hickory-0/)
    t.notOk(existsSync(inside('opt/hickory-0')))
  })
})

/** The same package as a later version, with another folder for it. */
function remake(t: Parameters<typeof temporaryDirectory>[0], from: string, to: string): void {
  const folder = join(temporaryDirectory(t), 'remade')
  execFileSync('dpkg-deb', ['-R', from, folder])
  const program = 'usr/lib/hickory/package'
  for (const path of [
    'DEBIAN/control',
    'DEBIAN/postinst',
    'DEBIAN/preinst',
    `${program}/app/package.json`,
  ]) {
    const text = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path), text.replaceAll(VERSION, LATER))
  }
  // Its sums of the files that were changed are those of before, which dpkg does not look at.
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '-b', folder, to], { stdio: 'ignore' })
}

/** Four clients, each of which asks again as soon as it is answered, or after a moment where it is not. */
function countAllTheTime(url: string) {
  const counts = new Set<number>()
  const failures: string[] = []
  let requestCount = 0
  let answeredMs = performance.now()
  let gapMs = 0
  let isOver = false
  const ask = async () => {
    while (!isOver) {
      requestCount++
      try {
        counts.add(await countOf(url))
        gapMs = Math.max(gapMs, performance.now() - answeredMs)
        answeredMs = performance.now()
      } catch (error) {
        failures.push(nameOf(error))
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
  }
  const clients = Promise.all([ask(), ask(), ask(), ask()])
  return {
    seen: () => counts,
    failures: () => failures,
    requestCount: () => requestCount,
    gapMs: () => gapMs,
    stop() {
      isOver = true
      return clients
    },
  }
}

/** Such as ECONNREFUSED, or the status of an answer that is no count. */
function nameOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string }; message: string }
  return cause?.code ?? message
}
