/**
 * Records of a chain and the numbered files that hold them.
 *
 * @module
 */
import { readdirSync } from 'node:fs'

/** A record, as the next one names it. */
export interface Link {
  /** 1 for the first record of a directory; 0 before it. */
  readonly sequence: number
  /** SHA-256 in hexadecimal digits; of what, the kind of the chain says. */
  readonly hash: string
}

/** Before the first record. */
export const BEGINNING: Link = { sequence: 0, hash: '0'.repeat(64) }

/** The place of a file among those of its directory, from 1 on. */
export type FileNumber = number

/** Where the last record of a chain ends. */
export interface ChainEnd {
  /** The file of the last record; 0 before the first one. */
  readonly file: FileNumber
  /** Where the last record ends in it. */
  readonly bytes: number
}

interface NumberedFiles {
  nameOf(number: FileNumber): string
  /** The numbers of the files that are there, ascending. */
  numbersIn(directory: string): FileNumber[]
}

/** `NAME-000001.SUFFIX`, `NAME-000002.SUFFIX` and so on. */
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
