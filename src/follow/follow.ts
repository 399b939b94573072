/**
 * Follows a table: reads what was committed by way of the slot and writes it to the journal, until somebody
 * ends it or it cannot go on. A connection that is lost is made again.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { isSqlState } from '../sources/postgres/faults.js'
import { refusal, SLOT_IN_USE } from '../sources/postgres/replication/slot.js'
import { connect } from '../sources/postgres/session.js'
import { checkFollowed, checkLog } from './check.js'
import type { FollowPlan } from './plan.js'
import { CopyNeeded, StateFile } from './state.js'
import { FollowedStream } from './stream.js'
import { FollowTally } from './tally.js'
import { TableWatch } from './watch.js'

/**
 * @returns when the signal says so; all is on disk then that the server was told to be
 * @throws OperatorError  where it cannot go on without the operator, or the first connection fails
 */
export async function follow(
  plan: FollowPlan,
  log: Log,
  signal: AbortSignal,
): Promise<FollowTally> {
  const tally = new FollowTally()
  let pauseMs: number = limits.followRetryMs
  let hasFollowed = false
  const stopped = aborted(signal)
  while (!signal.aborted) {
    const startedMs = performance.now()
    try {
      await followOnce(plan, log, { signal, stopped }, tally, () => {
        hasFollowed = true
      })
    } catch (error) {
      if (error instanceof CopyNeeded) new StateFile(plan.dataDirectory, plan.sourceId).stop(error)
      if (!isInUse(error) && !(hasFollowed && isPassing(error))) throw told(error, plan)
      if (performance.now() - startedMs > limits.followRetryMaxMs) pauseMs = limits.followRetryMs
      log.warn({ reason: reasonOf(error), retryMs: pauseMs }, 'the stream broke off')
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      pauseMs = Math.min(2 * pauseMs, limits.followRetryMaxMs)
    }
  }
  return tally
}

interface Ending {
  readonly signal: AbortSignal
  /** The same as a promise. */
  readonly stopped: Promise<void>
}

/** One connection. */
async function followOnce(
  plan: FollowPlan,
  log: Log,
  { signal, stopped }: Ending,
  tally: FollowTally,
  onBegin: () => void,
): Promise<void> {
  const { dataDirectory, sourceId, address, slot, publication } = plan
  const checked = await checkFollowed(plan)
  const client = await connect(address, { connectMs: limits.databaseConnectMs }, true)
  let watch: TableWatch | undefined
  let followed: FollowedStream | undefined
  let ticking: NodeJS.Timeout | undefined
  try {
    const state = await checkLog(client, plan, checked)
    new StateFile(dataDirectory, sourceId).write(state)
    const stream = new FollowedStream(plan, { ...checked, state }, tally, {
      onBegin() {
        log.info({ sourceId, table: checked.table.name, slot, publication }, 'following')
        onBegin()
      },
      onRelation: () => watch?.look(),
    })
    followed = stream
    watch = await TableWatch.begin(plan, checked.table, stream)
    ticking = setInterval(() => {
      stream.look()
      watch?.lookNowAndThen()
      tally.report(log)
    }, limits.followConfirmMs)
    // As an import reads numbers and texts.
    await client.query("SET client_encoding = 'UTF8'")
    await client.query('SET extra_float_digits = 3')
    client.query(stream.stream)
    await Promise.race([stopped, stream.stream.failure])
    stream.finish()
    client.connection.stream.end()
  } finally {
    clearInterval(ticking)
    watch?.close()
    await followed?.close()
    // What was written last is on its way.
    setTimeout(() => client.connection.stream.destroy(), signal.aborted ? CLOSE_MS : 0)
  }
}

const CLOSE_MS = 100

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** What another attempt may find gone: a server that restarts, a full disk here. */
function isPassing(error: unknown): boolean {
  // Of a connection that could not be made.
  const fault = error instanceof OperatorError ? error.cause : error
  if (!(fault instanceof Error) || fault instanceof TypeError || fault instanceof RangeError) {
    return false
  }
  const code = codeOf(fault)
  return !isSqlState(code) || /^(08|53|57|58)/.test(code) || code === SLOT_IN_USE
}

/** Another process follows, or the server has not noticed yet that one died: this one takes its turn. */
function isInUse(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === SLOT_IN_USE
}

const MISSING = '42704'

function told(error: unknown, { address, slot }: FollowPlan): unknown {
  if (!(error instanceof Error) || error instanceof OperatorError) return error
  const code = codeOf(error)
  if (!isSqlState(code)) return error
  const advice =
    code === MISSING || code === '55000'
      ? 'changes may be missing: start again with --initial-copy'
      : `the slot "${slot}" cannot be read`
  return refusal(address, `${error.message} (${code}): ${advice}`)
}

/** Without anything of a row: it is about connections, names and files. */
function reasonOf(error: unknown): string {
  const { message } = error as Error
  const code = codeOf(error as Error)
  return message === '' ? code : message
}

function codeOf(error: Error): string {
  const { code, errors } = error as { code?: string; errors?: readonly { code?: string }[] }
  return code ?? errors?.[0]?.code ?? ''
}
