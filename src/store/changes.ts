/**
 * Changes to the configuration, to contexts and to their counts, each whole or not at all. They are plain data, since the
 * main thread makes them for others.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import type { CountMode } from '../interface/count-mode.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { ContextHeader, WrittenContext } from './documents.js'
import { assertOfNoCluster, hashOf, META, type Tables } from './tables.js'

export type Change =
  | { readonly kind: 'configuration'; readonly json: string; readonly countMode: CountMode }
  | {
      readonly kind: 'context'
      readonly context: WrittenContext
      readonly mayReplace: boolean
    }
  | { readonly kind: 'deleteContext'; readonly id: string }
  /** Shapes that are in no context any more are ignored. */
  | {
      readonly kind: 'counts'
      readonly counts: readonly { readonly shapeHash: string; readonly json: string }[]
    }

/** A fault is a value, since an error loses its code between threads. */
export type ChangeOutcome = { readonly isMade: true } | NotMade

export interface NotMade {
  readonly isMade: false
  readonly code: ServiceErrorCode
  readonly message: string
  readonly field: string | undefined
}

/** All contexts together. */
interface Totals {
  readonly contextCount: number
  readonly areaCount: number
  readonly documentBytes: number
}

/** Makes a change; it is on disk when this returns. A fault of the disk is logged here. */
export function makeChange(tables: Tables, change: Change, log: Log): ChangeOutcome {
  try {
    // If LMDB has failed, reading says so, while beginning a change would end the process.
    tables.refresh()
    readTotals(tables)
    tables.transact(() => {
      if (change.kind !== 'counts') assertOfNoCluster(tables)
      applyChange(tables, change)
    })
    return { isMade: true }
  } catch (fault) {
    return notMade(fault, change.kind, log)
  }
}

/** Why a change was not made; a fault of the disk is logged here. */
export function notMade(fault: unknown, kind: string, log: Log): NotMade {
  if (fault instanceof ServiceError) {
    return { isMade: false, code: fault.code, message: fault.message, field: fault.field }
  }
  // The engine's own message quotes the text, which may hold phones.
  const reason = fault instanceof SyntaxError ? 'a record is not JSON' : (fault as Error).message
  log.error({ kind, reason }, 'a change cannot be stored')
  return { isMade: false, ...NOT_STORED, field: undefined }
}

const NOT_STORED = {
  code: 'Unavailable',
  message: 'the change could not be stored; the log of the service says why',
} as const

export function readTotals({ meta }: Tables): Totals {
  const text = meta.get(META.totals)
  return text === undefined
    ? { contextCount: 0, areaCount: 0, documentBytes: 0 }
    : (JSON.parse(text) as Totals)
}

/** To be called within a transaction. */
export function applyChange(tables: Tables, change: Change): void {
  switch (change.kind) {
    case 'configuration':
      tables.documents.put('configuration', Buffer.from(change.json))
      tables.meta.put(META.countMode, change.countMode)
      tables.meta.put(META.configurationVersion, hashOf(change.json))
      break
    case 'context':
      putContext(tables, change.context, change.mayReplace)
      break
    case 'deleteContext':
      deleteContext(tables, change.id)
      break
    case 'counts':
      for (const { shapeHash, json } of change.counts) {
        if (isUsed(tables, shapeHash)) tables.counts.put(shapeHash, json)
      }
      break
  }
}

function putContext(tables: Tables, context: WrittenContext, mayReplace: boolean): void {
  const { id, json, header, shapeHashes } = context
  const replaced = headerOf(tables, id)
  if (replaced !== undefined && !mayReplace) {
    throw new ServiceError('AlreadyExists', 'there is a context with this Id already', 'Id')
  }
  addToTotals(tables, header, replaced)
  tables.contexts.put(id, Buffer.from(json))
  tables.headers.put(id, JSON.stringify(header))
  replaceShapes(tables, id, shapeHashes)
}

function deleteContext(tables: Tables, id: string): void {
  const deleted = headerOf(tables, id)
  if (deleted === undefined) {
    throw new ServiceError('NotFound', 'there is no context with this Id')
  }
  addToTotals(tables, undefined, deleted)
  replaceShapes(tables, id, [])
  tables.contexts.remove(id)
  tables.headers.remove(id)
  tables.shapes.remove(id)
}

function headerOf({ headers }: Tables, id: string): ContextHeader | undefined {
  const text = headers.get(id)
  return text === undefined ? undefined : (JSON.parse(text) as ContextHeader)
}

function addToTotals(
  tables: Tables,
  added: ContextHeader | undefined,
  removed: ContextHeader | undefined,
): void {
  const before = readTotals(tables)
  const totals: Totals = {
    contextCount: before.contextCount + (added ? 1 : 0) - (removed ? 1 : 0),
    areaCount: before.areaCount + (added?.areaCount ?? 0) - (removed?.areaCount ?? 0),
    documentBytes:
      before.documentBytes + (added?.documentBytes ?? 0) - (removed?.documentBytes ?? 0),
  }
  if (added !== undefined) refuseTooMany(before, totals)
  tables.meta.put(META.totals, JSON.stringify(totals))
}

/** What is beyond a limit already, as after an upgrade that lowered one, may become less. */
function refuseTooMany(before: Totals, after: Totals): void {
  const bounds: [name: keyof Totals, limit: number, what: string][] = [
    ['contextCount', limits.contextCount, 'contexts'],
    ['areaCount', limits.storedAreaCount, 'areas in all contexts'],
    ['documentBytes', limits.storedBytes, 'bytes of contexts'],
  ]
  for (const [name, limit, what] of bounds) {
    if (after[name] <= limit || after[name] <= before[name]) continue
    throw new ServiceError('TooManyContexts', `there would be more than ${limit} ${what}`)
  }
}

/** Stores the shapes of a context, and removes the counts of shapes that no context has now. */
function replaceShapes(tables: Tables, id: string, hashes: readonly (string | null)[]): void {
  const before = JSON.parse(tables.shapes.get(id) ?? '[]') as readonly (string | null)[]
  const kept = new Set(hashes)
  for (const hash of new Set(before)) {
    if (hash === null || kept.has(hash)) continue
    tables.uses.remove(`${hash}/${id}`)
    if (!isUsed(tables, hash)) tables.counts.remove(hash)
  }
  for (const hash of kept) if (hash !== null) tables.uses.put(`${hash}/${id}`, '1')
  tables.shapes.put(id, JSON.stringify(hashes))
}

/** Whether any context has a shape. */
function isUsed({ uses }: Tables, hash: string): boolean {
  // `0` follows `/`, so that this is all that begins with the hash.
  for (const _ of uses.getKeys({ start: `${hash}/`, end: `${hash}0`, limit: 1 })) return true
  return false
}
