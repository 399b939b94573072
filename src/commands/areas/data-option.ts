/**
 * The data directory of a command of areas.
 *
 * @module
 */
import type { CommandContext } from '../context.js'
import { assertThere } from '../existing-directory.js'

export const DATA_OPTION = [
  '--data <DIR>',
  'data directory (HICKORY_DATA; default ./data/local)',
] as const

export interface DataFlag {
  readonly data?: string
}

/** @throws OperatorError  Usage for one that is not there */
export function existingData(context: CommandContext, { data }: DataFlag): string {
  const dataDirectory = context.dataDirectory(data)
  assertThere(dataDirectory)
  return dataDirectory
}
