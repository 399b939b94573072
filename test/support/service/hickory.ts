/**
 * Runs the compiled `hickory` command as a user would.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { copySample } from '../data/made-once.js'

const cli = fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end. */
export function hickory(...args: readonly string[]): Promise<Finished> {
  const child = start(args)
  return finished(child, capture(child))
}

/** Starts a command, to be watched or killed. */
export function startHickory(...args: readonly string[]): {
  child: ChildProcess
  finished: Promise<Finished>
} {
  const child = start(args)
  return { child, finished: finished(child, capture(child)) }
}

/** Ends what was started when it ends itself: a test, or a program. */
export type Owner = Pick<Test, 'teardown'>

export interface Service {
  /** Such as `http://127.0.0.1:41234`, or with https where it was started with a certificate. */
  readonly url: string
  readonly process: ChildProcess
  /** What it has written so far. */
  output(): { stdout: string; stderr: string }
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Finished>
}

/**
 * Starts `hickory serve` on a free port and waits until it is ready; ended with the test. With `--sample` it finds the one
 * that was made before in this run.
 */
export async function serve(t: Owner, ...args: readonly string[]): Promise<Service> {
  const data = args[args.indexOf('--data') + 1]
  if (args.includes('--sample') && readdirSync(data).length === 0) await copySample(data)
  return serveAfter(t, [], ...args)
}

/** The same in an interpreter with options of its own, and with a sample of its own. */
export async function serveAfter(
  t: Owner,
  nodeOptions: readonly string[],
  ...args: readonly string[]
): Promise<Service> {
  const port = args.includes('--port') ? [] : ['--port', '0']
  const child = start(['serve', ...port, ...args], nodeOptions)
  const written = capture(child)
  const end = finished(child, written)
  t.teardown(() => {
    child.kill('SIGKILL')
    refuseSecrets(written.stderr)
  })
  const url = await new Promise<string>((resolve, reject) => {
    // Logged last, when all that is printed is printed. Later the log may be long: it is not read again.
    const look = () => {
      const address = / at (https?:\S+)\n/.exec(written.stdout)?.[1]
      if (address === undefined || !written.stderr.includes('"msg":"ready"')) return
      for (const stream of streams) stream?.off('data', look)
      resolve(address)
    }
    // What was printed before may be read after what was logged.
    const streams = [child.stdout, child.stderr]
    for (const stream of streams) stream?.on('data', look)
    end.then(({ code, stderr }) => reject(new Error(`serve ended with ${code}: ${stderr}`)), reject)
  })
  return {
    url,
    process: child,
    output: () => written,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return end
    },
  }
}

/**
 * Whatever a test does with a service, its log has no phones and no keys. Every run of the tests checks that, and
 * the area `canary` of the soak with everything in the log that there is.
 */
function refuseSecrets(log: string): void {
  const lineWith = (secret: RegExp) => log.split('\n').find((each) => secret.test(each))
  const phoneLine = lineWith(SYNTHETIC_PHONE)
  if (phoneLine !== undefined) throw new Error(`a phone is in the log: ${phoneLine}`)
  const keyLine = lineWith(KEY)
  if (keyLine !== undefined) throw new Error(`a key is in the log: ${keyLine}`)
}

/** What a client sends, in an address written in two ways. */
const KEY = /hk(_|%5f)[0-9a-z]{10}(_|%5f)[0-9A-Za-z]{43}/i

/** All recipients of tests have such phones; in a URL, the plus may be written in two ways. */
const SYNTHETIC_PHONE = /(\+|%2b)999\d/i

/** A directory that goes away with the test. */
export function temporaryDirectory(t: Owner): string {
  const path = mkdtempSync(join(tmpdir(), 'hickory-test-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const running = new Set<ChildProcess>()

// A test file that an error ends comes to no teardown.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

function start(args: readonly string[], nodeOptions: readonly string[] = []): ChildProcess {
  // Without what whoever runs the tests has in NODE_OPTIONS. One HTTP thread is started sooner than
  // several, which tests ask for by a flag.
  const { NODE_OPTIONS: _, ...others } = process.env
  const env = { ...others, HICKORY_HTTP_THREADS: '1' }
  const child = spawn(process.execPath, [...nodeOptions, cli, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

interface Written {
  stdout: string
  stderr: string
}

function capture(child: ChildProcess): Written {
  const written = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => {
    written.stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    written.stderr += chunk
  })
  return written
}

function finished(child: ChildProcess, written: Written): Promise<Finished> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...written }))
  })
}
