/**
 * Tells the log of handshakes that failed: one line a second at most, with the reasons of that second. Who may
 * connect may fail as often as they like.
 *
 * @module
 */
import { setTimeout } from 'node:timers'
import { limits } from '../limits.js'
import type { Log } from '../log.js'

export class FaultLog {
  readonly #log: Log
  readonly #counts = new Map<string, number>()
  readonly #addresses = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(log: Log) {
    this.#log = log
  }

  note(reason: string, address: string | undefined): void {
    const isKnown = this.#counts.has(reason) || this.#counts.size < limits.tlsFaultsLoggedCount
    const name = isKnown ? reason : 'OTHERS'
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    if (address !== undefined && this.#addresses.size < limits.tlsFaultsLoggedCount) {
      this.#addresses.add(address)
    }
    this.#timer ??= setTimeout(() => this.write(), LINE_MS).unref()
  }

  /** Writes what is not written yet. */
  write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#counts.size === 0) return
    const failed = Object.fromEntries(this.#counts)
    this.#log.info({ failed, addresses: [...this.#addresses] }, 'TLS handshakes failed')
    this.#counts.clear()
    this.#addresses.clear()
  }
}

const LINE_MS = 1_000
