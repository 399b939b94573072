/**
 * Tells the log of requests that were refused for their keys: one line a second at most, with the counts
 * of that second. No key is in it, but the names of keys that were right and may not do that.
 *
 * Why a request was refused: `missing`: it has no key; `slowed`: its address sends wrong ones; `query`: there is a
 * key in its address; `scope`: the key may do other things; `rate`: it asks too often; for the others see
 * `Verdict`.
 *
 * @module
 */
import { setTimeout } from 'node:timers'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { KeyRefusal } from '../metrics/table.js'

export class RefusalLog {
  readonly #log: Log
  readonly #counts = new Map<KeyRefusal, number>()
  readonly #keyNames = new Set<string>()
  #isDue = false

  constructor(log: Log) {
    this.#log = log
  }

  note(why: KeyRefusal, keyName: string | undefined): void {
    this.#counts.set(why, (this.#counts.get(why) ?? 0) + 1)
    if (keyName !== undefined && this.#keyNames.size < limits.refusedKeysLoggedCount) {
      this.#keyNames.add(keyName)
    }
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => this.#write(), LINE_MS).unref()
  }

  #write(): void {
    const keyNames = [...this.#keyNames]
    this.#log.warn(
      { refused: Object.fromEntries(this.#counts), ...(keyNames.length > 0 && { keyNames }) },
      'requests were refused for their keys',
    )
    this.#counts.clear()
    this.#keyNames.clear()
    this.#isDue = false
  }
}

const LINE_MS = 1_000
