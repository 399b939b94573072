/**
 * A minimal Debian of its own for a test: no Node.js, no compiler, no curl. It needs root and debootstrap, as
 * CI has them. Its programs run in a mount namespace, so that no mount outlives them; they share the network
 * and the processes of the machine.
 *
 * @module
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Finished, type Owner, temporaryDirectory } from '../support/service/hickory.js'

const SUITE = 'bookworm'
const MIRROR = 'http://deb.debian.org/debian'

export interface Debian {
  /** Where its file system is. */
  readonly root: string
  /** Runs a program in it to its end. */
  run(...args: readonly string[]): Promise<Finished>
  /** Starts a program in it, which is killed with the test. Signals go to the program itself. */
  start(...args: readonly string[]): ChildProcess
}

/** Takes twenty seconds at the first time on a machine; later ones copy that. */
export async function minimalDebian(t: Owner): Promise<Debian> {
  if (process.getuid?.() !== 0) throw new Error('only root can run a Debian in a folder')
  const root = join(temporaryDirectory(t), 'debian')
  await promisify(execFile)('cp', ['-a', await installed(), root])
  const start = (...args: readonly string[]) => {
    const child = spawn('unshare', ['--mount', 'sh', '-c', ENTER, 'sh', root, ...args], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  return { root, start, run: (...args) => finished(start(...args)) }
}

/** `exec` all the way: the process that is started becomes the program. */
const ENTER = 'mount -t proc proc "$1/proc" && exec chroot "$@"'

/** Several test files may ask at the same time; one of them installs it. */
async function installed(): Promise<string> {
  const folder = join(tmpdir(), `hickory-debian-${SUITE}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const script = `
    [ ! -d "$1/root" ] || exit 0
    rm -rf "$1/part"
    debootstrap --variant=minbase ${SUITE} "$1/part" ${MIRROR} >"$1/log" 2>&1 || exit 1
    rm -rf "$1/part/var/cache/apt/archives/"*.deb
    mv "$1/part" "$1/root"`
  try {
    await promisify(execFile)('flock', [join(folder, 'lock'), 'sh', '-c', script, 'sh', folder])
  } catch (cause) {
    const log = readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(-5).join('\n')
    rmSync(join(folder, 'part'), { recursive: true, force: true })
    throw new Error(`debootstrap failed: ${log}`, { cause })
  }
  return join(folder, 'root')
}

function finished(child: ChildProcess): Promise<Finished> {
  const written = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => {
    written.stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    written.stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...written }))
  })
}
