/**
 * What the thread of changes tells of itself, in memory that the main thread reads.
 *
 * @module
 */

/** Its memory, as it crosses threads. */
export const createFigures = (): Float64Array => new Float64Array(new SharedArrayBuffer(8 * 3))

interface Figures {
  /** Of the last batch of the journal. */
  readonly journalSequence: number
  /** Of the last batch that is in answers about the newest snapshot. */
  readonly sequence: number
  /** Recipients that came to that snapshot, or went from it. */
  readonly changeCount: number
}

export function writeFigures(memory: Float64Array, figures: Figures): void {
  memory.set([figures.journalSequence, figures.sequence, figures.changeCount])
}

export function readFigures([journalSequence, sequence, changeCount]: Float64Array): Figures {
  return { journalSequence, sequence, changeCount }
}
