/**
 * Has changes put into a new snapshot, by the command `hickory compact` in a process of its own: a service needs its
 * memory and its threads for requests. It takes the snapshot as it takes any other.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { errorTables } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'

export interface Compaction {
  /**
   * Says that there are enough changes behind a snapshot for a compaction; to be called now and then for as long as it
   * is so. One is started now or, where one is under way or has failed, later. It does nothing where another service was
   * first.
   */
  due(): void
  /** Ends a compaction that is under way, as if it had not begun, and starts none any more. */
  stop(): Promise<void>
}

interface CompactionOptions {
  readonly dataDirectory: string
  readonly log: Log
  /** Of the audit in which the command is recorded; undefined where there is none. */
  readonly auditDirectory: string | undefined
  /** Recipients that must come or go for a compaction; `limits.compactionChangeCount` unless given. */
  readonly leastCount?: number
  /**
   * Where several are due at the same time, the place of this one: one behind others begins later. 0 unless given;
   * undefined of one that does not begin now.
   */
  readonly rank?: () => number | undefined
  /** What Node.js runs; `hickory compact` unless given. */
  readonly program?: readonly string[]
  /** `limits.compactionRetryMs` unless given. */
  readonly retryMs?: number
  /** `limits.compactionStopMs` unless given. */
  readonly stopMs?: number
}

/** Starts nothing before something is due. */
export function startCompaction(options: CompactionOptions): Compaction {
  const { dataDirectory, log, retryMs = limits.compactionRetryMs, rank = () => 0 } = options
  const program = options.program ?? programOf(options)
  let running: Run | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let failureCount = 0
  let isDueAgain = false
  let dueSinceMs = 0
  let dueUntilMs = Number.NEGATIVE_INFINITY
  let isStopping = false
  let stopped: Promise<void> | undefined

  function start(): void {
    retryTimer = undefined
    isDueAgain = false
    if (!isTurn()) {
      // It may be by then. Where the changes stay, it is said again.
      if (monotonicMs() < dueUntilMs) tryAgain(limits.compactionTurnMs)
      return
    }
    log.info({ dataDirectory }, 'putting changes into a new snapshot')
    running = run(program)
    void running.ended.then(ended)
  }

  function isTurn(): boolean {
    const place = rank()
    return place !== undefined && monotonicMs() - dueSinceMs >= place * limits.compactionRankMs
  }

  function ended(end: End): void {
    running = undefined
    if (isStopping) return
    const { code, said, seconds } = end
    if (code === 0) {
      failureCount = 0
      log.info({ seconds }, 'changes are in a snapshot now')
      if (said !== '') log.warn({ said }, 'a compaction has warned')
      if (isDueAgain) start()
      return
    }
    if (code === errorTables.operatorErrors.Locked) {
      // Another one does the same, or an import replaces what has changed.
      tryAgain(retryMs)
      log.info({ said }, 'the data directory is in use: changes are put into a snapshot later')
      return
    }
    failureCount++
    const waitMs = Math.min(retryMs * 2 ** (failureCount - 1), limits.compactionRetryMaxMs)
    tryAgain(waitMs)
    const about = { code, signal: end.signal, said, seconds, nextSeconds: waitMs / 1_000 }
    log.error(about, FAILED)
  }

  function tryAgain(waitMs: number): void {
    retryTimer = setTimeout(start, waitMs).unref()
  }

  return {
    due() {
      if (isStopping) return
      const nowMs = monotonicMs()
      if (nowMs > dueUntilMs) dueSinceMs = nowMs
      // Until it is said again, and may be a little late.
      dueUntilMs = nowMs + 2 * limits.compactionDueMs
      if (running !== undefined) isDueAgain = true
      else if (retryTimer === undefined) start()
    },
    async stop() {
      isStopping = true
      clearTimeout(retryTimer)
      stopped ??= running?.end(options.stopMs ?? limits.compactionStopMs)
      await stopped
    },
  }
}

const FAILED =
  'changes could not be put into a new snapshot: they stay in the journal and in memory, where they take more and ' +
  'more room; `hickory compact` with this data directory shows what is wrong'

function programOf({
  dataDirectory,
  auditDirectory,
  leastCount = limits.compactionChangeCount,
}: CompactionOptions): readonly string[] {
  const cli = fileURLToPath(new URL('../cli.js', import.meta.url))
  const audit = auditDirectory === undefined ? [] : ['--audit', auditDirectory]
  const flags = ['--quiet', '--at-least', `${leastCount}`, '--data', dataDirectory]
  return [cli, 'compact', ...flags, ...audit]
}

interface Run {
  readonly ended: Promise<End>
  /** Tells it to end, and ends it after a time; resolves when it has ended. */
  end(patienceMs: number): Promise<void>
}

interface End {
  /** Undefined where a signal ended it, or it could not be started. */
  readonly code: number | undefined
  readonly signal: NodeJS.Signals | undefined
  /** The last of what it wrote to standard error. */
  readonly said: string
  readonly seconds: number
}

function run(program: readonly string[]): Run {
  const startedMs = performance.now()
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = endOf(child).then((end) => {
    return { ...end, seconds: Math.round((performance.now() - startedMs) / 100) / 10 }
  })
  return {
    ended,
    async end(patienceMs) {
      child.kill('SIGTERM')
      // Whenever it is killed, the snapshot that is current is whole.
      const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await ended
      clearTimeout(timer)
    },
  }
}

function endOf(child: ChildProcess): Promise<Omit<End, 'seconds'>> {
  let tail = Buffer.alloc(0)
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-limits.compactionTailBytes)
  })
  return new Promise((resolve) => {
    const end = (code: number | null, signal: NodeJS.Signals | null, said = tail.toString()) =>
      resolve({ code: code ?? undefined, signal: signal ?? undefined, said: said.trim() })
    child.once('error', ({ message }) => end(null, null, message))
    child.once('close', (code, signal) => end(code, signal))
  })
}
