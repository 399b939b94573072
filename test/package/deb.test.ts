/** The Debian package of a small tree, read with tar alone. A long test installs that of a release. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { writeDeb } from '../../src/package/deb.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const TIME_S = 1_700_000_000

t.test('the same tree gives the same bytes, and another one a folder of its own', async (t) => {
  const first = await build(t, 'one')
  t.ok(first.equals(await build(t, 'one')))
  const other = await build(t, 'two')
  t.notOk(first.equals(other))
  const [before, after] = [first, other].map((deb) => /^release=(.*)$/m.exec(script(deb))?.[1])
  t.match(before, /^1\.2\.0-rc\.1-[0-9a-f]{8}$/)
  t.match(after, /^1\.2\.0-rc\.1-[0-9a-f]{8}$/)
  t.not(before, after)
})

t.test('the control member says what the package needs and is', async (t) => {
  const members = membersOf(await build(t, 'one'))
  t.same([...members.keys()], ['debian-binary', 'control.tar.gz', 'data.tar.gz'])
  t.equal(String(members.get('debian-binary')), '2.0\n')
  const control = members.get('control.tar.gz') ?? Buffer.alloc(0)
  const names = listed(control).map(({ path }) => path)
  t.same(names.sort(), [
    './',
    ...'conffiles control md5sums postinst postrm preinst prerm'
      .split(' ')
      .map((each) => `./${each}`),
  ])
  const text = extracted(control, './control')
  t.match(text, /^Package: hickory\nVersion: 1\.2\.0~rc\.1\nArchitecture: arm64\n/)
  t.match(text, /^Pre-Depends: libc6 \(>= 2\.34\), libstdc\+\+6 \(>= 11\)$/m)
  t.match(text, /^Installed-Size: [1-9]\d*$/m)
  t.equal(
    extracted(control, './conffiles'),
    '/etc/hickory/hickory.json\n/etc/logrotate.d/hickory\n',
  )
  for (const name of ['preinst', 'postinst', 'prerm', 'postrm']) {
    const [entry] = listed(control).filter(({ path }) => path === `./${name}`)
    t.equal(entry.mode, '-rwxr-xr-x', name)
    t.notMatch(extracted(control, `./${name}`), /@[A-Z_]+@/, 'all words are filled in')
  }
})

t.test('each file is at its place, belongs to root and has its sum', async (t) => {
  const members = membersOf(await build(t, 'one'))
  const data = members.get('data.tar.gz') ?? Buffer.alloc(0)
  const entries = listed(data)
  const paths = new Map(entries.map((entry) => [entry.path, entry]))
  for (const path of [
    './etc/hickory/hickory.json',
    './usr/lib/hickory/package/app/program.js',
    './usr/lib/systemd/system/hickory.service',
    './usr/lib/systemd/system/hickory-import@.service',
    './usr/lib/systemd/system/hickory-import@.timer',
    './usr/lib/sysusers.d/hickory.conf',
    './usr/lib/tmpfiles.d/hickory.conf',
    './usr/share/bash-completion/completions/hickory',
    './usr/share/doc/hickory/copyright',
    './usr/share/man/man1/hickory.1.gz',
    './usr/share/zsh/vendor-completions/_hickory',
    './usr/share/doc/hickory/changelog.gz',
  ]) {
    t.equal(paths.get(path)?.mode, '-rw-r--r--', path)
  }
  t.equal(paths.get('./usr/lib/hickory/package/bin/hickory')?.mode, '-rwxr-xr-x')
  t.equal(paths.get('./usr/bin/hickory')?.target, '../lib/hickory/bin/hickory')
  for (const { path, owner, date } of entries)
    t.same([owner, date], ['root/root', '2023-11-14'], path)
  const control = members.get('control.tar.gz') ?? Buffer.alloc(0)
  const sums = extracted(control, './md5sums').trim().split('\n')
  const files = entries.filter(
    ({ mode, path }) => mode.startsWith('-') && !path.startsWith('./etc'),
  )
  t.same(sums.map((line) => `./${line.slice(34)}`).sort(), files.map(({ path }) => path).sort())
  for (const line of sums) {
    const bytes = execFileSync('tar', ['-xzOf', '-', `./${line.slice(34)}`], { input: data })
    t.equal(createHash('md5').update(bytes).digest('hex'), line.slice(0, 32), line)
  }
})

/** A tree with one file that is `text`, and the files of the system. */
async function build(t: Test, text: string): Promise<Buffer> {
  const folder = temporaryDirectory(t)
  const tree = join(folder, 'tree')
  for (const [path, content] of [
    ['bin/hickory', '#!/bin/sh\n'],
    ['app/program.js', text],
    ['VERSION', 'hickory\n'],
    ['share/man/man1/hickory.1', '.TH HICKORY 1\n'],
    ['share/bash-completion/completions/hickory', ':\n'],
    ['share/zsh/site-functions/_hickory', ':\n'],
  ]) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), content)
  }
  for (const part of ['systemd', 'sysusers', 'tmpfiles', 'logrotate', 'hickory.json']) {
    cpSync(join(ROOT, 'data/system', part), join(tree, 'share', part), { recursive: true })
  }
  const file = await writeDeb({
    root: ROOT,
    tree,
    arch: 'arm64',
    version: '1.2.0-rc.1',
    timeS: TIME_S,
    staging: join(folder, 'deb'),
    onBytes: () => undefined,
  })
  t.equal(file, join(folder, 'deb/hickory_1.2.0~rc.1_arm64.deb'))
  return readFileSync(file)
}

/** Of an ar archive, read by the widths of its fields. */
function membersOf(deb: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>()
  for (let at = 8; at < deb.length; ) {
    const name = deb.toString('latin1', at, at + 16).trim()
    const byteCount = Number(deb.toString('latin1', at + 48, at + 58))
    members.set(name, deb.subarray(at + 60, at + 60 + byteCount))
    at += 60 + byteCount + (byteCount % 2)
  }
  return members
}

function listed(tar: Buffer) {
  const lines = String(execFileSync('tar', ['-tvzf', '-', '--utc'], { input: tar }))
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [mode, owner, , date, , path, , target] = line.split(/\s+/)
      return { mode, owner, date, path, target }
    })
}

function extracted(tar: Buffer, path: string): string {
  return String(execFileSync('tar', ['-xzOf', '-', path], { input: tar }))
}

function script(deb: Buffer): string {
  return extracted(membersOf(deb).get('control.tar.gz') ?? Buffer.alloc(0), './postinst')
}
