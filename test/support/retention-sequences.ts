/**
 * Many sequences of a `RetentionRun`, several at a time: a command that runs in its own process takes
 * what is printed meanwhile for its output, so each sequence at a time has a process.
 *
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { quickDirectory } from '../runner/run-folder.js'
import type { Action } from './retention-run.js'

export interface Sequence {
  readonly seed: number
  /** Whether it has an action that takes a process or a store of its own. */
  readonly isRare: boolean
  /** Where its directory is made. */
  readonly parent: string
}

export interface SequenceReport {
  readonly actions: readonly Action[]
  /** Then the last of the actions failed, or what was done after it. */
  readonly fault?: string
}

interface Plan {
  /** Of the first sequence; the next one has the next seed. */
  readonly seed: number
  readonly sequenceCount: number
  /** One of so many is rare. */
  readonly rareEvery: number
  readonly processCount: number
}

interface Outcome {
  readonly sequenceCount: number
  readonly tally: ReadonlyMap<Action, number>
  /** With their seeds. No sequence is begun after the first. */
  readonly faults: readonly string[]
}

export async function runSequences(plan: Plan): Promise<Outcome> {
  const parent = mkdtempSync(join(quickDirectory(), 'hickory-test-'))
  const tally = new Map<Action, number>()
  const faults: string[] = []
  let begunCount = 0
  let doneCount = 0
  const next = (): Sequence | undefined => {
    if (begunCount === plan.sequenceCount || faults.length > 0) return undefined
    const at = begunCount++
    return { seed: plan.seed + at, isRare: at % plan.rareEvery === 0, parent }
  }
  const take = ({ seed }: Sequence, { actions, fault }: SequenceReport) => {
    doneCount++
    for (const action of actions) tally.set(action, (tally.get(action) ?? 0) + 1)
    if (fault !== undefined) faults.push(`seed ${seed}: ${actions.join(', ')}: ${fault}`)
  }
  const processes = Array.from({ length: plan.processCount }, start)
  try {
    await Promise.all(processes.map((child) => work(child, next, take)))
  } finally {
    for (const child of processes) child.kill('SIGKILL')
    rmSync(parent, { recursive: true, force: true })
  }
  return { sequenceCount: doneCount, tally, faults }
}

/** Gives a process one sequence after the other. */
async function work(
  child: ChildProcess,
  next: () => Sequence | undefined,
  take: (sequence: Sequence, report: SequenceReport) => void,
): Promise<void> {
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`a process of sequences ended with ${code}`)))
  })
  for (let sequence = next(); sequence !== undefined; sequence = next()) {
    const reported = new Promise<SequenceReport>((resolve) => {
      child.once('message', (report) => resolve(report as SequenceReport))
    })
    child.send(sequence)
    take(sequence, await Promise.race([reported, ended]))
  }
  // It is killed in the end, which is no fault.
  ended.catch(() => undefined)
}

function start(): ChildProcess {
  // Half of the processor time of a small import is the collection of garbage, most of it for buffers
  // outside of the heap: little is to be marked, and helping threads cost more than they spare.
  const execArgv = ['--single-threaded-gc', '--no-incremental-marking']
  const env = { ...process.env, HICKORY_LOG_LEVEL: 'warn' }
  return fork(program, { execArgv, env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

const program = fileURLToPath(
  new URL('../snapshot/retention/fixtures/sequences.js', import.meta.url),
)
