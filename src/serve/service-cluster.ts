/**
 * The part of a running service that makes it one machine of a cluster: changes of what is stored go by way of the
 * journal that all machines have in common.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { assertNobodyRuns } from '../cluster/directory.js'
import { isEnterable } from '../cluster/entering.js'
import { decodeEntry } from '../cluster/entries.js'
import type { Entered } from '../cluster/messages.js'
import { type ClusterThread, startCluster } from '../cluster/start.js'
import { type BeginsAnew, readState } from '../cluster/state-file.js'
import { type Applied, StoreFollower } from '../cluster/store-follower.js'
import type { Config } from '../config.js'
import { OperatorError, type OperatorErrorCode, ServiceError } from '../errors.js'
import { journalDirectory } from '../journal/files.js'
import type { ServedKeys } from '../keys/served-keys.js'
import { limits } from '../limits.js'
import { changesClient } from '../live/client.js'
import type { LiveThread } from '../live/start.js'
import { describeFault, type Log } from '../log.js'
import { type Change, type ChangeOutcome, notMade } from '../store/changes.js'
import type { MainStore } from '../store/store.js'
import type { SuppressionsOutcome } from '../store/suppressions.js'
import { storeDirectory } from '../store/tables.js'
import type { SharedSuppressions, Suppressions } from '../suppressions/suppressions.js'
import { readVersion } from '../version.js'
import { ClusterDigests } from './cluster-digests.js'
import { type ClusterSnapshots, clusterSnapshots } from './cluster-snapshots.js'
import { freshnessOf } from './freshness.js'
import type { FrontData } from './messages.js'
import { ServiceAudiences } from './service-audiences.js'
import type { ServiceState } from './state.js'
import { StoppedWhileLoading, type StopRequest } from './stop-request.js'

export interface ServiceCluster {
  /** See `src/cluster/figures.ts`. */
  readonly figures: Float64Array
  /** For one more front thread. */
  forFront(settings: NonNullable<Config['cluster']>): NonNullable<FrontData['cluster']>
  /** What leads from the thread of changes to that of the cluster. */
  openChanges(): MessagePort
  /** Puts what is in the journal into the store, and goes on with all that comes. */
  follow(followed: Followed): void
  /** Makes a change on all machines; counts are of this one. Never rejects. */
  makeChange(change: Change): Promise<ChangeOutcome>
  readonly suppressions: SharedSuppressions
  readonly snapshots: ClusterSnapshots
  /** What the directory that is followed has. */
  audiences(): ServiceAudiences
  /** Answers are made from now on: the other machines may be told by what. */
  join(): void
  /** Resolves, with the reason, when the directory must be begun anew. */
  readonly beginAnew: Promise<string>
  readonly failure: Promise<never>
  /** Whether the service can start again although it failed: other machines have what is damaged here. */
  recovers(fault: unknown): Promise<boolean>
  /** Lets go of the store, which is closed then. */
  unfollow(): Promise<void>
  /** To be called when no request is answered any more, and before the thread of changes ends. */
  stop(): Promise<void>
}

interface Followed {
  readonly store: MainStore
  readonly live: LiveThread
  readonly log: Log
}

/** What answers go by that the store says. */
export interface Takers {
  readonly suppressions: Pick<Suppressions, 'catchUp'>
  readonly keys: Pick<ServedKeys, 'untilApplied'> | undefined
}

/**
 * @param state  is told how the cluster can be looked at
 * @returns undefined on a machine of no cluster
 * @throws OperatorError
 */
export async function startServiceCluster(
  config: Config,
  state: Pick<ServiceState, 'cluster'>,
  takers: () => Takers | undefined,
  stopping: StopRequest,
): Promise<ServiceCluster | undefined> {
  const { cluster: settings, dataDirectory, logLevel } = config
  if (settings === undefined) {
    assertAlone(dataDirectory)
    return undefined
  }
  const version = readVersion()
  const { signal } = stopping
  try {
    const thread = await startCluster({
      dataDirectory,
      settings,
      version,
      journalFileBytes: config.journalFileBytes,
      logLevel,
      signal,
    })
    const { figures, status } = thread
    const { refusesLaggingLists } = settings
    state.cluster = { figures, status, freshness: freshnessOf({ figures, refusesLaggingLists }) }
    return serviceCluster(config, thread, takers)
  } catch (fault) {
    if (stopping.requested) throw new StoppedWhileLoading()
    throw fault
  }
}

