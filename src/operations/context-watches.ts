/**
 * Who wants to be told when the counts of a context change. Each watched context is looked at once in
 * `limits.watchMs`, and counted once for all who watch it; where nobody watches, nothing is done.
 *
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import type { Area, MapContext } from '../interface/context.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { callerUntil } from '../pool/messages.js'
import type { Access } from '../selection/access.js'
import type { Freshness } from '../selection/freshness.js'
import { hashOf } from '../store/hash.js'
import type { Store } from '../store/store.js'
import { noSuchContext, type ReadContext } from './context-reader.js'
import type { LiveCounts } from './live-counts.js'

/** What is told of a context. */
export interface WatchEvent {
  readonly kind: 'counts' | 'deleted'
  /** The same for the same state, by whichever thread or process it is told. */
  readonly id: string
  /** On one line. */
  readonly json: string
}

/** Somebody who watches. None of this may throw. */
export interface Watcher {
  tell(event: WatchEvent): void
  /** Called now and then, so that a connection that nobody is at the other end of is found. */
  beat(): void
  /** Whether its key still has what it had. */
  mayGoOn(): boolean
  /** The last call: nothing more is told. */
  end(why: EndReason): void
}

/** There is no such context any more, the key may not go on, or the service stops. */
export type EndReason = 'deleted' | 'refused' | 'stopping'

export interface ContextWatches {
  /** How many watch at this moment. */
  readonly watcherCount: number
  /**
   * Tells the state of a context, unless the watcher knows it, and from then on each change.
   *
   * @param knownId  of the last event that the watcher got, if it got one
   * @returns what ends it; the watcher is told no more then
   * @throws ServiceError  NotFound, Forbidden, Overloaded or Unavailable
   */
  join(
    contextId: string,
    access: Access,
    watcher: Watcher,
    knownId: string | undefined,
  ): Promise<() => void>
  /** Ends all of them, and takes no more. */
  stop(): void
}

interface WatchOptions {
  readonly store: Pick<Store, 'contextVersion'>
  readonly counts: Pick<LiveCounts, 'basis'>
  readonly read: ReadContext
  /** On a machine of a cluster alone. */
  readonly freshness?: Freshness | undefined
  readonly log: Log
  /** Called for each event that a watcher is told. */
  readonly onTold?: () => void
  /** Between two looks; `limits.watchMs` unless given. */
  readonly lookMs?: number
  readonly watcherCountMax?: number
}

