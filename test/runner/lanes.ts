/**
 * Runs test files in lanes: processes that each take file after file. A file that says so in a comment, and each file of
 * the long tier, has a process of its own; those that need the whole machine run last, one by one.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TIER_VARIABLE, type Tier, tierOf } from '../support/tier.js'
import { compiledOf } from './files.js'
import type { LaneAnswer, LaneResult, LaneTask } from './lane.js'
import { alone } from './order.js'
import { newRunFolder, RUN_FOLDER_VARIABLE } from './run-folder.js'

export interface FileRun {
  readonly file: string
  readonly passedCount: number
  /** A process that ends badly without a failed assertion counts as one. */
  readonly failedCount: number
  readonly skipped: readonly string[]
  readonly notes: readonly string[]
  /** What is to be read about failures: names, differences, seeds, and what went to stderr. */
  readonly report: string
  readonly seconds: number
  /** Of its processes that have ended; 0 where that cannot be said. */
  readonly processorSeconds: number
}

export interface RunOptions {
  readonly isSoak: boolean
  /** Whether places are told in TypeScript, which takes each file a tenth longer. */
  readonly hasSourceMaps: boolean
  readonly laneCount: number
  /** Only the tests of this name. */
  readonly testName?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** By `Date.now()`: no file starts after it, and those that run then are ended and have failed. */
  readonly endMs?: number | undefined
}

const LANE = fileURLToPath(new URL('lane.js', import.meta.url))

/** A file that has not ended by then hangs: it is asked for its tests that have not ended, then killed. */
const HANGING_SECONDS = { ci: 15 * 60, soak: 4 * 3_600 }
const ANSWER_MS = 10_000
const OUTPUT_LEFT_MS = 5_000

/** Read beside the failures of a file; a service may have logged much more. */
const STDERR_CHARS = 20_000

/** What files hold, memories of WebAssembly above all, is given back with their process; its start costs a second. */
const HELD_BYTES = 700 * 2 ** 20

/** There are more lanes than cores: threads that help one of them to collect garbage wait for the others. */
const QUICK_COLLECTION = '--single-threaded-gc'

/** Yields each file's run as it ends. */
export async function* runFiles(
  files: readonly string[],
  options: RunOptions,
): AsyncGenerator<FileRun> {
  const side = files.filter((file) => !alone.includes(file))
  const folder = newRunFolder()
  try {
    yield* runSideBySide(side, folder, options)
    yield* runSideBySide(
      files.filter((file) => alone.includes(file)),
      folder,
      { ...options, laneCount: 1 },
    )
  } finally {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // What a file that was ended has started still writes there; it is in the folder of the system for such things.
    }
  }
}

async function* runSideBySide(
  files: readonly string[],
  folder: string,
  options: RunOptions,
): AsyncGenerator<FileRun> {
  const waiting = [...files]
  const lanes = Array.from({ length: options.laneCount }, () => new Lane(folder, options))
  const running = new Map<Lane, Promise<FileRun>>()
  try {
    for (;;) {
      for (const lane of lanes) {
        if (running.has(lane) || isOver(options)) continue
        const file = waiting.shift()
        if (file !== undefined) running.set(lane, lane.run(file))
      }
      if (running.size === 0) return
      const [lane, run] = await Promise.race(
        [...running].map(async ([lane, run]) => [lane, await run] as const),
      )
      running.delete(lane)
      // A file that was ended on the way has not failed.
      if (options.signal?.aborted === true) return
      yield run
    }
  } finally {
    for (const lane of lanes) lane.end()
  }
}

function isOver({ signal, endMs = Number.POSITIVE_INFINITY }: RunOptions): boolean {
  return signal?.aborted === true || Date.now() >= endMs
}

/** Whether a file's process runs no other: it ends, limits or looks at its process. */
export function hasOwnProcess(file: string): boolean {
  return tierOf(file) === 'long' || OWN_PROCESS.test(readFileSync(compiledOf(file), 'utf8'))
}

const OWN_PROCESS = /^\/\/ Own process: /m

class Lane {
  readonly #folder: string
  readonly #options: RunOptions
  #child: ChildProcess | undefined
  #stderr = ''

