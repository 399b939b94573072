/**
 * The files of a chain: `NAME-000001.SUFFIX`, `NAME-000002.SUFFIX` and so on.
 *
 * @module
 */
import { readdirSync } from 'node:fs'

/** The place of a file among those of its directory, from 1 on. */
export type FileNumber = number

interface NumberedFiles {
  nameOf(number: FileNumber): string
  /** The numbers of the files that are there, ascending. */
  numbersIn(directory: string): FileNumber[]
}

export function numberedFiles(name: string, suffix: string): NumberedFiles {
  const nameOf = (number: FileNumber) => `${name}-${String(number).padStart(6, '0')}.${suffix}`
  const pattern = new RegExp(`^${name}-(\\d{6,12})\\.${suffix}$`)
  return {
    nameOf,
    numbersIn: (directory) =>
      readdirSync(directory)
        .flatMap((found) => {
          const digits = pattern.exec(found)?.[1]
          return digits !== undefined && nameOf(Number(digits)) === found ? [Number(digits)] : []
        })
        .sort((a, b) => a - b),
  }
}
