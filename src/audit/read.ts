/**
 * Reads the lines of an audit, for people.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { completeLines } from './chain.js'
import { auditFileNumbers, auditPath } from './files.js'

/** A line as it was written. */
export interface AuditLine {
  readonly sequence: number
  readonly time: string
  readonly event: string
  readonly [name: string]: unknown
}

/**
 * The lines from a time on, in order, whether or not they are as they were written. What is no JSON is
 * left out: `hickory audit verify` tells of it.
 *
 * @param since  in ISO 8601, UTC; the beginning unless given
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
