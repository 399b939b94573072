/**
 * The suppression lists of a running service: a change is acknowledged when it is stored, marked in all snapshots of the
 * service, and applied by all other services of the data directory.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import type { MetricsMemory } from '../metrics/memory.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { AppliedOutcome, PhoneHits } from '../store/change-port.js'
import { notMade } from '../store/changes.js'
import { ownName } from '../store/services.js'
import type { MainStore } from '../store/store.js'
import type {
  SuppressionChange,
  SuppressionsChanged,
  SuppressionsOutcome,
} from '../store/suppressions.js'
import { startThread } from '../threads/thread.js'
import type { CaughtUp } from './marker.js'
import { appliedVersion, createProgress, type Progress } from './progress.js'
import type { MarksCalls, MarksNews, MarksThreadData } from './serve-marks.js'

export interface Suppressions {
  readonly progress: Progress
  /** Has the marks of recipients follow what the thread of changes sends. */
  follow(port: MessagePort): void
  /** Sets the marks of a snapshot; until then, it must not be served. */
  attach(snapshot: Snapshot): Promise<void>
  /** Says which of the attached snapshots is served. */
  serve(snapshotId: string): void
  /** To be waited for before the memory of a snapshot is used again. */
  detach(snapshotId: string): Promise<void>
  /** From now on the other services wait for this one. To be called before it answers requests. */
  join(): Promise<void>
  /** Resolves when all changes that are stored by now are marked. */
  catchUp(): Promise<void>
  /** Makes a change; never rejects. */
  change(change: SuppressionChange): Promise<AppliedOutcome>
  /** Rejects when the service must not go on. */
  readonly failure: Promise<never>
  /** To be called when no request is answered any more. */
  stop(): Promise<void>
}

/** The suppression lists that the machines of a cluster have in common. */
export interface SharedSuppressions {
  /** Makes a change on all machines; resolves when it is in the store of this one. Never rejects. */
  make(change: SuppressionChange): Promise<{
    /** To wait for by `untilEverywhere`. */
    readonly sequence: number
    readonly outcome: SuppressionsOutcome
  }>
  /**
   * Resolves when no machine that is ready answers without a change.
   *
   * @throws ServiceError  Unavailable, as a rejection, when one of them may after this time; the change is stored
   */
  untilEverywhere(sequence: number, waitMs: number): Promise<void>
}

interface SuppressionsOptions {
  readonly dataDirectory: string
  readonly store: Pick<MainStore, 'makeSuppressions' | 'services'>
  /** Where all threads count. */
  readonly metrics: MetricsMemory
  readonly log: Log
  /** On a machine of a cluster alone. */
  readonly shared?: SharedSuppressions | undefined
}

export function startSuppressions(options: SuppressionsOptions): Suppressions {
  const { dataDirectory, store, metrics, log, shared } = options
  const { services } = store
  const progress = createProgress()
  let servedId = ''
  let hasJoined = false
  let publishing: NodeJS.Timeout | undefined
  const thread = startMarksThread({ dataDirectory, progress, ownName, metrics }, tellOthers)
  const storeInRounds = changesInRounds(store)
  const storeChange = async (change: SuppressionChange) =>
    shared === undefined
      ? { sequence: 0, outcome: await storeInRounds(change) }
      : await shared.make(change)

  /** At once if others wait for it; they seldom wait for what this service changed itself. */
  function tellOthers({ hasForeign }: CaughtUp): void {
    if (hasForeign) publish()
    else publishing ??= setTimeout(publish, limits.suppressionPollMs).unref()
  }

  function publish(): void {
    clearTimeout(publishing)
    publishing = undefined
    if (!hasJoined) return
    try {
      services.publish(appliedVersion(progress))
    } catch (fault) {
      // The others time out, and say so. A client that sends the change again makes no new one to be applied.
      log.error(describeFault(fault as Error), 'cannot tell other services what is taken')
      publishing = setTimeout(publish, PUBLISH_AGAIN_MS).unref()
    }
  }

  async function untilApplied(
    { scope, phones }: SuppressionChange,
    { version }: SuppressionsChanged,
    sequence: number,
  ): Promise<PhoneHits> {
    const waitMs = limits.suppressionTakeMs
    const timer = new AbortController()
    const late = sleep(waitMs, undefined, { signal: timer.signal }).then(
      () => Promise.reject(new ServiceError('Unavailable', NOT_APPLIED)),
      () => ({ recipientCount: 0 }),
    )
    try {
      const [hits] = await Promise.all([
        Promise.race([thread.ask.catchUp(servedId, scope, phones), late]),
        untilOthersApply(version, waitMs),
        shared?.untilEverywhere(sequence, waitMs),
      ])
      return hits
    } finally {
      timer.abort()
    }
  }

  async function untilOthersApply(version: number, waitMs: number): Promise<void> {
    if (await services.untilTaken(version, waitMs)) return
    throw new ServiceError('Unavailable', NOT_APPLIED)
  }

  return {
    progress,
    follow: thread.tell.follow,
    attach: thread.ask.attach,
    serve(snapshotId) {
      servedId = snapshotId
    },
    detach: thread.ask.detach,
    async join() {
      services.register(appliedVersion(progress))
      hasJoined = true
      // What was changed before this service was registered.
      await thread.ask.catchUp(servedId, 'all', [])
      publish()
    },
    async catchUp() {
      await thread.ask.catchUp(servedId, 'all', [])
    },
    async change(change) {
      const { sequence, outcome } = await storeChange(change)
      if (!outcome.isMade) return outcome
      const { changed } = outcome
      try {
        const hits = await untilApplied(change, changed, sequence)
        return { isMade: true, applied: { ...changed, ...hits } }
      } catch (fault) {
        return notMade(fault, change.kind, log)
      }
    },
    failure: thread.failure,
    async stop() {
      clearTimeout(publishing)
      await thread.stop()
      if (hasJoined) services.unregister()
      hasJoined = false
    },
  }
}

const NOT_APPLIED =
  'the change is stored, but a service of this data directory does not answer by it yet: ' +
  'send it again to wait for that'

/** Short enough that a writer who waits for the version still gets it in time. */
const PUBLISH_AGAIN_MS = limits.suppressionTakeMs / 4

/** Changes that come together are stored together, since each transaction waits for the disk. */
function changesInRounds({ makeSuppressions }: Pick<MainStore, 'makeSuppressions'>) {
  const queue: {
    readonly change: SuppressionChange
    readonly resolve: (outcome: SuppressionsOutcome) => void
  }[] = []

  function storeSome(): void {
    let phoneCount = queue[0].change.phones.length
    let end = 1
    while (end < queue.length) {
      phoneCount += queue[end].change.phones.length
      if (phoneCount > limits.suppressionBatchCount) break
      end++
    }
    const round = queue.splice(0, end)
    const outcomes = makeSuppressions(round.map(({ change }) => change))
    for (const [i, { resolve }] of round.entries()) resolve(outcomes[i])
    if (queue.length > 0) setImmediate(storeSome)
  }

  return (change: SuppressionChange) =>
    new Promise<SuppressionsOutcome>((resolve) => {
      queue.push({ change, resolve })
      if (queue.length === 1) setImmediate(storeSome)
    })
}

/**
 * The thread that sets marks. A service cannot go on without it.
 *
 * @param caughtUp  called when changes of any process are marked
 */
function startMarksThread(data: MarksThreadData, caughtUp: MarksNews['caughtUp']) {
  const own: MarksNews = { caughtUp }
  const title = 'the thread of suppression lists'
  return startThread<MarksCalls>('suppressions', { title, data, own })
}
