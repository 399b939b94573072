/**
 * The snapshot that a front thread answers from, and the next one. A request keeps the snapshot it started with. An old
 * snapshot is closed when its last request is over.
 *
 * @module
 */
import type { Log } from '../log.js'
import type { CurrentService, SelectionService } from '../selection/answer.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { SnapshotCalls } from './messages.js'

/** A snapshot with the workers that hold it. */
export interface OpenSnapshot {
  /** At the newest moment. */
  readonly service: SelectionService
  /** Resolves when nothing touches its memory any more. */
  close(): Promise<void>
}

interface CurrentSnapshot<Open extends OpenSnapshot = OpenSnapshot> extends CurrentService {
  readonly newest: Open
  /**
   * Gives the next one to requests that come from now on.
   *
   * @returns what resolves when no request holds the old one, and it is closed
   */
  switchTo(next: Open): { readonly released: Promise<void> }
  /** Closes old ones although requests hold them, which are refused as Unavailable then. */
  breakOff(): void
  /** Closes all of them. */
  close(): Promise<void>
}

export function createCurrent<Open extends OpenSnapshot>(first: Open): CurrentSnapshot<Open> {
  let newest = new Kept(first)
  const old = new Set<Kept<Open>>()

  return {
    get newest() {
      return newest.opened
    },
    hold(caller) {
      if (caller.held instanceof Held) return caller.held.service
      newest.holderCount++
      const held = new Held(newest, newest.opened.service)
      caller.held = held
      caller.whenOver(newest.leave)
      return held.service
    },
    heldSinceMs(caller) {
      return caller.held instanceof Held ? caller.held.kept.sinceMs : newest.sinceMs
    },
    async use(work) {
      const used = newest
      used.holderCount++
      try {
        return await work(used.opened.service)
      } finally {
        used.leave()
      }
    },
    switchTo(next) {
      const last = newest
      newest = new Kept(next)
      old.add(last)
      const released = last.closeWhenUnused().finally(() => old.delete(last))
      return { released }
    },
    breakOff() {
      for (const each of old) each.breakOff()
    },
    async close() {
      const all = [newest, ...old]
      await Promise.all(
        all.map((each) => {
          each.breakOff()
          return each.closeWhenUnused()
        }),
      )
    },
  }
}

interface SwitchedSnapshots<Open extends OpenSnapshot> {
  readonly current: CurrentSnapshot<Open>
  readonly start: (snapshot: Snapshot) => Promise<Open>
  readonly onSwitched: () => void
  readonly log: Log
}

/** What the main thread calls to switch this one to a new snapshot; `close` closes all, one that is being started too. */
export function snapshotCalls<Open extends OpenSnapshot>({
  current,
  start,
  onSwitched,
  log,
}: SwitchedSnapshots<Open>): SnapshotCalls & { close(): Promise<void> } {
  let next: Promise<Open> | undefined
  let released: Promise<void> = Promise.resolve()
  const discard = async () => {
    const opened = await next?.catch(() => undefined)
    next = undefined
    await opened?.close()
  }
  return {
    async prepare(snapshot) {
      next = start(snapshot)
      await next
    },
    discard,
    async switch() {
      if (next === undefined) throw new Error('there is no snapshot to switch to')
      const opened = await next
      next = undefined
      released = current.switchTo(opened).released
      onSwitched()
    },
    untilReleased: () => released,
    breakOff() {
      log.warn('requests that still read an old snapshot are broken off')
      current.breakOff()
    },
    async close() {
      await Promise.all([discard(), current.close()])
    },
  }
}

/** What a caller is answered from: one moment of it, whatever comes meanwhile. */
class Held {
  readonly kept: Pick<Kept<OpenSnapshot>, 'sinceMs'>
  readonly service: SelectionService

  constructor(kept: Pick<Kept<OpenSnapshot>, 'sinceMs'>, service: SelectionService) {
    this.kept = kept
    this.service = service
  }
}

class Kept<Open extends OpenSnapshot> {
  readonly opened: Open
  /** Milliseconds since 1970. */
  readonly sinceMs = Date.now()
  holderCount = 0
  #closed: Promise<void> | undefined
  #isBrokenOff = false
  #unused: () => void = () => {}

  constructor(opened: Open) {
    this.opened = opened
  }

  /** One function for all who hold it. */
  readonly leave = (): void => {
    this.holderCount--
    if (this.holderCount === 0) this.#unused()
  }

  breakOff(): void {
    this.#isBrokenOff = true
    this.#unused()
  }

  closeWhenUnused(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    if (this.holderCount > 0 && !this.#isBrokenOff) {
      await new Promise<void>((resolve) => {
        this.#unused = resolve
      })
    }
    await this.opened.close()
  }
}
