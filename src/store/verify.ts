/**
 * Looks at everything that is in a store.
 *
 * @module
 */
import { limits } from '../limits.js'
import { findChangedPart, readDigests } from './digests.js'
import { hashOf } from './hash.js'
import { readLists, suppressionLogOf } from './suppressions.js'
import { CLUSTERED_FORMAT, FORMATS, META, readFormat, type Tables } from './tables.js'
import { openTablesToWrite } from './write-tables.js'
import type { ContextHeader } from './written-context.js'

/** The format of a store, where this release does not know it. To be asked before the store is opened to write. */
export async function findNewerFormat(directory: string): Promise<string | undefined> {
  const format = await readFormat(directory).catch(() => undefined)
  return format === undefined || FORMATS.includes(format) ? undefined : format
}

/** @returns what is wrong, or undefined */
export async function findDamage(directory: string): Promise<string | undefined> {
  let tables: Tables | undefined
  try {
    tables = openTablesToWrite(directory)
    return damageOf(tables) ?? writeDamageOf(tables)
  } catch (fault) {
    // The engine's own message quotes the text.
    return fault instanceof SyntaxError ? 'a record is not JSON' : (fault as Error).message
  } finally {
    await tables?.close()
  }
}

function damageOf(tables: Tables): string | undefined {
  const { meta, documents, contexts, headers, shapes, uses, counts } = tables
  const format = meta.get(META.format)
  // Unless it was begun, and never filled.
  if (format === undefined) return holdsRows(tables) ? 'its format is gone' : undefined
  if (format === CLUSTERED_FORMAT && readDigests(tables) === undefined)
    return 'its digests are gone'
  for (const table of [headers, shapes, counts]) {
    for (const { value } of table.getRange({})) JSON.parse(value)
  }
  for (const _ of uses.getKeys({}));
  const configuration = documents.get('configuration')
  const version = meta.get(META.configurationVersion)
  if ((configuration && hashOf(configuration)) !== version) return 'the configuration has changed'
  let contextCount = 0
  for (const { key, value } of contexts.getRange({})) {
    const header = headers.get(key)
    const expected = header && (JSON.parse(header) as ContextHeader).version
    if (hashOf(value) !== expected) return `the context ${key} has changed`
    contextCount++
  }
  const { contextCount: expected = 0 } = JSON.parse(meta.get(META.totals) ?? '{}')
  if (contextCount !== expected) return `${contextCount} contexts of ${expected}`
  return listDamageOf(tables)
}

/** Running services note themselves in any store. */
function holdsRows(tables: Tables): boolean {
  const { documents, contexts, suppressions, keys, audiences } = tables
  return [documents, contexts, suppressions, keys, audiences].some((table) => table.getCount() > 0)
}

/** The lists are counted, which reads every page of them. */
function listDamageOf(tables: Tables): string | undefined {
  const found = new Map<string, number>()
  for (const key of tables.suppressions.getKeys({})) {
    const scope = key.slice(0, key.indexOf('/'))
    found.set(scope, (found.get(scope) ?? 0) + 1)
  }
  const lists = readLists(tables)
  const log = suppressionLogOf(tables)
  const { totalCount } = log.state()
  const sum = lists.reduce((total, { count }) => total + count, 0)
  const isRight = lists.every(({ scope, count }) => found.get(String(scope)) === count)
  if (!isRight || found.size !== lists.length || sum !== totalCount) {
    return 'a suppression list is not as long as it was'
  }
  for (const table of [tables.services, tables.audiences]) {
    for (const { value } of table.getRange({})) JSON.parse(value)
  }
  // A record that means nothing lets nobody in, and is no reason to let nobody else in.
  for (const table of [tables.keys, tables.keyUses]) for (const _ of table.getRange({}));
  if (!log.isWhole()) return 'the log of changes is not whole'
  const part = findChangedPart(tables)
  return part && `rows have changed by themselves (${part})`
}

/** The list of free pages is read by changes alone. */
function writeDamageOf({ meta, transact }: Tables): string | undefined {
  const undone = new Error('undone on purpose')
  try {
    transact(() => {
      meta.put('check', ' '.repeat(CHECK_BYTES))
      throw undone
    })
  } catch (fault) {
    if (fault !== undone) throw fault
  }
  return undefined
}

/** More than the largest document, so that every free page is considered. */
const CHECK_BYTES = 2 * limits.documentBytes
