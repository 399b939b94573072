/**
 * What was published in a data directory, by the rules that the documentation gives.
 *
 * @module
 */

/** An import of one source. */
export interface Put {
  readonly sourceId: number
  /** Rows of the same version and number are the same. */
  readonly version: number
  readonly goodCount: number
  readonly badCount: number
  readonly flags: readonly string[]
}

interface Counted {
  readonly recipientCount: number
  readonly version: number
}

interface Published {
  readonly counts: ReadonlyMap<number, Counted>
  /** Of each source that is or was there: how many it had when it was good last, and if it is. */
  readonly trust: ReadonlyMap<number, { readonly goodCount: number; readonly isGood: boolean }>
  readonly parentId: string | undefined
}

export const phoneOf = (sourceId: number, at: number) => `+999${sourceId}${10_000 + at}`

export class Publications {
  readonly #published = new Map<string, Published>()
  currentId: string | undefined

  has(id: string): boolean {
    return this.#published.has(id)
  }

  get current(): Published | undefined {
    return this.currentId === undefined ? undefined : this.#published.get(this.currentId)
  }

  /** The current one and those that it was made from, the newest first. */
  get lineage(): string[] {
    const ids: string[] = []
    let id = this.currentId
    while (id !== undefined) {
      ids.push(id)
      id = this.#published.get(id)?.parentId
    }
    return ids
  }

  /**
   * Of the snapshots that the current one was made from. Whoever goes back to one that was forced may go
   * past all that are there; then the newest good one is.
   *
   * @param ids  of those that are there
   */
  lastGood(ids: readonly string[]): string | undefined {
    const isGoodId = (id: string) => isGood(this.#published.get(id))
    const nearest = this.lineage.find(isGoodId)
    const newest = [...this.#published.keys()].filter(isGoodId).at(-1)
    if (newest === undefined || !ids.includes(newest)) return nearest ?? newest
    return this.lineage.find((id) => isGoodId(id) && ids.includes(id)) ?? newest
  }

  publish(id: string | undefined, next: Published): void {
    if (id === undefined || this.#published.has(id)) throw new Error(`${id} is no new snapshot`)
    this.#published.set(id, next)
    this.currentId = id
  }

  goTo(id: string): void {
    this.currentId = id
  }

  /** From now on, all that is in the current one is good. */
  accept(): void {
    const { current, currentId } = this
    if (current === undefined || currentId === undefined || isGood(current)) return
    const trust = [...current.counts].map(([id, { recipientCount }]) => {
      return [id, { goodCount: recipientCount, isGood: true }] as const
    })
    this.#published.set(currentId, { ...current, trust: new Map(trust) })
  }

  /** How an import must end, and what it must publish; nothing if that is refused or unchanged. */
  expect(put: Put): { readonly code: number; readonly next?: Published } {
    const { sourceId, goodCount, badCount, flags, version } = put
    const { counts = new Map(), trust = new Map() } = this.current ?? {}
    const held = counts.get(sourceId)
    const heldCount = held?.recipientCount ?? 0
    const lastCount = trust.get(sourceId)?.goodCount ?? 0
    const rowCount = goodCount + badCount
    const isEmptied = flags.includes('--allow-empty')
    const isEmpty = held !== undefined && heldCount === 0
    if (rowCount === 0 && !isEmpty && !isEmptied) return { code: 5 }
    const isBad = badCount * 100 > rowCount
    const isShrunk = (heldCount - goodCount) * 10 > heldCount
    const isLess = (lastCount - goodCount) * 10 > lastCount
    const isForcing = flags.includes('--max-shrink')
    if (!isForcing && (isBad || (isShrunk && !isEmptied))) return { code: 11 }
    const isSame = held !== undefined && heldCount === goodCount && held.version === version
    const isStillEmpty = held !== undefined && heldCount === 0 && goodCount === 0
    if (isSame || isStillEmpty) return { code: 0 }
    const isGood = !isBad && !isShrunk && !isLess
    const next = {
      counts: new Map(counts).set(sourceId, { recipientCount: goodCount, version }),
      trust: new Map(trust).set(sourceId, { goodCount: isGood ? goodCount : lastCount, isGood }),
      parentId: this.currentId,
    }
    return { code: 0, next }
  }

  /** What a removal must publish; undefined if it is refused. */
  without(sourceId: number): Published | undefined {
    const { current, currentId } = this
    const held = current?.counts.get(sourceId)
    if (current === undefined || held === undefined || current.counts.size === 1) return undefined
    const counts = new Map(current.counts)
    const trust = new Map(current.trust)
    const goodCount = trust.get(sourceId)?.goodCount ?? 0
    counts.delete(sourceId)
    if (held.recipientCount === 0 && goodCount === 0) trust.delete(sourceId)
    else trust.set(sourceId, { goodCount, isGood: false })
    return { counts, trust, parentId: currentId }
  }
}

function isGood(published: Published | undefined): boolean {
  return published !== undefined && [...published.trust.values()].every(({ isGood }) => isGood)
}
