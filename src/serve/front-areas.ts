/**
 * The gazetteer as a front thread has it.
 *
 * @module
 */
import { type Gazetteer, openVersion } from '../gazetteer/gazetteer.js'
import { limits } from '../limits.js'

export class FrontAreas {
  readonly #dataDirectory: string
  readonly #releaseMs: number
  #current: Gazetteer | undefined
  /** Replaced, and perhaps still read by requests that began with them. */
  readonly #old = new Map<Gazetteer, NodeJS.Timeout>()

  constructor(dataDirectory: string, releaseMs = limits.gazetteerReleaseMs) {
    this.#dataDirectory = dataDirectory
    this.#releaseMs = releaseMs
  }

  /** A request asks once, and keeps what it gets. Undefined where there is none. */
  current(): Gazetteer | undefined {
    return this.#current
  }

  /**
   * Opens a version that the main thread has verified, and answers from it.
   *
   * @throws  where it cannot be opened; the one before stays then
   */
  take(version: string): void {
    const last = this.#current
    if (last?.version === version) return
    this.#current = openVersion(this.#dataDirectory, version)
    if (last === undefined) return
    const timer = setTimeout(() => {
      this.#old.delete(last)
      void last.close()
    }, this.#releaseMs)
    this.#old.set(last, timer.unref())
  }

  async close(): Promise<void> {
    for (const timer of this.#old.values()) clearTimeout(timer)
    const all = [...this.#old.keys(), ...(this.#current === undefined ? [] : [this.#current])]
    this.#old.clear()
    await Promise.all(all.map((each) => each.close()))
  }
}
