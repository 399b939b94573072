/**
 * A journal of one process, with what the stream of a cluster carries of it.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { LinkCache } from '../../../src/cluster/link-cache.js'
import { prepareEntry } from '../../../src/journal/batch.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { type Groups, groupsBehind } from '../../../src/journal/groups.js'
import { JournalReader } from '../../../src/journal/reader.js'
import { JournalWriter } from '../../../src/journal/writer.js'
import { limits } from '../../../src/limits.js'
import { type Owner, temporaryDirectory } from '../../support/service/hickory.js'

export class WrittenJournal {
  readonly reader: JournalReader
  readonly #writer: JournalWriter
  readonly #links: LinkCache
  #lastId = 0

  constructor(t: Owner) {
    const directory = journalDirectory(temporaryDirectory(t))
    this.#writer = new JournalWriter({ directory })
    this.reader = new JournalReader(directory)
    this.#links = new LinkCache(() => this.reader, limits.clusterLinksCount)
    t.teardown(() => this.#writer.release())
    t.teardown(() => this.reader.close())
    this.#writer.prepare()
  }

  /** Where it ends. */
  get sequence(): number {
    return this.reader.head().sequence
  }

  /** Writes a group of records with so many bytes in each. */
  append(...byteCounts: readonly number[]): void {
    const record = (byteCount: number) =>
      prepareEntry(`entry ${this.#lastId++}`, randomBytes(byteCount))
    this.#writer.append(byteCounts.map(record))
  }

  /** As many groups as a message has. */
  behind(since: number): Groups | undefined {
    return groupsBehind(this.reader, since, limits.groupsSentBytes)
  }

  readonly beginning = () => {
    const { sequence, hash } = this.reader.head().first.after
    return { sequence, hash }
  }

  readonly linkAt = (sequence: number) => this.#links.at(sequence)
}