function serviceCluster(
  { dataDirectory, httpThreadCount }: Config,
  thread: ClusterThread,
  takers: () => Takers | undefined,
): ServiceCluster {
  let follower: StoreFollower | undefined
  let followed: Followed | undefined
  let audiences: ServiceAudiences | undefined
  let telling: Promise<unknown> = Promise.resolve()
  let isOver = false
  let isTelling = false
  let looking: NodeJS.Timeout | undefined
  let stored = 0
  let answeredBy = -1
  /** By which changes of recipients each front thread answers. */
  const applied = new Float64Array(new SharedArrayBuffer(8 * httpThreadCount))

  /** Once all that answers by the store does so. */
  function told({ sequence, kinds }: Applied): void {
    const taken = takers()
    // Before there are answers, they are by all that was in the store as they began.
    if (taken === undefined) return
    telling = telling.then(async () => {
      if (kinds.has('suppressions')) await taken.suppressions.catchUp()
      if (kinds.has('keys')) await taken.keys?.untilApplied()
      if (kinds.has('audience') || kinds.has('deleteAudience')) audiences?.tell(sequence)
      thread.storedBy(sequence)
      stored = sequence
      void tellAnswered()
    })
    // The threads have ended, and the service with them.
    telling.catch(() => {})
  }

  /** Until all front threads answer by the changes of recipients, too, up to what is stored. */
  async function tellAnswered(): Promise<void> {
    if (isTelling) return
    isTelling = true
    while (!isOver) {
      const answered = Math.min(stored, ...applied)
      if (answered !== answeredBy) thread.answersBy(answered)
      answeredBy = answered
      if (answeredBy === stored) break
      await sleep(limits.appliedLookMs)
    }
    isTelling = false
  }

  /** A snapshot into which not all has come yet has them answer by less. */
  function lookAtApplied(): void {
    if (Math.min(...applied) < answeredBy) void tellAnswered()
  }

  async function unfollow(): Promise<void> {
    isOver = true
    clearInterval(looking)
    const { store } = followed ?? {}
    followed = undefined
    audiences?.stop()
    await follower?.stop()
    store?.clusterServices.unregister()
  }

  function following(): StoreFollower {
    if (follower === undefined) throw new Error('the entries are followed before changes are made')
    return follower
  }

  /** For a command, which has no other way to all machines. */
  async function enter(content: Uint8Array): Promise<Entered> {
    const entry = decodeEntry(content)
    if (!isEnterable(entry)) throw new OperatorError('Failed', UNKNOWN)
    const settled = await following().make(entry)
    const everywhere = await thread.untilEverywhere(settled.sequence, limits.entryEverywhereMs)
    return { ...settled, ...everywhere }
  }

  function sharing(): ServiceAudiences {
    if (audiences === undefined) throw new Error('the entries are followed before audiences are')
    return audiences
  }

  return {
    figures: thread.figures,
    forFront({ nats, clusterId, name, refusesLaggingLists }) {
      const { figures } = thread
      return {
        figures,
        applied,
        refusesLaggingLists,
        nats,
        clusterId,
        name,
        audiences: sharing().openPort(),
      }
    },
    openChanges: thread.openChanges,
    follow(given) {
      const { store, live, log } = given
      followed = given
      assertOfCluster(dataDirectory, store)
      claim(dataDirectory, store)
      const storedSequence = () => following().sequence
      const digests = new ClusterDigests({ live, storedSequence })
      follower = new StoreFollower({
        directory: journalDirectory(dataDirectory),
        entries: store.entries,
        foundedSequence: readState(dataDirectory)?.foundedSequence,
        append: changesClient(live.openPort()).append,
        onApplied: told,
        onCompared(sequence, salt) {
          const compared = store.entries.compared()
          if (compared !== undefined) digests.noteStore(sequence, compared, salt)
        },
        log,
      })
      const isFounder = readState(dataDirectory)?.isFounder ?? false
      audiences = new ServiceAudiences({ dataDirectory, store, follower, thread, isFounder, log })
      thread.answer({ digests: (question) => digests.answer(question) })
      follower.catchUp()
      thread.answer({ keepStored: () => kept(follower, log), enter })
      follower.follow()
    },
    async makeChange(change) {
      const { store, log } = followed as Followed
      if (change.kind === 'counts') return store.makeChange(change)
      try {
        const { sequence, outcome } = await following().make({ kind: 'document', change })
        // A client that asks another machine finds it there, too, unless that is slow.
        if (outcome.isMade) await thread.untilEverywhere(sequence, limits.entryEverywhereMs)
        return outcome.isMade ? { isMade: true } : outcome
      } catch (fault) {
        return notMade(fault, change.kind, log)
      }
    },
    snapshots: clusterSnapshots(thread, dataDirectory),
    audiences: sharing,
    suppressions: {
      async make({ scope, phones, isRemoval }) {
        const { log } = followed as Followed
        try {
          const entry = { kind: 'suppressions', scope, phones, isRemoval } as const
          const { sequence, outcome } = await following().make(entry)
          return { sequence, outcome: outcome as SuppressionsOutcome }
        } catch (fault) {
          return { sequence: 0, outcome: notMade(fault, 'suppressions', log) }
        }
      },
      async untilEverywhere(sequence, waitMs) {
        const { isEverywhere, waitingFor } = await thread.untilEverywhere(sequence, waitMs)
        if (isEverywhere) return
        throw new ServiceError('Unavailable', notEverywhere(waitingFor))
      },
    },
    join() {
      looking = setInterval(lookAtApplied, limits.clusterTickMs)
      if (follower !== undefined) told({ sequence: follower.sequence, kinds: ALL })
      audiences?.begin()
    },
    beginAnew: thread.beginAnew,
    failure: thread.failure,
    async recovers(fault) {
      const reason = fault instanceof OperatorError ? DAMAGED[fault.code] : undefined
      return reason !== undefined && (await thread.recover(reason))
    },
    unfollow,
    async stop() {
      await unfollow()
      await thread.stop()
    },
  }
}

