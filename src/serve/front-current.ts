/**
 * The snapshot that a front thread answers from. A request keeps the snapshot it started with. An old
 * snapshot is closed when its last request is over.
 *
 * @module
 */
import type { CurrentService, SelectionService } from '../selection/answer.js'

/** A snapshot with the workers that hold it. */
export interface OpenSnapshot {
  /** At the newest moment. */
  readonly service: SelectionService
  /** Resolves when nothing touches its memory any more. */
  close(): Promise<void>
}

export interface CurrentSnapshot<Open extends OpenSnapshot = OpenSnapshot> extends CurrentService {
  readonly newest: Open
  /**
   * Gives all who come from now on the next one.
   *
   * @returns what resolves when nobody holds the old one, and it is closed
   */
  switchTo(next: Open): { readonly released: Promise<void> }
  /** Closes old ones whoever holds them; what these still ask is refused as Unavailable. */
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
