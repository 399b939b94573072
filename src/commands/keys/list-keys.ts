/**
 * The keys of a data directory as a table for people, or as JSON for programs. Neither has a secret, nor
 * what the store has in its place.
 *
 * @module
 */
import { readAll } from '../../keys/change-keys.js'
import { CERTIFICATE_PLACE, dayOf } from '../../keys/key-memory.js'
import { type KeyRecord, type KeyUse, readKeyUse, stateOf } from '../../keys/key-record.js'
import type { KeyWriter } from '../../store/keys.js'
import { print } from '../output.js'

export function printKeys(keys: KeyWriter, isJson: boolean, nowMs = Date.now()): void {
  const uses = keys.uses()
  const found = readAll(keys.read().records).map(({ id, record }) =>
    record === undefined
      ? ({ name: id, state: 'damaged' } as const)
      : shown(record, readKeyUse(uses.get(id)), nowMs),
  )
  found.sort((a, b) => (a.name < b.name ? -1 : 1))
  if (isJson) print(JSON.stringify({ keys: found }))
  else if (found.length === 0) print('there is no key yet; `hickory keys create` makes one')
  else for (const line of table(found)) print(line)
}

type Shown = ReturnType<typeof shown> | { readonly name: string; readonly state: 'damaged' }

function shown(record: KeyRecord, use: KeyUse, nowMs: number) {
  const { name, scopes, createdAt, expiresAt, revokedAt, boundary, secrets } = record
  const { requestsPerSecond, rowsPerDay, concurrentLists } = record
  return {
    name,
    state: stateOf(record, nowMs),
    scopes,
    createdAt,
    expiresAt,
    revokedAt,
    hasBoundary: boundary !== undefined,
    requestsPerSecond,
    rowsPerDay,
    concurrentLists,
    certificates: record.certificates,
    certificateLastUsedAt: timeOf(use.usedMs[CERTIFICATE_PLACE], record.createdAt),
    rowsToday: use.day === dayOf(nowMs) ? use.rowCount : 0,
    secrets: secrets.map((secret) => {
      const lastUsedAt = timeOf(use.usedMs[secret.place], secret.createdAt)
      return { createdAt: secret.createdAt, endsAt: secret.endsAt, lastUsedAt }
    }),
  }
}

/** What somebody before has left in a place is not the key's own. */
function timeOf(usedMs: number, createdAt: string): string | undefined {
  return usedMs >= Date.parse(createdAt) ? new Date(usedMs).toISOString() : undefined
}

function table(found: readonly Shown[]): string[] {
  const rows = [HEADER, ...found.map(rowOf)]
  const widths = HEADER.map((_, at) => Math.max(...rows.map((row) => row[at].length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]))
      .join('  ')
      .trimEnd(),
  )
}

const HEADER = [
  'NAME',
  'STATE',
  'ENDS',
  'LAST USED',
  'OLD SECRET',
  'ROWS TODAY',
  'BOUNDS',
  'SCOPES',
]

function rowOf(key: Shown): string[] {
  if (key.state === 'damaged') return [key.name, key.state, ...HEADER.slice(2).map(() => '-')]
  const [secret, old] = key.secrets
  const bounds = [
    key.hasBoundary ? 'boundary' : '',
    key.requestsPerSecond === undefined ? '' : `${key.requestsPerSecond} requests/s`,
    key.rowsPerDay === undefined ? '' : `${key.rowsPerDay} rows/day`,
    key.concurrentLists === undefined ? '' : `${key.concurrentLists} lists`,
    key.certificates === undefined ? '' : `${key.certificates.length} certificates`,
  ]
  return [
    key.name,
    key.state,
    minuteOf(key.revokedAt ?? key.expiresAt),
    minuteOf([secret.lastUsedAt ?? '', key.certificateLastUsedAt ?? ''].sort()[1] || undefined),
    old === undefined ? '-' : `until ${minuteOf(old.endsAt)}, used ${minuteOf(old.lastUsedAt)}`,
    // Where nothing bounds them, rows are not counted.
    key.rowsPerDay === undefined ? '-' : String(key.rowsToday),
    bounds.filter((bound) => bound !== '').join(', ') || '-',
    key.scopes.join(','),
  ]
}

/** To the minute, of UTC. */
function minuteOf(time: string | undefined): string {
  return time === undefined ? '-' : `${time.slice(0, 16)}Z`
}
