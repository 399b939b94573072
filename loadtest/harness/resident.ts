/**
 * The memory of a server while something is done to it.
 *
 * @module
 */
import type { ServerProcess } from './processes.js'
import { formatCount } from './table.js'

/** In bytes; 0 where the system does not tell. */
export interface Resident {
  readonly beforeBytes: number
  readonly peakBytes: number
  readonly afterBytes: number
}

/** Looks every tenth of a second until the work is done, and after it. */
export async function watchResident<Result>(
  server: ServerProcess,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly resident: Resident }> {
  const beforeBytes = server.residentBytes() ?? 0
  let peakBytes = beforeBytes
  const look = () => {
    const bytes = server.residentBytes() ?? 0
    peakBytes = Math.max(peakBytes, bytes)
    return bytes
  }
  const looking = setInterval(look, LOOK_MS)
  try {
    const result = await work()
    const afterBytes = look()
    return { result, resident: { beforeBytes, peakBytes, afterBytes } }
  } finally {
    clearInterval(looking)
  }
}

export function describeResident({ beforeBytes, peakBytes, afterBytes }: Resident): string {
  if (peakBytes === 0) return 'resident unknown'
  const [before, peak, after] = [beforeBytes, peakBytes, afterBytes].map((bytes) =>
    formatCount(bytes / 1e6),
  )
  return `resident ${before} MB before, ${peak} MB at most, ${after} MB after`
}

const LOOK_MS = 100
