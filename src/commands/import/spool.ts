/**
 * A directory for what cannot be read twice, for as long as it is read.
 *
 * @module
 */
import { rm } from 'node:fs/promises'
import { removeOnExit } from '../../snapshot/publish/remove-on-exit.js'

/** Who reads makes the directory if need be; it is gone afterwards, and when the process is stopped. */
export async function withSpool<Result>(
  directory: string,
  use: (spoolDirectory: string) => Promise<Result>,
): Promise<Result> {
  const removal = removeOnExit(directory, true)
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
    removal.forget()
  }
}
