/**
 * What becomes of batches that came together, by the batches before them.
 *
 * @module
 */
import type { PreparedBatch } from './batch.js'
import type { KnownBatches } from './known-batches.js'

/**
 * What became of a batch:
 * - `written`: it is on disk.
 * - `repeated`: it was there already, with this sequence.
 * - `conflicting`: another batch with its id was there already, with this sequence. It is not written.
 */
export interface BatchOutcome {
  readonly kind: 'written' | 'repeated' | 'conflicting'
  readonly sequence: number
}

/** What is to become of the batches; of several new ones with the same id the first is written. */
export function sortedBatches(
  batches: readonly PreparedBatch[],
  knownBatches: KnownBatches,
  last: number,
) {
  const fresh: PreparedBatch[] = []
  const here = new Map<string, { readonly sequence: number; readonly digest: Uint8Array }>()
  const outcomes = batches.map((batch): BatchOutcome => {
    const { key, digest } = batch
    const sequence = knownBatches.find(key)
    if (sequence !== undefined) return sentAgain(sequence, knownBatches.hasDigest(sequence, digest))
    const twin = here.get(key)
    if (twin !== undefined) {
      return sentAgain(twin.sequence, Buffer.compare(twin.digest, digest) === 0)
    }
    fresh.push(batch)
    const next = last + fresh.length
    here.set(key, { sequence: next, digest })
    return { kind: 'written', sequence: next }
  })
  return { outcomes, fresh }
}

function sentAgain(sequence: number, isSame: boolean): BatchOutcome {
  return { kind: isSame ? 'repeated' : 'conflicting', sequence }
}
