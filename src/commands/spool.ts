/**
 * A directory for what cannot be read twice, for as long as it is read.
 *
 * @module
 */
import { rm } from 'node:fs/promises'

/** The argument that stands for standard input. */
export const STANDARD_INPUT = '-'

/** Who reads makes the directory if need be; it is gone afterwards. */
export async function withSpool<Result>(
  directory: string,
  use: (spoolDirectory: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
