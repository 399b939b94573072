/**
 * An audit directory: the files `audit-000001.jsonl`, `audit-000002.jsonl` and so on, and the head of the chain.
 * The head says which line is the last one and where it ends, so that a file that was cut short is found.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type HeadStore, openHeadStore } from '../chain/head-store.js'
import {
  BEGINNING,
  type ChainEnd,
  type FileNumber,
  type Link,
  numberedFiles,
} from '../chain/link.js'
import { limits } from '../limits.js'
import { completeLines } from './entry.js'

const files = numberedFiles('audit', 'jsonl')

export const auditFileName = files.nameOf

/** The numbers of the files that are there, ascending. */
export const auditFileNumbers = files.numbersIn

export function auditPath(directory: string, number: FileNumber): string {
  return join(directory, auditFileName(number))
}

export interface Head extends Link, ChainEnd {
  /** The UTC day on which the file was begun, such as `2026-11-22`. */
  readonly day: string
  /** The first file that is kept, and the line before it. */
  readonly first: { readonly file: FileNumber; readonly after: Link }
}

/** Before the first line. */
export const NO_HEAD: Head = {
  ...BEGINNING,
  file: 0,
  bytes: 0,
  day: '',
  first: { file: 1, after: BEGINNING },
}

/**
 * Opens the head of an audit directory that exists.
 *
 * @param mode  `write` begins a chain in a directory without one
 * @throws HeadMissing
 */
export function openHead(directory: string, mode: 'read' | 'write'): HeadStore<Head> {
  return openHeadStore<Head>(join(directory, 'head'), {
    mode,
    isNew: () => auditFileNumbers(directory).length === 0,
    mapBytes: limits.auditHeadMapBytes,
    readerCount: limits.auditHeadReaderCount,
    tables: [],
  })
}

/** A line as it was written. */
export interface AuditLine {
  readonly sequence: number
  readonly time: string
  readonly event: string
  readonly [name: string]: unknown
}

/**
 * The lines from a time on, in order, whether or not they are as they were written. What is not JSON is
 * left out: `hickory audit verify` reports it.
 *
 * @param since  in ISO 8601, UTC; by default the beginning
 */
export function* readAudit(
  directory: string,
  since = '',
): Generator<{ json: string; line: AuditLine }> {
  for (const file of auditFileNumbers(directory)) {
    for (const bytes of completeLines(readFileSync(auditPath(directory, file))).lines) {
      const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
      const line = parsed(json)
      if (line !== undefined && line.time >= since) yield { json, line }
    }
  }
}

function parsed(json: string): AuditLine | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isLine(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isLine(value: unknown): value is AuditLine {
  const { sequence, time, event } = (value ?? {}) as Record<string, unknown>
  return typeof sequence === 'number' && typeof time === 'string' && typeof event === 'string'
}
