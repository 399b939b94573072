/**
 * The recipients inside the shapes of contexts, counted now. Counts are kept in the store, for all threads
 * and for the next start. Counts of another snapshot are served while they are made again; counts before changes of the
 * same snapshot are waited for; counts before a change of a suppression list are never served.
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
import { callerUntil } from '../pool/tasks.js'
import type { Access, Asker } from '../selection/access.js'
import { type CurrentService, type SelectionService, select } from '../selection/answer.js'
import type { Boundary, BoundaryRule } from '../selection/boundary.js'
import type { Catalogue } from '../selection/catalogue.js'
import { type Query, validate } from '../selection/validate.js'
import type { Store, StoredCounts } from '../store/store.js'
import { appliedVersion, effectiveVersion, type Progress } from '../suppressions/progress.js'
import { workQueue } from './work-queue.js'

export interface LiveCounts {
  /**
   * What is counted for a client at this moment.
   *
   * @throws ServiceError  Forbidden, where the boundary of its key cannot be read
   */
  basis(access: Access): Basis
  /**
   * The state of each shape, by its hash. Shapes without a count are waited for.
   *
   * @param basis  of the same client
   */
  of(shapes: readonly Shape[], basis: Basis, asker: Asker): Promise<Map<string, ShapeState>>
  /** Where recipients are counted at this moment. */
  places(access: Access): CountedPlaces
  /** The state of an area without a shape, which selects no recipients. */
  nowhere(): ShapeState
  /** Counts nothing more; requests that wait are answered at once. */
  stop(): void
}

/** Where recipients are. */
export interface CountedPlaces {
  readonly catalogue: Pick<Catalogue, 'shards'>
  /** Undefined without a boundary. */
  readonly boundary: Boundary | undefined
}

/** Counts with the same basis are the same. */
export interface Basis {
  readonly snapshotId: string
  /** The last batch of the journal of changes that is counted. */
  readonly sequence: number
  readonly countMode: CountMode
  /** The last change to the suppression lists that could matter: counts since then are right. */
  readonly suppressionVersion: number
  /** The boundary within which recipients are counted; undefined without one. */
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
  /** Whether the counts have the basis, so that to count again would change nothing. */
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
}

export function startLiveCounts(options: LiveCountsOptions): LiveCounts {
  const { store, current, suppressionProgress, log } = options
  const writer = countsWriter(store, log)
  const failures = new LRUCache<string, number>({ max: limits.countFailureCount })
  // Counts within the boundaries of keys: the store has room for one count of each shape.
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
      // By now there may be a newer snapshot than that of the basis.
      const counted = await current.use(async (service) => {
        const { snapshotId, sequence } = service.catalogue
        // Before counting: recipients that are marked meanwhile may be counted or not.
        const suppressionVersion = appliedVersion(suppressionProgress)
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
    const isTooEarly = failedMs !== undefined && performance.now() - failedMs < limits.countRetryMs
    return isTooEarly ? undefined : queue.join(key, () => count(shape, basis, access))
  }

  /** The kept counts of each shape, newer ones first. */
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
      const applied = appliedVersion(suppressionProgress)
      const knownCounts = knownOf(distinct, basis, access)
      const states = new Map<string, ShapeState>()
      const awaited: Promise<unknown>[] = []
      for (const [i, shape] of distinct.entries()) {
        const { hash } = shape
        const known = knownCounts[i].find((counts) => mayServe(counts, basis, applied))
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
      // A copy, since late counts still change the map.
      return new Map(states)
    },
    places(access) {
      const { catalogue, boundaryRule } = current.newest.service
      return { catalogue, boundary: boundaryOf(boundaryRule, access) }
    },
    nowhere: () => ({ ...EMPTY, contacts: zeroCounts(current.newest.service.catalogue.sources) }),
    stop() {
      queue.stop()
      writer.stop()
    },
  }
}

function zeroCounts(sources: Catalogue['sources']): Contact[] {
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

/** Where the boundary is required and missing, nothing is counted, and no earlier count is served. */
function boundaryKeyOf(rule: BoundaryRule, access: Access): string | undefined {
  return rule.fault() === undefined ? rule.for(undefined, access)?.key : 'missing'
}

/**
 * Whether counts have no recipient that was suppressed since, or is beyond the boundary. For counts of another
 * snapshot, which may have other recipients, it is unknown which changes mattered.
 */
function mayServe(counts: StoredCounts | undefined, basis: Basis, applied: number): boolean {
  if (counts === undefined || counts.boundaryKey !== basis.boundaryKey) return false
  const isSame = counts.snapshotId === basis.snapshotId
  return isSince(counts, isSame ? basis.suppressionVersion : applied)
}

function isSince({ suppressionVersion }: StoredCounts, version: number): boolean {
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
  // Later counts are right, too.
  if ((counts.sequence ?? 0) < basis.sequence) return false
  const { snapshotId, countMode, boundaryKey } = basis
  const isSame = counts.snapshotId === snapshotId && counts.countMode === countMode
  return isSame && counts.boundaryKey === boundaryKey && isSince(counts, basis.suppressionVersion)
}

function freshState({ contacts }: StoredCounts): ShapeState {
  return { ...EMPTY, contacts, isInvalid: contacts === undefined }
}

/** A count in a newer snapshot than the others is stale beside them. */
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

const EMPTY: ShapeState = {
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

/** Stores counts a while after they were made, many at a time: each change waits for the disk. */
interface CountsWriter {
  /** Counts that are not stored yet. */
  get(shapeHash: string): StoredCounts | undefined
  add(shapeHash: string, counts: StoredCounts): void
  /** Stores nothing more. */
  stop(): void
}

function countsWriter(store: Store, log: Log): CountsWriter {
  const held = new Map<string, StoredCounts>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function write(): Promise<void> {
    const batch = [...held]
    const counts = batch.map(([shapeHash, each]) => ({ shapeHash, json: JSON.stringify(each) }))
    try {
      await store.change({ kind: 'counts', counts })
    } catch (fault) {
      // They will be made again when they are asked for.
      const { message } = fault as Error
      log.warn({ shapeCount: batch.length, reason: message }, 'counts of contexts are not stored')
    }
    for (const [hash, each] of batch) if (held.get(hash) === each) held.delete(hash)
    timer = undefined
    if (held.size > 0) schedule()
  }

  function schedule(): void {
    if (isStopped || timer !== undefined) return
    timer = setTimeout(() => void write(), limits.countsStoreDelayMs)
    timer.unref()
  }

  return {
    get: (shapeHash) => held.get(shapeHash),
    add(shapeHash, counts) {
      if (isStopped) return
      held.set(shapeHash, counts)
      schedule()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
