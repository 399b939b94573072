/**
 * Clients that watch the counts of contexts. Each watched context is polled every `limits.watchMs`, and counted
 * once for all of its watchers; a context without watchers costs nothing.
 *
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import type { Area, MapContext } from '../interface/context.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { callerUntil } from '../pool/tasks.js'
import type { Access } from '../selection/access.js'
import type { Freshness } from '../selection/freshness.js'
import type { Store } from '../store/store.js'
import { hashOf } from '../store/tables.js'
import { noSuchContext, type ReadContext } from './contexts.js'
import type { LiveCounts } from './live-counts.js'

export interface WatchEvent {
  readonly kind: 'counts' | 'deleted'
  /** The same for the same state in all threads and processes. */
  readonly id: string
  /** On one line. */
  readonly json: string
}

/** A client that watches. None of this may throw. */
export interface Watcher {
  tell(event: WatchEvent): void
  /** Called now and then, so that a dead connection is found. */
  beat(): void
  /** Whether its key still permits it. */
  mayGoOn(): boolean
  /** The last call. */
  end(why: EndReason): void
}

/** There is no such context any more, the key may not go on, or the service stops. */
export type EndReason = 'deleted' | 'refused' | 'stopping'

export interface ContextWatches {
  /** How many watch at this moment. */
  readonly watcherCount: number
  /**
   * Sends the state of a context, unless the watcher has it, and from then on each change.
   *
   * @param knownId  of the last event that the watcher got, if it got one
   * @returns a function that ends it without a further call of the watcher
   * @throws ServiceError  NotFound, Forbidden, Overloaded or Unavailable
   */
  join(
    contextId: string,
    access: Access,
    watcher: Watcher,
    knownId: string | undefined,
  ): Promise<() => void>
  /** Ends all watchers, and accepts no more. */
  stop(): void
}

interface WatchOptions {
  readonly store: Pick<Store, 'contextVersion'>
  readonly counts: Pick<LiveCounts, 'basis'>
  readonly read: ReadContext
  /** On a machine of a cluster alone. */
  readonly freshness?: Freshness | undefined
  readonly log: Log
  /** Called for each event that a watcher gets. */
  readonly onSent?: () => void
}

export function startContextWatches(options: WatchOptions): ContextWatches {
  const { store, counts, read, freshness, log, onSent = () => {} } = options
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

  /** One look at a time, so that the last event is the newest state. */
  function look(group: Group): Promise<State | undefined> {
    group.looking ??= lookNow(group).finally(() => {
      group.looking = undefined
    })
    return group.looking
  }

  /**
   * Reads the context, if its counts may have changed.
   *
   * @returns undefined where nothing can have changed
   */
  async function lookNow(group: Group): Promise<State | undefined> {
    const mark = markOf(group)
    if (mark === undefined) {
      sendDeleted(group)
      return undefined
    }
    if (mark === group.mark) return undefined
    const state = await stateOf(group)
    // Counts that are under way are read again: only their result is an event.
    const isCertain = !state.isUpdating
    group.hasNews = isCertain
    group.last = isCertain ? state.event : undefined
    // Areas that could not be counted are tried again.
    group.mark = isCertain && !state.hasFailed ? mark : undefined
    return state
  }

  /** Skips an event equal to the previous one. */
  function send(group: Group, watcher: Watcher, event: WatchEvent): void {
    if (group.watchers.get(watcher) === event.id) return
    group.watchers.set(watcher, event.id)
    onSent()
    watcher.tell(event)
  }

  /** Called by the timer alone: watchers that join meanwhile cause no further events for others. */
  async function sendNews(group: Group): Promise<void> {
    if (!group.hasNews) return
    group.hasNews = false
    await inTurns(group, (watcher) => {
      // Read now, since a watcher may have got a newer event meanwhile.
      if (group.last !== undefined) send(group, watcher, group.last)
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

  function sendDeleted(group: Group): void {
    const json = JSON.stringify({ Id: group.contextId })
    for (const watcher of [...group.watchers.keys()]) {
      send(group, watcher, { kind: 'deleted', id: 'deleted', json })
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
    const isBeat = ++lookCount % Math.ceil(limits.watchBeatMs / limits.watchMs) === 0
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
      await sendNews(group)
    } catch (fault) {
      if (isNotFound(fault)) sendDeleted(group)
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
    }, limits.watchMs).unref()
  }

  return {
    get watcherCount() {
      return watcherCount
    },
    async join(contextId, access, watcher, knownId) {
      if (isStopped) throw new ServiceError('Unavailable', 'the service is stopping')
      if (watcherCount >= limits.watcherCount) {
        const message = `${limits.watcherCount} clients watch already; try again later`
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
      // Before the pause, so that it gets the changes meanwhile.
      watcherCount++
      group.watchers.set(watcher, knownId)
      groups.set(name, group)
      schedule()
      try {
        if (markOf(group) === undefined) throw noSuchContext()
        const state = await look(group)
        const event = state?.isUpdating ? state.event : group.last
        if (event !== undefined && group.watchers.has(watcher)) send(group, watcher, event)
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

/** The watchers of one context within one boundary. */
interface Group {
  readonly name: string
  readonly contextId: string
  /** The access of the first watcher; the others have the same boundary. */
  readonly access: Access
  /** With the id of the last event of each. */
  readonly watchers: Map<Watcher, string | undefined>
  /** The mark of the last event; undefined while another look may find something else. */
  mark: string | undefined
  /** Undefined while nothing is certain. */
  last: WatchEvent | undefined
  /** Whether a watcher may not have got it. */
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

/** The members of an area in an event: not its shape, which the watcher has or can read. */
const EVENT_MEMBERS = [
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
  const areas = Areas.map((area) =>
    Object.fromEntries(EVENT_MEMBERS.map((name) => [name, area[name]])),
  )
  const lagging = Warnings.filter(({ Code }) => Code === 'Lagging')
  const isLagging = lagging.length > 0
  // The same counts of another snapshot are no news, and neither is for how long a machine has been cut off.
  const compared = { Id, ContextName, Areas: areas, ...(isLagging && { isLagging }) }
  const id = hashOf(Buffer.from(JSON.stringify(compared)))
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

/** Names contexts within boundaries. The same boundary is the same object. */
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
