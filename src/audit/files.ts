/**
 * The files of an audit directory: `audit-000001.jsonl`, `audit-000002.jsonl` and so on, and the head of
 * the chain beside them.
 *
 * @module
 */
import { join } from 'node:path'
import { type FileNumber, numberedFiles } from '../chain/numbered-files.js'

const files = numberedFiles('audit', 'jsonl')

export const auditFileName = files.nameOf

/** The numbers of the files that are there, ascending. */
export const auditFileNumbers = files.numbersIn

export function auditPath(directory: string, number: FileNumber): string {
  return join(directory, auditFileName(number))
}

/** Where the head of the chain is kept. */
export function headDirectory(directory: string): string {
  return join(directory, 'head')
}
