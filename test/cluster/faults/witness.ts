/**
 * The whole journal of a cluster, of which machines keep what they need: taken from whichever has it, again and again.
 *
 * @module
 */
import { decodeChanges } from '../../../src/journal/content.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { JournalReader } from '../../../src/journal/reader.js'
import { ENTRY_SOURCE } from '../../../src/journal/record.js'

/** As it was written. */
interface WitnessedBatch {
  readonly sequence: number
  readonly sourceId: number
  readonly batchId: string
  readonly content: Uint8Array
}

type Changes = ReturnType<typeof decodeChanges>

export class Witness {
  readonly #batches: WitnessedBatch[] = []
  #sequence = 0

  /**
   * Takes what is committed by now. To be called so often that no machine has been without a part since.
   *
   * @param directories  data directories, of which some may be damaged or gone
   * @throws  where none of them goes on from what is known
   */
  collect(directories: readonly string[]): void {
    const faults: string[] = []
    for (const data of directories) {
      try {
        this.#takeFrom(data)
        return
      } catch (fault) {
        faults.push(`${data}: ${(fault as Error).message}`)
      }
    }
    throw new Error(`nobody has what comes behind ${this.#sequence}: ${faults.join('; ')}`)
  }

  *read(): Generator<Omit<WitnessedBatch, 'content'> & { readonly changes: Changes }> {
    for (const { content, ...batch } of this.#batches) {
      yield { ...batch, changes: decodeChanges(content) }
    }
  }

  #takeFrom(data: string): void {
    const reader = new JournalReader(journalDirectory(data))
    try {
      for (const { sequence, sourceId, batchId, content } of reader.records(this.#sequence)) {
        this.#sequence = sequence
        if (sourceId === ENTRY_SOURCE) continue
        this.#batches.push({ sequence, sourceId, batchId, content: Uint8Array.from(content) })
      }
    } finally {
      reader.close()
    }
  }
}