  constructor(folder: string, options: RunOptions) {
    this.#folder = folder
    this.#options = options
    options.signal?.addEventListener('abort', () => this.#child?.kill('SIGKILL'))
  }

  async run(file: string): Promise<FileRun> {
    const { testName } = this.#options
    const run = await this.#runOnce(file, testName)
    // A test within another one is not found by its name: the whole file is run then.
    if (testName === undefined || run.passedCount + run.failedCount > 0) return run
    return this.#runOnce(file, undefined)
  }

  end(): void {
    this.#child?.disconnect()
    // What a file has started may live on and keep it open.
    this.#child?.stderr?.destroy()
    this.#child = undefined
  }

  async #runOnce(file: string, testName: string | undefined): Promise<FileRun> {
    const startedMs = performance.now()
    const isShared = !hasOwnProcess(file)
    if (!isShared) this.end()
    this.#child ??= this.#start(tierOf(file))
    const child = this.#child
    this.#stderr = ''
    const { endMs = Number.POSITIVE_INFINITY, isSoak } = this.#options
    const hangingMs = 1_000 * HANGING_SECONDS[isSoak ? 'soak' : 'ci']
    const hanging = setTimeout(() => endHanging(child), Math.min(hangingMs, endMs - Date.now()))
    const answer = resultOf(child)
    child.send({ file, testName, isShared } satisfies LaneTask)
    const { result, fault } = await answer
    const failures = [...result.failures]
    if (fault !== undefined) {
      this.#child = undefined
      failures.push(`the process of the file ${fault}`)
    } else if (!isShared) {
      const ended = endOf(child)
      child.disconnect()
      const { code, how } = await ended
      this.#child = undefined
      if (code !== 0 && failures.length === 0) failures.push(`the process of the file ${how}`)
    } else if (failures.length > 0 || result.heldBytes > HELD_BYTES) {
      // What a file that failed has left is not for those after it.
      this.end()
    }
    clearTimeout(hanging)
    if (failures.length === 0 && result.passedCount === 0 && testName === undefined) {
      failures.push('no test ran in this file')
    }
    return {
      file,
      passedCount: result.passedCount,
      failedCount: failures.length,
      skipped: result.skipped,
      notes: result.notes,
      report:
        failures.length === 0 ? '' : [...failures, ...result.comments, this.#stderr].join('\n'),
      seconds: (performance.now() - startedMs) / 1000,
      processorSeconds: result.processorSeconds,
    }
  }

  #start(tier: Tier): ChildProcess {
    const child = spawn(
      process.execPath,
      [
        ...(this.#options.hasSourceMaps ? ['--enable-source-maps'] : []),
        ...(tier === 'short' ? [QUICK_COLLECTION] : []),
        LANE,
      ],
      {
        env: {
          ...process.env,
          [RUN_FOLDER_VARIABLE]: this.#folder,
          // What the long tier unpacks for later runs stays where the system keeps such things.
          ...(tier === 'short' ? { TMPDIR: this.#folder } : {}),
          [TIER_VARIABLE]: this.#options.isSoak ? 'soak' : 'ci',
          // From Node.js 22 on, what one process has compiled is there for the next: a service starts in 15 % less time.
          NODE_COMPILE_CACHE: join(this.#folder, 'compiled'),
          // The runner itself ends what hangs; tap would end a lane after half a minute.
          TAP_TIMEOUT: '0',
        },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      },
    )
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.#child === child) this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS)
    })
    return child
  }
}

const NOTHING: LaneResult = {
  passedCount: 0,
  failures: [],
  skipped: [],
  notes: [],
  comments: [],
  processorSeconds: 0,
  heldBytes: 0,
}

/** What the lane answers, or how its process ended before it did. */
async function resultOf(
  child: ChildProcess,
): Promise<{ readonly result: LaneResult; readonly fault?: string }> {
  const answered = new Promise<LaneResult>((resolve) => {
    child.on('message', ({ result }: Partial<LaneAnswer>) => {
      if (result !== undefined) resolve(result)
    })
  })
  const first = await Promise.race([answered, endOf(child)])
  for (const name of ['message', 'exit', 'close', 'error']) child.removeAllListeners(name)
  return 'how' in first ? { result: NOTHING, fault: first.how } : { result: first }
}

interface End {
  readonly code: number | null
  /** In words. */
  readonly how: string
}

async function endOf(child: ChildProcess): Promise<End> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  // What it wrote last may be on its way; what it has started may live on and keep its output open. A child that its
  // parent has disconnected is never said to be closed.
  const { stderr } = child
  if (stderr !== null && !stderr.readableEnded) {
    const late = new AbortController()
    const options = { signal: late.signal }
    const waits = [once(stderr, 'end', options), sleep(OUTPUT_LEFT_MS, undefined, options)]
    await Promise.race(waits.map((wait) => wait.catch(() => {})))
    late.abort()
    stderr.destroy()
  }
  return { code, how: signal === null ? `ended with ${code}` : `was ended by ${signal}` }
}

/** tap fails the tests that have not ended. */
function endHanging(child: ChildProcess): void {
  child.kill('SIGALRM')
  setTimeout(() => child.kill('SIGKILL'), ANSWER_MS).unref()
}
