/**
 * Prints lines of an audit for people, or as they were written.
 *
 * @module
 */
import { type AuditLine, readAudit } from '../../audit/directory.js'
import { OperatorError } from '../../errors.js'
import { print, roomToPrint } from '../output.js'
import { formatTable } from '../table.js'

export interface ShowFlags {
  readonly since?: string
  readonly operation?: string
  readonly key?: string
  readonly json?: true
}

export async function showAudit(directory: string, flags: ShowFlags): Promise<void> {
  const { since, operation, key, json } = flags
  const isMeant = (line: AuditLine) =>
    (operation === undefined || namesOf(line).includes(operation)) &&
    (key === undefined || line.keyName === key)
  let rows: string[][] = []
  let shownCount = 0
  // The line that ended names less than the one that began.
  const begun = new Set<unknown>()
  for (const { json: text, line } of readAudit(directory, since && sinceOf(since, Date.now()))) {
    if (!isMeant(line) && !begun.has(line.begun)) continue
    begun.add(line.sequence)
    if (json === true) print(text)
    else rows.push(rowOf(line))
    // In pieces, since an audit may be larger than memory.
    if (++shownCount % PIECE_ROW_COUNT === 0) {
      printRows(rows)
      rows = []
      await roomToPrint()
    }
  }
  if (json !== true) printRows(rows)
}

/** @throws OperatorError  Usage */
function sinceOf(text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (unit !== undefined)
    return new Date(nowMs - Number(count) * UNIT_MS[unit as Unit]).toISOString()
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const ms = isTime ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new OperatorError(
    'Usage',
    `--since is 90s, 30m, 2h or 7d, or a time such as 2026-11-22T18:00Z, not "${text}"`,
  )
}

type Unit = keyof typeof UNIT_MS
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const PIECE_ROW_COUNT = 1_000

function printRows(rows: readonly string[][]): void {
  if (rows.length > 0) for (const line of formatTable(HEADS, rows)) print(line)
}

const HEADS = ['<time', 'line', '<what', '<of', '<key', '<address', 'rows', '<outcome', '<request']

function namesOf({ event, operation, command }: AuditLine): readonly unknown[] {
  return [event, operation, command]
}

function rowOf(line: AuditLine): string[] {
  const { sequence, time, event, phase, operation, command, begun } = line
  return [
    time,
    String(sequence),
    [event, phase].filter(Boolean).join(' '),
    textOf(operation ?? command ?? (begun === undefined ? undefined : `line ${begun}`)),
    textOf(line.keyName),
    textOf(line.address),
    textOf(line.rowCount),
    [line.outcome, line.reason].filter(Boolean).map(textOf).join(': '),
    textOf(line.requestId),
  ]
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}
