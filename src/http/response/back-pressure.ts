/**
 * The times at which the socket of an answer has no room. Whoever writes the answer waits, and its reader
 * is watched.
 *
 * @module
 */
import { Deferred } from '../deferred.js'
import type { EngineResponse } from '../engine/engine.js'
import { type ReaderRules, ReaderWatch, TOO_SLOW, waitAnew } from './reader-watch.js'

interface Connection {
  readonly native: Pick<EngineResponse, 'pause' | 'resume'>
  readonly readerRules: ReaderRules
  /** Called when the reader takes too long. */
  cutOff(reason?: string): void
}

export class BackPressure {
  readonly #connection: Connection
  #waiting: Deferred<void> | undefined
  #watch: ReaderWatch | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get isOn(): boolean {
    return this.#waiting !== undefined
  }

  /** Resolves when there is room, or will never be. */
  get over(): Promise<void> {
    return this.#waiting?.promise ?? Promise.resolve()
  }

  /**
   * There is no room, or again none for all that waits.
   *
   * @param takenBytes  of the whole answer so far
   */
  waits(takenBytes: number): void {
    this.#waiting ??= new Deferred()
    this.#watch ??= new ReaderWatch(this.#connection.readerRules, {
      waitAnew: () => waitAnew(this.#connection.native),
      cutOff: () => this.#connection.cutOff(TOO_SLOW),
    })
    this.#watch.goesOn()
    this.#watch.waits(takenBytes)
  }

  /** There is room. */
  resume(): void {
    this.#watch?.goesOn()
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  /** The answer is over. */
  end(): void {
    this.#watch?.end()
    this.resume()
  }
}
