/**
 * What the thread of a cluster tells of itself, in memory that all threads of the service read.
 *
 * @module
 */

/** Its memory, as it crosses threads. */
export const createFigures = (): Float64Array => new Float64Array(new SharedArrayBuffer(8 * 3))

/** Until when the machine is level, by `monotonicMs`. */
export function levelUntilMs(memory: Float64Array): number {
  return memory[0]
}

/** Whether an operator wants that the machine gets no requests. */
export function isDraining(memory: Float64Array): boolean {
  return memory[1] === 1
}

/** By what all front threads answer: one that answers by less has gone back. */
export function answeredSequence(memory: Float64Array): number {
  return memory[2]
}

export function writeFigures(
  memory: Float64Array,
  figures: {
    readonly levelUntilMs: number
    readonly isDraining: boolean
    readonly answeredSequence: number
  },
): void {
  memory[0] = figures.levelUntilMs
  memory[1] = figures.isDraining ? 1 : 0
  memory[2] = figures.answeredSequence
}
