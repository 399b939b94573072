/**
 * Who is inside the shapes of contexts now. What was counted is kept in the store, for all threads
 * and for the next start. What is out of date because of another snapshot is served as it is while
 * it is counted again; what is because of changes of the same snapshot is waited for; what is because of a
 * suppression list is never served.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../errors.js'
import type { Contact } from '../interface/context.js'
import type { CountMode } from '../interface/count-mode.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { callerUntil } from '../pool/messages.js'
import type { Access, Asker } from '../selection/access.js'
import { type CurrentService, type SelectionService, select } from '../selection/answer.js'
import type { Boundary, BoundaryRule } from '../selection/boundary.js'
import type { Catalogue } from '../selection/catalogue.js'
import { type Query, validate } from '../selection/validate.js'
import type { Store, StoredCounts } from '../store/store.js'
import { effectiveVersion, type Progress, takenVersion } from '../suppressions/progress.js'
import type { Places } from './context-warnings.js'
import { countsWriter } from './counts-writer.js'
import { workQueue } from './work-queue.js'

export interface LiveCounts {
  /**
   * What is counted for a client at this moment.
   *
   * @throws ServiceError  Forbidden, where the boundary of its key cannot be read
   */
  basis(access: Access): Basis
  /**
   * The state of each shape, by its hash. Those of which nothing is known are waited for.
   *
   * @param basis  of the same client
   */
  of(shapes: readonly Shape[], basis: Basis, asker: Asker): Promise<Map<string, ShapeState>>
  /** Where it is counted, at this moment. */
  places(access: Access): Places
  /** The state of an area without a shape, which selects nobody. */
  nowhere(): ShapeState
  /** Counts nothing more; whoever waits is answered at once. */
  stop(): void
}

/** Counts with the same basis are the same. */
export interface Basis {
  readonly snapshotId: string
  /** The last batch of the journal of changes that is counted. */
  readonly sequence: number
  readonly countMode: CountMode
  /** The last change to the suppression lists that could matter: counts since then are right. */
  readonly suppressionVersion: number
  /** Of the boundary beyond which nobody may be counted; undefined where there is none. */
  readonly boundaryKey: string | undefined
}

interface Shape {
  readonly hash: string
  /** GeoJSON or Esri JSON. */
  readonly geometry: object
}

export interface ShapeState {
  /** By source; undefined where they are not known. */
  readonly contacts: readonly Contact[] | undefined
  /** Whether this is true of the basis, so that to ask again would change nothing. */
  readonly isFresh: boolean
  readonly isUpdating: boolean
  /** The last attempt to count it failed. */
  readonly hasFailed: boolean
  /** It is not a shape that can be read. */
  readonly isInvalid: boolean
}

interface LiveCountsOptions {
  readonly store: Store
  readonly current: CurrentService
  readonly suppressionProgress: Progress
  readonly log: Log
  /** From a failure to the next attempt; `limits.countRetryMs` unless given. */
  readonly retryMs?: number
}