export function startContextWatches(options: WatchOptions): ContextWatches {
  const { store, counts, read, freshness, log, onTold = () => {} } = options
  const { lookMs = limits.watchMs, watcherCountMax = limits.watcherCount } = options
  /** By context and boundary, within which it is counted. */
  const groups = new Map<string, Group>()
  let watcherCount = 0
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let isStopped = false
  let lookCount = 0
  const nameOf = boundaryNames()

  /** What could change the counts of a context; undefined while there is no such context. */
  function markOf({ contextId, access }: Group): string | undefined {
    const version = store.contextVersion(contextId)
    if (version === undefined) return undefined
    const { snapshotId, sequence, countMode, suppressionVersion, boundaryKey } =
      counts.basis(access)
    const isLagging = freshness?.lagSeconds() !== undefined
    return `${version} ${snapshotId} ${sequence} ${countMode} ${suppressionVersion} ${boundaryKey} ${isLagging}`
  }

  async function stateOf({ contextId, access }: Group): Promise<State> {
    const asker = { ...callerUntil(performance.now() + limits.requestMs), access }
    const answer = await read(contextId, asker)
    const context = JSON.parse(Buffer.from(answer.json() as Uint8Array).toString()) as MapContext
    const [record] = answer.records?.() ?? []
    return stateFrom(context, String(record?.facts().snapshotId))
  }

  /** One look at a time, so that what is told last is the latest. */
  function look(group: Group): Promise<State | undefined> {
    group.looking ??= lookNow(group).finally(() => {
      group.looking = undefined
    })
    return group.looking
  }

  /**
   * Finds out what there is to tell of a context.
   *
   * @returns undefined where nothing can have changed
   */
  async function lookNow(group: Group): Promise<State | undefined> {
    const mark = markOf(group)
    if (mark === undefined) {
      tellDeleted(group)
      return undefined
    }
    if (mark === group.mark) return undefined
    const state = await stateOf(group)
    // Counts that are under way are looked at again: only what they come to is told.
    const isCertain = !state.isUpdating
    group.hasNews = isCertain
    group.last = isCertain ? state.event : undefined
    // Areas that could not be counted are tried again.
    group.mark = isCertain && !state.hasFailed ? mark : undefined
    return state
  }

  /** Nobody is told twice in a row what is the same. */
  function tell(group: Group, watcher: Watcher, event: WatchEvent): void {
    if (group.watchers.get(watcher) === event.id) return
    group.watchers.set(watcher, event.id)
    onTold()
    watcher.tell(event)
  }

  /** Called at looks of the clock alone: however many join meanwhile, nobody else is told more often. */
  async function tellNews(group: Group): Promise<void> {
    if (!group.hasNews) return
    group.hasNews = false
    await inTurns(group, (watcher) => {
      // Not what was the last when this began: somebody may know more by now.
      if (group.last !== undefined) tell(group, watcher, group.last)
    })
  }

  /** Other requests go on between them. */
  async function inTurns(group: Group, act: (watcher: Watcher) => void): Promise<void> {
    let leftCount = limits.watchersPerTurnCount
    for (const watcher of [...group.watchers.keys()]) {
      if (leftCount-- === 0) {
        await nextTurn()
        leftCount = limits.watchersPerTurnCount
      }
      if (group.watchers.has(watcher)) act(watcher)
    }
  }

  function tellDeleted(group: Group): void {
    const json = JSON.stringify({ Id: group.contextId })
    for (const watcher of [...group.watchers.keys()]) {
      tell(group, watcher, { kind: 'deleted', id: 'deleted', json })
      end(group, watcher, 'deleted')
    }
  }

  function end(group: Group, watcher: Watcher, why: EndReason): void {
    leave(group, watcher)
    watcher.end(why)
  }

  function leave(group: Group, watcher: Watcher): void {
    if (!group.watchers.delete(watcher)) return
    watcherCount--
    if (group.watchers.size > 0) return
    if (groups.get(group.name) === group) groups.delete(group.name)
    if (groups.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  /** A few at a time, so that a new snapshot does not count all of them at once. */
  async function lookAtAll(): Promise<void> {
    const isBeat = ++lookCount % Math.ceil(limits.watchBeatMs / lookMs) === 0
    const waiting = [...groups.values()].values()
    const lane = async () => {
      for (const group of waiting) {
        if (isStopped) return
        await inTurns(group, (watcher) => {
          if (!watcher.mayGoOn()) end(group, watcher, 'refused')
          else if (isBeat) watcher.beat()
        })
        if (group.watchers.size > 0) await lookSafely(group)
      }
    }
    await Promise.all(Array.from({ length: limits.watchLooksCount }, lane))
  }

  async function lookSafely(group: Group): Promise<void> {
    try {
      await look(group)
      await tellNews(group)
    } catch (fault) {
      if (isNotFound(fault)) tellDeleted(group)
      // Another fault of a request may be over at the next look.
      else if (!(fault instanceof ServiceError)) {
        log.error(describeFault(fault), 'a watched context cannot be counted')
      }
    }
  }

  function schedule(): void {
    timer ??= setInterval(() => {
      if (isLooking) return
      isLooking = true
      void lookAtAll().finally(() => {
        isLooking = false
      })
    }, lookMs).unref()
  }

  return {
    get watcherCount() {
      return watcherCount
    },
    async join(contextId, access, watcher, knownId) {
      if (isStopped) throw new ServiceError('Unavailable', 'the service is stopping')
      if (watcherCount >= watcherCountMax) {
        const message = `${watcherCountMax} clients watch already; try again later`
        throw new ServiceError('Overloaded', message)
      }
      const name = nameOf(contextId, access)
      const group: Group = groups.get(name) ?? {
        name,
        contextId,
        access,
        watchers: new Map(),
        mark: undefined,
        last: undefined,
        hasNews: false,
        looking: undefined,
      }
      // Before the pause, so that it has its place among those who watch, and is told of changes.
      watcherCount++
      group.watchers.set(watcher, knownId)
      groups.set(name, group)
      schedule()
      try {
        if (markOf(group) === undefined) throw noSuchContext()
        const state = await look(group)
        const event = state?.isUpdating ? state.event : group.last
        if (event !== undefined && group.watchers.has(watcher)) tell(group, watcher, event)
      } catch (fault) {
        leave(group, watcher)
        throw fault
      }
      return () => leave(group, watcher)
    },
    stop() {
      isStopped = true
      clearInterval(timer)
      for (const group of [...groups.values()]) {
        for (const watcher of [...group.watchers.keys()]) end(group, watcher, 'stopping')
      }
    },
  }
}

/** Those who watch one context within one boundary. */
interface Group {
  readonly name: string
  readonly contextId: string
  /** Of the first of them; the others have the same boundary. */
  readonly access: Access
  /** With the id of what each of them knows. */
  readonly watchers: Map<Watcher, string | undefined>
  /** Of what is told; undefined while another look may find something else. */
  mark: string | undefined
  /** Undefined while nothing is certain. */
  last: WatchEvent | undefined
  /** Whether there may be somebody who was not told that. */
  hasNews: boolean
  /** The look that is under way. */
  looking: Promise<State | undefined> | undefined
}

interface State {
  readonly event: WatchEvent
  /** Whether an area is being counted. */
  readonly isUpdating: boolean
  /** Whether an area could not be counted. */
  readonly hasFailed: boolean
}

/** What of an area is told: not its shape, which whoever watches has or can read. */
const TOLD = [
  'Id',
  'Name',
  'IsUpdatingContactList',
  'Contacts',
  'ContactTotalCount',
  'HasContactCountError',
  'HasInvalidShapeError',
] as const satisfies readonly (keyof Area)[]

function stateFrom(context: MapContext, snapshotId: string): State {
  const { Id, ContextName, Areas = [], Warnings = [] } = context
  const areas = Areas.map((area) => Object.fromEntries(TOLD.map((name) => [name, area[name]])))
  const lagging = Warnings.filter(({ Code }) => Code === 'Lagging')
  const isLagging = lagging.length > 0
  // The same counts of another snapshot are no news, and neither is for how long a machine has been cut off.
  const told = { Id, ContextName, Areas: areas, ...(isLagging && { isLagging }) }
  const id = hashOf(Buffer.from(JSON.stringify(told)))
  const json = JSON.stringify({
    Id,
    ContextName,
    SnapshotId: snapshotId,
    Areas: areas,
    ...(isLagging && { Warnings: lagging }),
  })
  return {
    event: { kind: 'counts', id, json },
    isUpdating: Areas.some(({ IsUpdatingContactList }) => IsUpdatingContactList === true),
    hasFailed: Areas.some(({ HasContactCountError }) => HasContactCountError === true),
  }
}

/** Names contexts as those see them who have one boundary: the same object for as long as it is the same. */
function boundaryNames(): (contextId: string, access: Access) => string {
  const numbers = new WeakMap<object, number>()
  let lastNumber = 0
  return (contextId, { boundary }) => {
    if (boundary === undefined) return contextId
    const number = numbers.get(boundary) ?? ++lastNumber
    numbers.set(boundary, number)
    return `${contextId} ${number}`
  }
}

function isNotFound(fault: unknown): boolean {
  return fault instanceof ServiceError && fault.code === 'NotFound'
}
