/**
 * What is left of changes in their order: the last one of each identity, behind the last time at which the
 * source was emptied.
 *
 * @module
 */
import type { Change, RowChange } from './change.js'

export class LastChanges {
  readonly #byIdentity = new Map<string, RowChange>()
  #isCleared = false

  /** Whether everybody goes who was there before. */
  get isCleared(): boolean {
    return this.#isCleared
  }

  /** In the order in which they were given. */
  get byIdentity(): ReadonlyMap<string, RowChange> {
    return this.#byIdentity
  }

  add(change: Change): void {
    if (change.op === 'clear') {
      this.#byIdentity.clear()
      this.#isCleared = true
      return
    }
    // So that the last one has its place, too.
    this.#byIdentity.delete(change.identity)
    this.#byIdentity.set(change.identity, change)
  }
}
