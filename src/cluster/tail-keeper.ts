/**
 * Keeps what the journal says of the cluster beside it: now and then, and at once when whose disks count has changed. A
 * machine whose journal is damaged knows only by that whether another one has what was in it.
 *
 * @module
 */
import { type LogTail, writeTail } from './state-file.js'

interface KeeperOptions {
  readonly dataDirectory: string
  readonly tail: () => LogTail
  /** Of the last entry that says whose disks count, committed. */
  readonly membersSequence: () => number
  /** Of what nobody waits for. */
  readonly onFault: (fault: unknown) => void
}

export class TailKeeper {
  readonly #options: KeeperOptions
  #membersSequence = -1
  #last: Promise<void> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** To be called often. */
  look(): void {
    const membersSequence = this.#options.membersSequence()
    if (membersSequence === this.#membersSequence) return
    this.#membersSequence = membersSequence
    void this.tryToKeep()
  }

  /** Never rejects. */
  tryToKeep(): Promise<void> {
    return this.keep().catch(this.#options.onFault)
  }

  /** On disk when it resolves. */
  keep(): Promise<void> {
    const { dataDirectory, tail } = this.#options
    const write = () => writeTail(dataDirectory, tail())
    this.#last = this.#last.then(write, write)
    return this.#last
  }
}
