/**
 * The processes that a load run starts. None of them outlives it.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ServerProcess {
  readonly name: string
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
  readonly pid: number
  /** Memory that is resident now; undefined once it has ended, and where there is no /proc. */
  residentBytes(): number | undefined
  /** Rejects when the process ends before it is told to. */
  readonly failure: Promise<never>
  /** The exit code once it has ended, for whatever reason; null when a signal ended it. */
  readonly ended: Promise<number | null>
  /** Asks it to end, insists after a while, and waits until it has. */
  stop(): Promise<void>
}

/**
 * Starts a script of this repository that prints its address on loopback to standard output.
 *
 * @param args  the script and its arguments
 */
export async function startServer(
  name: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ServerProcess> {
  const child = start(args)
  const tail = keepTail(child)
  let isStopping = false
  const failure = once(child, 'exit').then(([code, killer]) => {
    if (isStopping) return new Promise<never>(() => {})
    throw new Error(`${name} ended with ${code ?? killer}:\n${tail()}`)
  })
  failure.catch(() => {})
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const stop = async () => {
    isStopping = true
    await end(child)
  }
  const started = new AbortController()
  try {
    const late = deadline(name, AbortSignal.any([signal, started.signal]))
    const url = await Promise.race([addressOf(child), failure, late])
    const residentBytes = () => resident(child)
    return { name, url, pid: child.pid ?? 0, residentBytes, failure, ended, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    started.abort()
  }
}

/** Runs a script to its end; its output is shown only if it fails. */
export async function runScript(args: readonly string[], signal: AbortSignal): Promise<void> {
  await runTool(process.execPath, args, signal)
}

/**
 * Runs a program to its end.
 *
 * @returns what it printed to standard output
 */
export async function runTool(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const child = start(args, program)
  const tail = keepTail(child)
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (piece) => {
    output += piece
  })
  const abort = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', abort)
  try {
    const [code, killer] = await once(child, 'close')
    signal.throwIfAborted()
    if (code === 0) return output
    throw new Error(`${args.join(' ')} ended with ${code ?? killer}:\n${tail()}`)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

const START_MS = 120_000
/** Longer than the service takes to drain. */
const STOP_MS = 20_000
const TAIL_LINE_COUNT = 20

const alive = new Set<ChildProcess>()
// The last resort, for ways to end that no `finally` sees.
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

function start(args: readonly string[], program = process.execPath): ChildProcess {
  // Standard input is a pipe that nobody writes to: its end says that this process is gone.
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  child.once('error', () => alive.delete(child))
  return child
}

/** Reads standard error to its end, or the child would wait; keeps its last lines. */
function keepTail(child: ChildProcess): () => string {
  const lines: string[] = []
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (lines.length > TAIL_LINE_COUNT) lines.shift()
    })
  }
  return () => lines.join('\n')
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    if (!child.stdout) return
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = /https?:\/\/127\.0\.0\.1:[0-9]+/.exec(line)
      if (address) resolve(address[0])
    })
  })
}

async function deadline(name: string, signal: AbortSignal): Promise<never> {
  await sleep(START_MS, undefined, { signal, ref: false })
  throw new Error(`${name} did not start in ${START_MS} ms`)
}

async function end(child: ChildProcess): Promise<void> {
  if (!alive.has(child)) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const insist = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exit
  clearTimeout(insist)
}

function resident(child: ChildProcess): number | undefined {
  const path = `/proc/${child.pid}/status`
  if (!alive.has(child) || !existsSync(path)) return undefined
  const kibibytes = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(path, 'utf8'))
  return kibibytes === null ? undefined : 1024 * Number(kibibytes[1])
}
