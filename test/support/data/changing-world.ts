/**
 * A data directory in which some sources change by batches, imports and compactions, and a map of everybody.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { type Change, identityOf } from '../../../src/changes/change.js'
import { prepareBatch } from '../../../src/journal/batch.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { summaryOfJournal } from '../../../src/journal/summary.js'
import { JournalWriter } from '../../../src/journal/writer.js'
import type { Random } from '../random/world.js'
import { hickoryHere } from '../service/command-line.js'
import { personOf } from './people.js'

/** Whether recipients of each source have keys. */
const SOURCES: ReadonlyMap<number, boolean> = new Map([
  [1, true],
  [2, false],
  [7, true],
])
/** Of different people; few, so that many changes are of somebody who is there. */
const PERSON_COUNT = 40

export class ChangingWorld {
  readonly data: string
  readonly people = new Map<number, Map<string, string>>()
  readonly #random: Random
  readonly #sent: ReturnType<typeof prepareBatch>[] = []

  constructor(data: string, random: Random) {
    this.data = data
    this.#random = random
  }

  get batchCount(): number {
    return this.#sent.length
  }

  /** All sources. */
  async begin(): Promise<void> {
    for (const id of SOURCES.keys()) await this.#import(id)
  }

  async step(): Promise<string> {
    const chance = this.#random.unit()
    if (chance < 0.6) return await this.append()
    if (chance < 0.7) return await this.#import(this.#source())
    const code = await this.compact()
    if (code !== 0) throw new Error(`a compaction ended with ${code}`)
    return 'compaction'
  }

  async compact(...args: readonly string[]): Promise<number | null> {
    const { code, stderr } = await hickoryHere('compact', '--quiet', '--data', this.data, ...args)
    if (code !== 0) throw new Error(stderr)
    return code
  }

  /** Each batch, whether or not it is still in the journal. */
  async sendAgain(t: { equal: (found: unknown, wanted: unknown) => void }): Promise<void> {
    const { lastSequence } = summaryOfJournal(journalDirectory(this.data)) ?? {}
    await this.#write((writer) => {
      const outcomes = writer.append(this.#sent)
      t.equal(outcomes.filter(({ kind }) => kind === 'repeated').length, this.#sent.length)
    })
    t.equal(summaryOfJournal(journalDirectory(this.data))?.lastSequence, lastSequence)
  }

  async append(): Promise<string> {
    const count = this.#random.between(1, 4)
    const batches = Array.from({ length: count }, (_, at) => {
      const sourceId = this.#source()
      const changes = Array.from({ length: this.#random.between(1, 6) }, () =>
        this.#change(sourceId),
      )
      return prepareBatch({ sourceId, batchId: `b${this.#sent.length + at}`, changes })
    })
    this.#sent.push(...batches)
    await this.#write((writer) => writer.append(batches))
    return `${count} batches`
  }

  async #write(work: (writer: JournalWriter) => unknown): Promise<void> {
    const writer = new JournalWriter({ directory: journalDirectory(this.data), fileBytes: 1_500 })
    try {
      work(writer)
    } finally {
      await writer.release()
    }
  }

  #change(sourceId: number): Change {
    const own = this.people.get(sourceId) as Map<string, string>
    const chance = this.#random.unit()
    if (chance < 0.02) {
      own.clear()
      return { op: 'clear' }
    }
    const { key, phone, lng, lat, contact } = this.#person(sourceId)
    const identity = key ?? identityOf(phone, contact)
    own.delete(identity)
    if (chance < 0.3) return { op: 'delete', identity }
    own.set(identity, personOf({ phone, lng, lat, contact }))
    return { op: 'upsert', identity, key, phone, lng, lat, contact }
  }

  async #import(id: number): Promise<string> {
    const hasKeys = SOURCES.get(id)
    const own = new Map<string, string>()
    const rows: string[] = []
    for (let count = this.#random.between(1, PERSON_COUNT); count > 0; count--) {
      const { key, phone, lng, lat, contact } = this.#person(id)
      const identity = key ?? identityOf(phone, contact)
      if (own.has(identity)) continue
      own.set(identity, personOf({ phone, lng, lat, contact }))
      rows.push(`${phone},${lat / 1e7},${lng / 1e7},${contact},${key ?? ''}\n`)
    }
    this.people.set(id, own)
    const file = `${this.data}.csv`
    writeFileSync(file, `number,lat,lng,contact,id\n${rows.join('')}`)
    const args = ['--data', this.data, '--source', `${id}`, '--label', 'x', '--max-shrink', '100%']
    const keys = hasKeys ? ['--key', 'id'] : []
    const { code, stderr } = await hickoryHere('import', '--quiet', ...args, ...keys, file)
    if (code !== 0) throw new Error(stderr)
    return `import of ${id}`
  }

  #source(): number {
    return [...SOURCES.keys()][this.#random.between(0, SOURCES.size - 1)]
  }

  #person(sourceId: number) {
    const number = this.#random.between(1, PERSON_COUNT)
    const place = () => this.#random.between(1, 80) * 1e7
    const key = SOURCES.get(sourceId) ? `k${number}` : undefined
    // With a key, number and contact are free.
    const named = key === undefined ? number : this.#random.between(1, 5)
    const contact = named % 3 === 0 ? '' : `c${named}`
    return { key, phone: `+9995550${named}`, contact, lng: place(), lat: place() }
  }
}
