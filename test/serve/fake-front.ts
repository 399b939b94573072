import type { Front } from '../../src/serve/fronts.js'
import type { SnapshotCalls, SnapshotNews } from '../../src/serve/messages.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'

/** What a front thread does when the main thread switches to another snapshot. */
export class FakeFront {
  readonly calls: string[] = []
  readonly held: Snapshot[]
  readonly news: SnapshotNews[] = []
  /** Why it cannot start workers for a snapshot. */
  refusal: (id: string) => string | undefined = () => undefined
  /** Whether a request reads what was served before. */
  isRead = false
  breaksAtSwitch = false
  onPrepare: (id: string) => unknown = () => {}
  #prepared: Snapshot | undefined
  #released: Promise<void> = Promise.resolve()
  #release = () => {}

  constructor(first: Snapshot) {
    this.held = [first]
  }

  get thread(): Pick<Front, 'ask' | 'tell'> {
    const ask: Partial<SnapshotCalls> = {
      prepare: async (snapshot) => {
        this.calls.push('prepare')
        await this.onPrepare(snapshot.id)
        const refusal = this.refusal(snapshot.id)
        if (refusal !== undefined) throw new Error(refusal)
        this.#prepared = snapshot
      },
      discard: async () => {
        this.calls.push('discard')
        this.#prepared = undefined
      },
      switch: async () => {
        this.calls.push('switch')
        if (this.breaksAtSwitch) throw new Error('it cannot switch')
        if (this.#prepared === undefined) throw new Error('nothing is prepared')
        this.held.push(this.#prepared)
        this.#prepared = undefined
        this.#released = new Promise((resolve) => {
          this.#release = resolve
        })
        if (!this.isRead) this.release()
      },
      untilReleased: () => this.#released,
    }
    const tell = {
      breakOff: () => {
        this.calls.push('breakOff')
        this.release()
      },
      knowSnapshots: (news: SnapshotNews) => void this.news.push(news),
    }
    return { ask, tell } as Pick<Front, 'ask' | 'tell'>
  }

  /** Requests that read what was served before are over. */
  release(): void {
    this.isRead = false
    this.#release()
  }
}
