/**
 * Who should be there: a plain map for each source, and the batches of changes in their order.
 *
 * @module
 */

export interface Person {
  readonly key: string
  readonly phone: string
  readonly contact: string
  /** In hundredths of a degree. */
  readonly lng: number
  readonly lat: number
}

export type Row =
  | ({ readonly op: 'upsert' } & Person)
  | {
      readonly op: 'delete'
      readonly key: string
      readonly phone: string
      readonly contact: string
    }

export interface TakenBatch {
  readonly sourceId: number
  readonly rows: readonly Row[]
}

export type People = ReadonlyMap<string, Person>

/** Of one source in one snapshot: who is in it, and up to which batch. */
interface Base {
  readonly people: People
  readonly appliedSequence: number
}

/** Sources with keys have odd ids. */
export const hasKeys = (sourceId: number) => sourceId % 2 === 1

export function identityOf(sourceId: number, { key, phone, contact }: Omit<Person, 'lng' | 'lat'>) {
  return hasKeys(sourceId) ? key : `${phone} ${contact}`
}

export class Model {
  readonly #batches = new Map<number, TakenBatch>()
  #sequence = 0
  #knownSequence = 0
  readonly #bases = new Map<string, ReadonlyMap<number, Base>>()
  /** Of each snapshot and source, the last state that was asked for. */
  readonly #states = new Map<string, { sequence: number; people: Map<string, Person> }>()

  /** The last batch that was acknowledged. */
  get sequence(): number {
    return this.#sequence
  }

  /** The last one of which all before are known, too. */
  get knownSequence(): number {
    return this.#knownSequence
  }

  add(sequence: number, batch: TakenBatch): void {
    if (this.#batches.has(sequence)) throw new Error(`two batches have the sequence ${sequence}`)
    this.#batches.set(sequence, batch)
    this.#sequence = Math.max(this.#sequence, sequence)
    while (this.#batches.has(this.#knownSequence + 1)) this.#knownSequence++
  }

  addSnapshot(snapshotId: string, bases: ReadonlyMap<number, Base>): void {
    this.#bases.set(snapshotId, bases)
  }

  has(snapshotId: string): boolean {
    return this.#bases.has(snapshotId)
  }

  /** Who is there in a source of a snapshot, with the changes up to a batch. */
  peopleAt(snapshotId: string, sourceId: number, sequence: number): People {
    const base = this.#bases.get(snapshotId)?.get(sourceId)
    if (base === undefined) throw new Error(`nobody knows source ${sourceId} of ${snapshotId}`)
    const name = `${snapshotId} ${sourceId}`
    let state = this.#states.get(name)
    if (state === undefined || state.sequence > sequence) {
      state = { sequence: base.appliedSequence, people: new Map(base.people) }
    }
    const { people } = state
    for (let at = state.sequence + 1; at <= sequence; at++) {
      const batch = this.#batches.get(at)
      if (batch === undefined) throw new Error(`batch ${at} is in an answer, and nobody sent it`)
      if (batch.sourceId === sourceId) change(people, batch)
    }
    this.#states.set(name, { sequence: Math.max(sequence, base.appliedSequence), people })
    return people
  }
}

function change(people: Map<string, Person>, { sourceId, rows }: TakenBatch): void {
  for (const row of rows) {
    const identity = identityOf(sourceId, row)
    people.delete(identity)
    if (row.op === 'upsert') people.set(identity, row)
  }
}
