/**
 * Runs one round of an area in a process of its own.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiledOf, dist } from '../runner/files.js'
import { filesOf } from './area-files.js'
import { type Area, SOAK_OPTION } from './areas.js'

export interface Round {
  readonly area: Area
  readonly seed: number
  readonly seconds: number
  /** The last line that it printed. */
  readonly summary: string
  /** What it says that it left out. */
  readonly notes: readonly string[]
  readonly failure?: Failure
}

interface Failure {
  /** Also where all that was printed is. */
  readonly what: string
  /** The end of what was printed. */
  readonly tail: string
  /** What repeats it. */
  readonly command: string
}

/** Longer than any round: one that is not over by then hangs. */
const HANGING_MINUTES = 600
/** In which a round that is told to end takes away what it has made, such as networks. */
const ENDING_SECONDS = 60
const TAIL_LINE_COUNT = 60

export async function runRound(area: Area, seed: number, signal: AbortSignal): Promise<Round> {
  const path = join(tmpdir(), `hickory-soak-${area.name}-${seed}.log`)
  const output = openSync(path, 'w')
  const { environment, words } = commandOf(area, seed)
  const startedMs = performance.now()
  const child = spawn(process.execPath, words, {
    cwd: join(dist, '..'),
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, output],
    // A group of its own, so that all of it can be ended.
    detached: true,
  })
  closeSync(output)
  const exited = new Promise<string | undefined>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, by) => resolve(code === 0 ? undefined : `ended with ${code ?? by}`))
  })
  let isHanging = false
  const send = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch {
      // All of the group are gone.
    }
  }
  const timers: NodeJS.Timeout[] = []
  const end = () => {
    send('SIGTERM')
    timers.push(setTimeout(() => send('SIGKILL'), ENDING_SECONDS * 1_000))
  }
  const endHanging = () => {
    isHanging = true
    end()
  }
  timers.push(setTimeout(endHanging, HANGING_MINUTES * 60_000))
  signal.addEventListener('abort', end)
  const fault = await exited
  signal.removeEventListener('abort', end)
  for (const timer of timers) clearTimeout(timer)
  // A test in a loop hears no other signal, and outlives the runner.
  send('SIGKILL')

  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const seconds = (performance.now() - startedMs) / 1_000
  const notes = lines.filter((line) => line.startsWith('note: '))
  const round = { area, seed, seconds, summary: lines.at(-1) ?? '', notes }
  if (fault === undefined || signal.aborted) rmSync(path)
  if (fault === undefined) return round
  const what = isHanging ? `hangs: ended after ${HANGING_MINUTES} minutes` : fault
  const failure = {
    what: `${what}; all of its output is in ${path}`,
    tail: lines.slice(-TAIL_LINE_COUNT).join('\n'),
    command: shown(commandOf(area, seed, failedFiles(lines))),
  }
  return { ...round, failure }
}

interface Command {
  readonly environment: Readonly<Record<string, string>>
  /** After `node`. */
  readonly words: readonly string[]
}

function commandOf(area: Area, seed: number, only: readonly string[] = []): Command {
  const { round } = area
  const seeded = { HICKORY_TEST_SEED: String(seed) }
  if ('tests' in round) {
    const files = only.length > 0 ? only : filesOf(area)
    return {
      environment: seeded,
      words: [compiledOf('test/run.ts'), SOAK_OPTION, ...files],
    }
  }
  const { program, args, takesSeed, environment } = round
  const words = [compiledOf(program), ...args]
  return takesSeed
    ? { environment: { ...environment }, words: [...words, '--seed', String(seed)] }
    : { environment: { ...environment, ...seeded }, words }
}

/** As the runner of tests names them. */
function failedFiles(lines: readonly string[]): string[] {
  const named = lines.flatMap((line) => /^FAILED (test\/\S+)/.exec(line)?.[1] ?? [])
  return [...new Set(named)]
}

/** As it is typed in the folder of the repository. */
function shown({ environment, words }: Command): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  return [...variables, 'node', ...words].join(' ').replaceAll(dist, 'dist/')
}
