/**
 * What the thread of a cluster tells of itself, in memory that all threads of the service read.
 *
 * @module
 */

/** Its memory, as it crosses threads. */
export const createFigures = (): Float64Array => new Float64Array(new SharedArrayBuffer(8 * 4))

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

/** How often this machine has begun to write, or ceased to. */
export function roleChangeCount(memory: Float64Array): number {
  return memory[3]
}

export function writeFigures(
  memory: Float64Array,
  figures: {
    readonly levelUntilMs: number
    readonly isWriter: boolean
    readonly isDraining: boolean
    readonly roleChangeCount: number
  },
): void {
  memory[0] = figures.levelUntilMs
  memory[1] = figures.isWriter ? 1 : 0
  memory[2] = figures.isDraining ? 1 : 0
  memory[3] = figures.roleChangeCount
}
