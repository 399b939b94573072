/**
 * The heap of this thread in numbers. There is no way to a snapshot of a heap: that would have numbers of
 * recipients in it.
 *
 * @module
 */
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'

interface HeapFigures {
  readonly usedBytes: number
  readonly sizeBytes: number
  readonly limitBytes: number
  /** Memory of the thread outside of its heap that objects hold. */
  readonly externalBytes: number
  readonly spaces: Readonly<
    Record<string, { readonly usedBytes: number; readonly sizeBytes: number }>
  >
}

export function heapFigures(): HeapFigures {
  const statistics = getHeapStatistics()
  return {
    usedBytes: statistics.used_heap_size,
    sizeBytes: statistics.total_heap_size,
    limitBytes: statistics.heap_size_limit,
    externalBytes: statistics.external_memory,
    spaces: Object.fromEntries(
      getHeapSpaceStatistics().map(({ space_name, space_used_size, space_size }) => [
        space_name,
        { usedBytes: space_used_size, sizeBytes: space_size },
      ]),
    ),
  }
}
