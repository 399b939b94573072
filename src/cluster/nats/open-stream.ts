/**
 * Streams and buckets in as many copies as the servers of NATS can have.
 *
 * @module
 */
import { JetStreamApiError } from '@nats-io/jetstream'

/** Three where there are as many servers. */
const COPIES = [3, 1] as const

/** A single server, or too few that have JetStream. */
const TOO_FEW_SERVERS: readonly number[] = [10005, 10074]

/**
 * @param open  makes it with so many copies, or opens it where it is
 * @param leastCount  so few are enough
 * @throws JetStreamApiError, and what the library throws where there is no JetStream
 */
export async function inCopies<T>(
  open: (copyCount: number) => Promise<T>,
  leastCount = 1,
): Promise<T> {
  const counts = COPIES.filter((count) => count >= leastCount)
  for (const copyCount of counts) {
    try {
      return await open(copyCount)
    } catch (fault) {
      const isLast = copyCount === counts.at(-1)
      if (isLast || !(fault instanceof JetStreamApiError)) throw fault
      if (!TOO_FEW_SERVERS.includes(fault.apiError().err_code)) throw fault
    }
  }
  throw new Error('there is a last number of copies')
}

/** Whether there is one of this name with other settings, which then are kept. */
export function isThereOtherwise(fault: unknown): boolean {
  return fault instanceof JetStreamApiError && fault.apiError().err_code === NAME_IN_USE
}

const NAME_IN_USE = 10058
