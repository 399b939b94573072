/**
 * Runs an import below strace, which writes down its system calls or disturbs one of them.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Finished } from '../support/service/hickory.js'

/** What happens at which call; calls are counted for each thread among those that touch `path`. */
export interface Injection {
  readonly syscall: string
  readonly path: string
  /** The first call that is disturbed, from 1. */
  readonly when: number
  /** Whether all later calls are disturbed, too. */
  readonly isLasting?: boolean
  /** As strace takes it: `signal=SIGKILL`, `error=EIO`, `retval=1000`, `delay_enter=100000`. */
  readonly effect: string
}

/** The command and its arguments, and the directory for its temporary files. */
export interface Import {
  /** Sub-command; `import` unless given. */
  readonly command?: string
  readonly args: readonly string[]
  readonly temporaryDirectory: string
  /** Whether the system refuses to link files. */
  readonly isWithoutLinks?: boolean
}

/** @throws Error  that says what to do, since a test that is left out would seem to have passed */
export function assertStrace(): void {
  const { status, error } = spawnSync('strace', ['-e', 'trace=none', process.execPath, '-v'])
  if (status === 0) return
  throw new Error(
    error === undefined
      ? 'strace cannot trace here: allow ptrace (Docker: --cap-add=SYS_PTRACE)'
      : 'strace is missing, by which these tests make system calls fail: apt-get install strace',
  )
}

/** Runs an import to its end. */
export async function runImport(what: Import): Promise<Finished> {
  return finished(start([], what))
}

/** Starts an import that is to be killed; returns when it has ended. */
export function startImport(what: Import): { child: ChildProcess; finished: Promise<Finished> } {
  const child = start([], what)
  return { child, finished: finished(child) }
}

/** Runs an import in which no file may become larger, as on a disk that is full behind that. */
export async function runLimited(what: Import, blockCount: number): Promise<Finished> {
  return finished(start(['sh', '-c', `ulimit -f ${blockCount}; exec "$@"`, 'sh'], what))
}

/** Runs an import and returns strace's lines about these system calls. */
export async function traceImport(what: Import, syscalls: readonly string[]): Promise<string[]> {
  // Data is left out (-s 0), files of descriptors are named (-y), unknown calls are no error (?).
  const options = ['-s', '0', '-y', ...tracing(what, syscalls)]
  const { code, stderr, lines } = await runTraced(what, options)
  if (code !== 0) throw new Error(`an import that nobody disturbs ended with ${code}: ${stderr}`)
  return lines
}

/** Runs an import with an injection; `isReached` tells whether there was such a call. */
export async function runDisturbed(
  what: Import,
  { syscall, path, when, isLasting = false, effect }: Injection,
): Promise<Finished & { isReached: boolean }> {
  const inject = `inject=${syscall}:${effect}:when=${when}${isLasting ? '+' : ''}`
  const options = ['-P', path, ...tracing(what, [syscall]), '-e', inject]
  const { lines, ...end } = await runTraced(what, options)
  const isReached = end.code === null || lines.some((line) => /INJECTED|DELAYED/.test(line))
  return { ...end, isReached }
}

/** Of what is to be traced, only that can be injected. */
function tracing({ isWithoutLinks = false }: Import, syscalls: readonly string[]): string[] {
  const links = ['?link', '?linkat']
  const names = syscalls.map((name) => `?${name}`)
  if (!isWithoutLinks) return ['-e', `trace=${names.join()}`]
  return ['-e', `trace=${[...names, ...links].join()}`, '-e', `inject=${links.join()}:error=EPERM`]
}

async function runTraced(what: Import, options: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-trace-'))
  try {
    const output = join(directory, 'calls')
    // Not with --seccomp-bpf: signals are not injected then.
    const end = await finished(start(['strace', '-f', '-qq', '-o', output, ...options], what))
    return { ...end, lines: readFileSync(output, 'utf8').split('\n') }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Not the bundle, which has its own copy of the limits that are changed. */
const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
const preload = new URL('preload.js', import.meta.url).href

/** @param before  a command that runs the one behind it */
function start(before: readonly string[], what: Import): ChildProcess {
  const { command = 'import', args, temporaryDirectory } = what
  const node = [process.execPath, '--import', preload, cli, command, ...args]
  // Without the options of whoever runs the tests: they may load and write files of their own.
  return spawn('env', ['-u', 'NODE_OPTIONS', ...before, ...node], {
    env: {
      ...process.env,
      TMPDIR: temporaryDirectory,
      // One thread for files, no calls by way of a ring, and no files of Node.js, so that calls can be counted.
      ...(before.length > 0 && { NODE_DISABLE_COMPILE_CACHE: '1' }),
      UV_THREADPOOL_SIZE: '1',
      UV_USE_IO_URING: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The code is null when a signal ended it. */
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
