/**
 * What streams and buckets of JetStream have in common: how they are made and opened, and what its refusals mean.
 *
 * @module
 */
import { JetStreamApiError } from '@nats-io/jetstream'

/**
 * Three copies, or one where the servers of NATS are a single one, or too few of them have JetStream.
 *
 * @param open  makes it with so many copies, or opens it where it is
 * @param isOneEnough  whether it may have one
 * @throws JetStreamApiError, and what the library throws where there is no JetStream
 */
export async function inCopies<T>(
  open: (copyCount: number) => Promise<T>,
  isOneEnough = true,
): Promise<T> {
  try {
    return await open(3)
  } catch (fault) {
    if (!isOneEnough || !refuses(fault, ...TOO_FEW_SERVERS)) throw fault
  }
  return await open(1)
}

const TOO_FEW_SERVERS = [10005, 10074] as const

/** Whether JetStream says one of these codes. */
export function refuses(fault: unknown, ...codes: readonly number[]): boolean {
  return fault instanceof JetStreamApiError && codes.includes(fault.code)
}
