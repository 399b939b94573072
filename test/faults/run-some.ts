/**
 * Work that is done two pieces at a time, as many as there are cores in the smallest machine.
 *
 * @module
 */

/** Calls `work` for each value, and returns what it found wrong, in order. */
export async function findFaults<T>(
  values: readonly T[],
  work: (value: T) => Promise<string | undefined>,
): Promise<string[]> {
  const faults: (string | undefined)[] = []
  let next = 0
  const lane = async () => {
    while (next < values.length) {
      const at = next++
      faults[at] = await work(values[at])
    }
  }
  await Promise.all(Array.from({ length: LANE_COUNT }, lane))
  return faults.filter((fault) => fault !== undefined)
}

const LANE_COUNT = 2