const UNKNOWN = 'the service does not know such a change: its version may be an earlier one'

/** How far the store is, on disk; undefined where it cannot be written. */
function kept(follower: StoreFollower | undefined, log: Log): number | undefined {
  try {
    return follower?.keep()
  } catch (fault) {
    log.error(describeFault(fault), 'the store cannot note how far it is')
    return undefined
  }
}

/** @throws OperatorError  Usage, where another service of the directory runs */
function claim(dataDirectory: string, { clusterServices }: MainStore): void {
  // Before it looks, so that of two at once at least one sees the other.
  clusterServices.register(0)
  try {
    assertNobodyRuns(dataDirectory, clusterServices)
  } catch (fault) {
    clusterServices.unregister()
    throw fault
  }
}

/**
 * A bit of the page that says where the tables are makes a store an empty one, which is whole.
 *
 * @throws OperatorError  DocumentInvalid
 */
function assertOfCluster(dataDirectory: string, { entries }: MainStore): void {
  if (entries.isClustered()) return
  throw new OperatorError(
    'DocumentInvalid',
    `${storeDirectory(dataDirectory)}: the store is damaged (nothing says that it is of a cluster)`,
  )
}

/** @throws OperatorError  Usage, where the directory is of a cluster */
function assertAlone(dataDirectory: string): void {
  const state = readState(dataDirectory)
  if (state === undefined) return
  throw new OperatorError(
    'Usage',
    `${dataDirectory} is that of ${state.name} in the cluster ${state.clusterId}: start it with --cluster nats://… ` +
      `--name ${state.name}, or make it one of no cluster with hickory cluster leave`,
  )
}

/**
 * What `hickory cluster leave` has left that was interrupted.
 *
 * @throws OperatorError  Usage
 */
export function refuseClustered(dataDirectory: string, { entries }: MainStore): void {
  if (!entries.isClustered()) return
  throw new OperatorError(
    'Usage',
    `the store of ${dataDirectory} is still that of a machine of a cluster: finish what was interrupted with ` +
      'hickory cluster leave',
  )
}

/** What other machines have that is damaged here. */
const DAMAGED: Partial<Record<OperatorErrorCode, BeginsAnew>> = {
  JournalDamaged: 'damaged',
  DocumentInvalid: 'damaged',
  SnapshotCorrupt: 'snapshot',
  SnapshotMissing: 'damaged',
}

const ALL: Applied['kinds'] = new Set(['suppressions', 'keys', 'audience'])

function notEverywhere(waitingFor: readonly string[]): string {
  const who = waitingFor.length === 0 ? 'another machine' : waitingFor.join(', ')
  return (
    `the change is stored, but ${who} may still answer without it: send it again to wait until that has it, or is ` +
    'known to answer no more'
  )
}