export function startLiveCounts(options: LiveCountsOptions): LiveCounts {
  const { store, current, suppressionProgress, log, retryMs = limits.countRetryMs } = options
  const writer = countsWriter(store, log)
  const failures = new LRUCache<string, number>({ max: limits.countFailureCount })
  // Within the boundaries of keys. The store has room for one count of each shape.
  const keyed = new LRUCache<string, StoredCounts>({ max: limits.keyedCountsCount })
  const queue = workQueue<StoredCounts | undefined>({
    runningCount: limits.shapesCountedCount,
    waitingCount: limits.shapesWaitingCount,
  })

  async function count(
    shape: Shape,
    basis: Basis,
    access: Access,
  ): Promise<StoredCounts | undefined> {
    const key = keyOf(shape, basis)
    const { countMode } = basis
    try {
      // By its turn there may be a newer snapshot than that of the basis.
      const counted = await current.use(async (service) => {
        const { snapshotId, sequence } = service.catalogue
        // Before it is counted: what is marked meanwhile may be counted or not.
        const suppressionVersion = takenVersion(suppressionProgress)
        const boundary = service.boundaryRule.for(undefined, access)
        const contacts = await countContacts(service, shape, { countMode, boundary })
        const boundaryKey = boundary?.key
        return { snapshotId, sequence, countMode, suppressionVersion, boundaryKey, contacts }
      })
      failures.delete(key)
      if (access.boundary === undefined) writer.add(shape.hash, counted)
      else keyed.set(keyedName(shape, counted), counted)
      return counted
    } catch (fault) {
      failures.set(key, performance.now())
      if (!(fault instanceof ServiceError)) {
        log.error(describeFault(fault), 'a shape of a context cannot be counted')
      }
      return undefined
    }
  }

  /** Undefined where it is too early to try again, or there is too much to do already. */
  function attempt(
    shape: Shape,
    basis: Basis,
    access: Access,
  ): Promise<StoredCounts | undefined> | undefined {
    const key = keyOf(shape, basis)
    const failedMs = failures.get(key)
    const isTooEarly = failedMs !== undefined && performance.now() - failedMs < retryMs
    return isTooEarly ? undefined : queue.join(key, () => count(shape, basis, access))
  }

  /** Counts that are known of each shape, those that are better first. */
  function knownOf(shapes: readonly Shape[], basis: Basis, { boundary }: Access) {
    if (boundary !== undefined) return shapes.map((shape) => [keyed.get(keyedName(shape, basis))])
    const stored = store.counts(shapes.map(({ hash }) => hash))
    return shapes.map(({ hash }, i) => [writer.get(hash), stored[i]])
  }

  return {
    basis(access) {
      const { catalogue, countMode, boundaryRule } = current.newest.service
      return {
        snapshotId: catalogue.snapshotId,
        sequence: catalogue.sequence,
        countMode: countMode(),
        suppressionVersion: effectiveVersion(suppressionProgress),
        boundaryKey: boundaryKeyOf(boundaryRule, access),
      }
    },
    async of(shapes, basis, { access, deadlineMs }) {
      const distinct = [...new Map(shapes.map((shape) => [shape.hash, shape])).values()]
      const taken = takenVersion(suppressionProgress)
      const knownCounts = knownOf(distinct, basis, access)
      const states = new Map<string, ShapeState>()
      const awaited: Promise<unknown>[] = []
      for (const [i, shape] of distinct.entries()) {
        const { hash } = shape
        const known = knownCounts[i].find((counts) => mayServe(counts, basis, taken))
        if (known !== undefined && isOf(known, basis)) {
          states.set(hash, freshState(known))
          continue
        }
        const work = attempt(shape, basis, access)
        const hasFailed = work === undefined || failures.has(keyOf(shape, basis))
        states.set(hash, staleState(known, work !== undefined, hasFailed))
        if (work === undefined || (known !== undefined && !isOfEarlier(known, basis))) continue
        const settled = work.then((counted) => states.set(hash, countedState(counted, basis)))
        awaited.push(settled)
      }
      if (awaited.length > 0) await untilDeadline(Promise.all(awaited), deadlineMs)
      // A copy, since what is late still changes the other.
      return new Map(states)
    },
    places(access) {
      const { catalogue, boundaryRule } = current.newest.service
      return { catalogue, boundary: boundaryOf(boundaryRule, access) }
    },
    nowhere: () => ({ ...NOBODY, contacts: nobodyOf(current.newest.service.catalogue.sources) }),
    stop() {
      queue.stop()
      writer.stop()
    },
  }
}

function nobodyOf(sources: Catalogue['sources']): Contact[] {
  return sources.map(({ label }) => ({ Label: label, Count: 0 }))
}

function keyOf({ hash }: Shape, basis: Basis): string {
  const { snapshotId, sequence, countMode, suppressionVersion, boundaryKey } = basis
  return `${hash} ${snapshotId} ${sequence} ${countMode} ${suppressionVersion} ${boundaryKey}`
}

/** Names counts of a shape within a boundary. */
function keyedName({ hash }: Shape, { boundaryKey }: Pick<Basis, 'boundaryKey'>): string {
  return `${hash} ${boundaryKey}`
}

