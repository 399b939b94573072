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

/** Whether this machine writes. */
export function isWriter(memory: Float64Array): boolean {
  return memory[1] === 1
}

/** Whether an operator wants that the machine gets no requests. */
export function isDraining(memory: Float64Array): boolean {
  return memory[2] === 1
}

export function writeFigures(
  memory: Float64Array,
  figures: {
    readonly levelUntilMs: number
    readonly isWriter: boolean
    readonly isDraining: boolean
  },
): void {
  memory[0] = figures.levelUntilMs
  memory[1] = figures.isWriter ? 1 : 0
  memory[2] = figures.isDraining ? 1 : 0
}
