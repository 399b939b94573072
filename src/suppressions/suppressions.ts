/**
 * The suppression lists of a running service: changes are stored, marked in all its snapshots and
 * taken by all other services of the data directory before they are acknowledged.
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
import type { PhoneHits, TakenOutcome } from '../store/change-port.js'
import { notMade } from '../store/changes.js'
import type { MainStore } from '../store/create.js'
import { ownName } from '../store/services.js'
import type { SuppressionChange, SuppressionsChanged } from '../store/suppress.js'
import type { CaughtUp } from './marker.js'
import { type MarksThread, startMarksThread } from './marks-thread.js'
import { NOT_TAKEN, untilOthersTake } from './others.js'
import { createProgress, type Progress, takenVersion } from './progress.js'
import type { SharedSuppressions } from './shared.js'

export interface Suppressions {
  readonly progress: Progress
  /** Follows what the thread of changes tells of those who come. */
  follow(port: MessagePort): void
  /** Sets the marks of a snapshot; until then, nobody may answer from it. */
  attach(snapshot: Snapshot): Promise<void>
  /** Says which of the attached snapshots is the one that is served. */
  serve(snapshotId: string): void
  /** To be waited for before the memory of a snapshot is used again. */
  detach(snapshotId: string): Promise<void>
  /** From now on the other services wait for this one. To be called before it answers anybody. */
  join(): Promise<void>
  /** Resolves when all changes that are stored by now are marked. */
  catchUp(): Promise<void>
  /** Makes a change; never rejects. */
  take(change: SuppressionChange): Promise<TakenOutcome>
  /** Rejects when the service must not go on. */
  readonly failure: Promise<never>
  /** To be called when nobody is answered any more. */
  stop(): Promise<void>
}

interface SuppressionsOptions {
  readonly dataDirectory: string
  readonly store: Pick<MainStore, 'makeSuppressions' | 'services'>
  /** Where all threads count. */
  readonly metrics: MetricsMemory
  readonly log: Log
  /** On a machine of a cluster alone. */
  readonly shared?: SharedSuppressions | undefined
  /** How long a change waits to be taken; `limits.suppressionTakeMs` unless given. */
  readonly takeMs?: number
}

export function startSuppressions(options: SuppressionsOptions): Suppressions {
  const { dataDirectory, store, metrics, log, shared, takeMs = limits.suppressionTakeMs } = options
  const { services } = store
  const progress = createProgress()
  let servedId = ''
  let hasJoined = false
  let publishing: NodeJS.Timeout | undefined
  const data = { dataDirectory, progress, ownName, metrics }
  const thread: MarksThread = startMarksThread(THREAD, data, tellOthers)
  const storeInRounds = changesInRounds(store)
  const storeChange = async (change: SuppressionChange) =>
    shared === undefined
      ? { sequence: 0, outcome: await storeInRounds(change) }
      : await shared.make(change)

  /** At once where others wait for it; what this service changed itself, they seldom wait for. */
  function tellOthers({ hasForeign }: CaughtUp): void {
    if (hasForeign) publish()
    else publishing ??= setTimeout(publish, limits.suppressionPollMs).unref()
  }

  function publish(): void {
    clearTimeout(publishing)
    publishing = undefined
    if (!hasJoined) return
    try {
      services.publish(takenVersion(progress))
    } catch (fault) {
      // They give up waiting, and say so. Whoever sends the change again makes no new one to be taken.
      log.error(describeFault(fault as Error), 'cannot tell other services what is taken')
      publishing = setTimeout(publish, PUBLISH_AGAIN_MS).unref()
    }
  }

  async function take(change: SuppressionChange): Promise<TakenOutcome> {
    const { sequence, outcome } = await storeChange(change)
    if (!outcome.isMade) return outcome
    const { changed } = outcome
    try {
      const hits = await untilTaken(change, changed, sequence)
      return { isMade: true, taken: { ...changed, ...hits } }
    } catch (fault) {
      return notMade(fault, change.kind, log)
    }
  }

  async function untilTaken(
    { scope, phones }: SuppressionChange,
    { version }: SuppressionsChanged,
    sequence: number,
  ): Promise<PhoneHits> {
    const timer = new AbortController()
    const late = sleep(takeMs, undefined, { signal: timer.signal }).then(
      () => Promise.reject(new ServiceError('Unavailable', NOT_TAKEN)),
      () => ({ recipientCount: 0 }),
    )
    try {
      const own = thread.take(servedId, scope, phones)
      const [hits] = await Promise.all([
        Promise.race([own, late]),
        untilOthersTake(services, version, takeMs),
        shared?.untilEverywhere(sequence, takeMs),
      ])
      return hits
    } finally {
      timer.abort()
    }
  }

  return {
    progress,
    follow: (port) => thread.follow(port),
    attach: (snapshot) => thread.attach(snapshot),
    serve(snapshotId) {
      servedId = snapshotId
    },
    detach: (snapshotId) => thread.detach(snapshotId),
    async join() {
      services.register(takenVersion(progress))
      hasJoined = true
      // What was changed before anybody knew of this service.
      await thread.take(servedId, 'all', [])
      publish()
    },
    async catchUp() {
      await thread.take(servedId, 'all', [])
    },
    take,
    failure: thread.failure,
    async stop() {
      clearTimeout(publishing)
      await thread.stop()
      if (hasJoined) services.unregister()
      hasJoined = false
    },
  }
}

/** Short enough that a writer who waits for the version still gets it in time. */
const PUBLISH_AGAIN_MS = limits.suppressionTakeMs / 4

const THREAD = new URL('../../workers/suppress.js', import.meta.url)

/** Changes that come together are stored together, since each transaction waits for the disk. */
function changesInRounds({ makeSuppressions }: Pick<MainStore, 'makeSuppressions'>) {
  type Outcome = ReturnType<MainStore['makeSuppressions']>[number]
  const waiting: { change: SuppressionChange; resolve: (outcome: Outcome) => void }[] = []

  function storeSome(): void {
    let phoneCount = waiting[0].change.phones.length
    let end = 1
    while (end < waiting.length) {
      phoneCount += waiting[end].change.phones.length
      if (phoneCount > limits.suppressionBatchCount) break
      end++
    }
    const round = waiting.splice(0, end)
    const outcomes = makeSuppressions(round.map(({ change }) => change))
    for (const [i, { resolve }] of round.entries()) resolve(outcomes[i])
    if (waiting.length > 0) setImmediate(storeSome)
  }

  return (change: SuppressionChange) =>
    new Promise<Outcome>((resolve) => {
      waiting.push({ change, resolve })
      if (waiting.length === 1) setImmediate(storeSome)
    })
}
