/**
 * Keeps what the journal says of the cluster beside it: now and then, and at once when whose disks count has changed. A
 * machine whose journal is damaged knows only by that whether another one has what was in it.
 *
 * @module
 */
import type { ClusterLog } from './cluster-log.js'
import { writeTail } from './state-file.js'

interface KeeperOptions {
  readonly dataDirectory: string
  readonly journal: Pick<ClusterLog, 'tail'>
  readonly onFault: (fault: unknown) => void
}

export class TailKeeper {
  readonly #options: KeeperOptions
  #membersSequence = -1
  #keeping: Promise<void> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** To be called often. */
  look(): void {
    const { membersSequence } = this.#options.journal.tail()
    if (membersSequence === this.#membersSequence) return
    this.#membersSequence = membersSequence
    void this.keep()
  }

  /** Never rejects. */
  keep(): Promise<void> {
    const { dataDirectory, journal, onFault } = this.#options
    this.#keeping = this.#keeping
      .then(() => writeTail(dataDirectory, journal.tail()))
      .catch(onFault)
    return this.#keeping
  }
}
