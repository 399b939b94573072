/**
 * The files of an audit directory: `audit-000001.jsonl`, `audit-000002.jsonl` and so on, and the head of
 * the chain beside them.
 *
 * @module
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The place of a file among those of its directory, from 1 on. */
export type FileNumber = number

export function auditFileName(number: FileNumber): string {
  return `audit-${String(number).padStart(6, '0')}.jsonl`
}

export function auditPath(directory: string, number: FileNumber): string {
  return join(directory, auditFileName(number))
}

/** The numbers of the files that are there, ascending. */
export function auditFileNumbers(directory: string): FileNumber[] {
  return readdirSync(directory)
    .flatMap((name) => {
      const digits = FILE_NAME.exec(name)?.[1]
      return digits !== undefined && auditFileName(Number(digits)) === name ? [Number(digits)] : []
    })
    .sort((a, b) => a - b)
}

const FILE_NAME = /^audit-(\d{6,12})\.jsonl$/

/** Where the head of the chain is kept. */
export function headDirectory(directory: string): string {
  return join(directory, 'head')
}
