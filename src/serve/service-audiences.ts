/**
 * Audiences of a machine of a cluster, as its main thread has them: what is frozen here becomes known to all machines, and the
 * thread of the cluster hears which there are.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { type SharedAudiences, serveSharedAudiences } from '../audiences/clustered.js'
import {
  deleteAudience,
  describeAudience,
  liveAudiences,
  removeExpired,
  removeUnknown,
} from '../audiences/directory.js'
import type { ClusterThread } from '../cluster/start.js'
import type { StoreFollower } from '../cluster/store-follower.js'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { type AudienceName, audienceName } from '../snapshot/retention/audience-names.js'
import type { AnnouncedAudience, MadeAudience } from '../store/audiences.js'
import type { MainStore } from '../store/store.js'

interface AudienceOptions {
  readonly dataDirectory: string
  readonly store: Pick<MainStore, 'audiences' | 'entries'>
  readonly follower: Pick<StoreFollower, 'make'>
  readonly thread: Pick<
    ClusterThread,
    'bringAudience' | 'knowAudiences' | 'putAudience' | 'untilAudienceKept' | 'untilEverywhere'
  >
  /** Whether the cluster began with this directory, which may have had audiences before. */
  readonly isFounder: boolean
  readonly log: Log
}

export class ServiceAudiences implements SharedAudiences {
  readonly #options: AudienceOptions
  readonly #over = new AbortController()

  constructor(options: AudienceOptions) {
    this.#options = options
  }

  /** What leads here from a front thread. */
  openPort(): MessagePort {
    const { log } = this.#options
    return serveSharedAudiences(this, (fault) =>
      log.error(describeFault(fault), 'an audience could not be shared'),
    )
  }

  /** Begins with what the directory had before there was a cluster. */
  begin(): void {
    const { store, isFounder } = this.#options
    if (!isFounder || store.entries.areAudiencesShared()) return
    const { signal } = this.#over
    const what = 'audiences of before the cluster are not shared'
    void this.#shareOwn(signal).catch((fault: unknown) => {
      if (!signal.aborted) this.#options.log.error(describeFault(fault), what)
    })
  }

  /** Tells the thread of the cluster which there are by all entries up to one. */
  tell(upTo: number): void {
    const { store, thread } = this.#options
    thread.knowAudiences(upTo, store.audiences.live(Date.now()))
  }

  /** Ids of all that the cluster knows; undefined while it may not have heard of all that are here. */
  readonly knownIds = (): ReadonlySet<string> | undefined => {
    const { store, isFounder } = this.#options
    if (isFounder && !store.entries.areAudiencesShared()) return undefined
    return new Set(store.audiences.live(Date.now()).map(({ id }) => id))
  }

  async share(made: MadeAudience): Promise<void> {
    const { thread } = this.#options
    const { dataDirectory } = this.#options
    const { id, file } = made
    const entrySequence = await this.#announce(made, async () => {
      await deleteAudience(dataDirectory, nameOf(made))
    })
    const [{ isKept, waitingFor }] = await Promise.all([
      thread.untilAudienceKept(entrySequence, file),
      // A client that asks another machine finds it there, too, unless that is slow.
      thread.untilEverywhere(entrySequence, limits.entryEverywhereMs),
    ])
    if (isKept) return
    throw new ServiceError(
      'Unavailable',
      `the audience ${id} is made, but too few machines have it yet to lose one of them (waiting for ` +
        `${waitingFor.join(', ')}): GET /api/audiences lists it, so look before you make it again`,
    )
  }

  async remove(id: string): Promise<void> {
    const { follower, thread } = this.#options
    const { sequence, outcome } = await follower.make({ kind: 'deleteAudience', id })
    if (!outcome.isMade) throw new ServiceError(outcome.code, outcome.message, outcome.field)
    await thread.untilEverywhere(sequence, limits.entryEverywhereMs)
  }

  async bring(id: string, isDamaged: boolean, waitMs: number): Promise<void> {
    try {
      await this.#options.thread.bringAudience(id, isDamaged, waitMs)
    } catch (fault) {
      throw new ServiceError(
        'AudienceNotHere',
        `this machine does not have the files of the audience ${id} (${(fault as Error).message}): it goes on fetching ` +
          'them, so try again, or ask another machine',
      )
    }
  }

  stop(): void {
    this.#over.abort()
  }

  /**
   * @param onRefused  called where it is certain that no machine knows of it
   * @returns the sequence of the entry
   * @throws ServiceError
   */
  async #announce(made: MadeAudience, onRefused: () => Promise<void>): Promise<number> {
    const { follower, thread } = this.#options
    let documents: AnnouncedAudience['documents']
    try {
      documents = await thread.putAudience(made)
    } catch (fault) {
      await onRefused()
      const problem = `the object store of NATS has not taken the audience (${(fault as Error).message})`
      throw new ServiceError('Unavailable', `${problem}: nothing was made, so try again`)
    }
    const { sequence, outcome } = await follower.make({
      kind: 'audience',
      audience: { ...made, documents },
    })
    if (outcome.isMade) return sequence
    await onRefused()
    throw new ServiceError(outcome.code, outcome.message, outcome.field)
  }

  async #shareOwn(signal: AbortSignal): Promise<void> {
    const { dataDirectory, store, log } = this.#options
    for (const name of await liveAudiences(dataDirectory, Date.now())) {
      while (store.audiences.find(name.id, Date.now()) === undefined) {
        const isOver = await this.#shareOne(name)
        if (isOver) break
        await sleep(limits.fetchRetryMs, undefined, { signal })
      }
      signal.throwIfAborted()
    }
    store.entries.noteAudiencesShared()
    log.info('the machines of the cluster know the audiences of this directory')
  }

  /** @returns whether there is nothing more to be done */
  async #shareOne(name: AudienceName): Promise<boolean> {
    const { dataDirectory, log } = this.#options
    const { id: audienceId } = name
    let made: MadeAudience | undefined
    try {
      made = await describeAudience(dataDirectory, name)
    } catch (fault) {
      log.error({ ...describeFault(fault), audienceId }, 'an audience is damaged, and not shared')
    }
    if (made === undefined) return true
    try {
      await this.#announce(made, async () => {})
      return true
    } catch (fault) {
      const { code, message } = fault as ServiceError
      log.warn({ audienceId, code, reason: message }, 'an audience is not shared yet')
      return code !== 'Unavailable' && code !== 'Overloaded'
    }
  }
}

const nameOf = ({ id, snapshotId, expiresMs }: MadeAudience) =>
  audienceName(id, snapshotId, expiresMs)

/**
 * @param knownIds  of the audiences of a cluster, as far as the machine can tell; undefined on a machine of no cluster
 * @returns stops to do so
 */
export function keepAudiences(
  dataDirectory: string,
  knownIds: (() => ReadonlySet<string> | undefined) | undefined,
  log: Log,
): () => void {
  const sweep = async () => {
    try {
      const removedCount = await removeExpired(dataDirectory, Date.now())
      if (removedCount > 0) log.info({ removedCount }, 'removed expired audiences')
      const known = knownIds?.()
      if (known === undefined) return
      const unknownCount = await removeUnknown(dataDirectory, known, {
        startedMs: performance.timeOrigin,
        nowMs: Date.now(),
      })
      if (unknownCount > 0)
        log.info({ unknownCount }, 'removed audiences that the cluster does not know')
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException
      // The next sweep tries again. One that has expired is not read.
      log.warn({ reason: code }, 'expired audiences could not be removed')
    }
  }
  void sweep()
  const timer = setInterval(sweep, limits.audienceSweepMs).unref()
  return () => clearInterval(timer)
}
