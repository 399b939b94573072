/**
 * Keeps what the journal says of the cluster beside it: now and then, and at once when machines have come or
 * gone, or switch to another snapshot. A machine
 * whose journal is damaged knows only by that whether another one has what was in it.
 *
 * @module
 */
import type { Facts } from './facts.js'
import { writeFacts } from './state-file.js'

interface KeeperOptions {
  readonly dataDirectory: string
  readonly facts: Facts
  /** Of what nobody waits for. */
  readonly onFault: (fault: unknown) => void
}

export class FactsKeeper {
  readonly #options: KeeperOptions
  #known = ''
  #last: Promise<void> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** To be called often. */
  look(): void {
    const { members, switchedId } = this.#options.facts
    const known = JSON.stringify([members, switchedId])
    if (known === this.#known) return
    this.#known = known
    void this.tryToKeep()
  }

  /** Never rejects. */
  tryToKeep(): Promise<void> {
    return this.keep().catch(this.#options.onFault)
  }

  /** On disk when it resolves. */
  keep(): Promise<void> {
    const { dataDirectory, facts } = this.#options
    const write = () => writeFacts(dataDirectory, facts.known())
    this.#last = this.#last.then(write, write)
    return this.#last
  }
}