function boundaryOf(rule: BoundaryRule, access: Access): Boundary | undefined {
  return rule.fault() === undefined ? rule.for(undefined, access) : undefined
}

/** Where there must be a boundary and is none, nothing is counted, and nothing that was is served. */
function boundaryKeyOf(rule: BoundaryRule, access: Access): string | undefined {
  return rule.fault() === undefined ? rule.for(undefined, access)?.key : 'missing'
}

/**
 * Whether counts hold nobody who was suppressed since, or is beyond the boundary. Of those of another
 * snapshot, which may have others in it, nobody knows which changes mattered.
 */
function mayServe(counts: StoredCounts | undefined, basis: Basis, taken: number): boolean {
  if (counts === undefined || counts.boundaryKey !== basis.boundaryKey) return false
  const isSame = counts.snapshotId === basis.snapshotId
  return isSince(counts, isSame ? basis.suppressionVersion : taken)
}

function isSince({ suppressionVersion = 0 }: StoredCounts, version: number): boolean {
  return suppressionVersion >= version
}

/**
 * Counts by the stages of a recipient request.
 *
 * @returns undefined for a shape that such a request would refuse
 * @throws ServiceError  when it could not be counted
 */
async function countContacts(
  service: SelectionService,
  { geometry }: Shape,
  selecting: Parameters<typeof select>[2],
): Promise<Contact[] | undefined> {
  const query = readShape(geometry, selecting.countMode)
  if (query === undefined) return undefined
  const selections = await select(
    service,
    query,
    selecting,
    callerUntil(performance.now() + limits.requestMs),
  )
  return selections.map(({ source, count }) => ({ Label: source.label, Count: count }))
}

function readShape(geometry: object, countMode: CountMode): Query | undefined {
  try {
    return validate({ countsOnly: true, geoJSON: geometry, contactCountMode: countMode })
  } catch (fault) {
    if (fault instanceof ServiceError) return undefined
    throw fault
  }
}

/** Whether only changes of the same snapshot are not counted yet. */
function isOfEarlier(counts: StoredCounts, basis: Basis): boolean {
  return isOf({ ...counts, sequence: basis.sequence }, basis)
}

function isOf(counts: StoredCounts, basis: Basis): boolean {
  // Counted later than it was asked for is right, too.
  if ((counts.sequence ?? 0) < basis.sequence) return false
  const { snapshotId, countMode, boundaryKey } = basis
  const isSame = counts.snapshotId === snapshotId && counts.countMode === countMode
  return isSame && counts.boundaryKey === boundaryKey && isSince(counts, basis.suppressionVersion)
}

function freshState({ contacts }: StoredCounts): ShapeState {
  return { ...NOBODY, contacts, isInvalid: contacts === undefined }
}

/** What was counted in a newer snapshot than the others is out of date beside them. */
function countedState(counted: StoredCounts | undefined, basis: Basis): ShapeState {
  if (counted === undefined) return staleState(undefined, false, true)
  const isServable =
    isSince(counted, basis.suppressionVersion) && counted.boundaryKey === basis.boundaryKey
  if (!isServable) return staleState(undefined, true, false)
  return isOf(counted, basis) ? freshState(counted) : staleState(counted, true, false)
}

function staleState(
  known: StoredCounts | undefined,
  isUpdating: boolean,
  hasFailed: boolean,
): ShapeState {
  return {
    contacts: known?.contacts,
    isFresh: false,
    isUpdating,
    hasFailed,
    isInvalid: known !== undefined && known.contacts === undefined,
  }
}

const NOBODY: ShapeState = {
  contacts: [],
  isFresh: true,
  isUpdating: false,
  hasFailed: false,
  isInvalid: false,
}

/** Resolves when the work is done or the time is over. */
async function untilDeadline(work: Promise<unknown>, deadlineMs: number): Promise<void> {
  const timer = new AbortController()
  const time = sleep(Math.max(0, deadlineMs - performance.now()), undefined, {
    signal: timer.signal,
  }).catch(() => {})
  await Promise.race([work, time])
  timer.abort()
}
