/**
 * Looks at everything that is in a store.
 *
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../limits.js'
import { findChangedPart, readDigests } from './digests.js'
import { type Head, readHead } from './file-heads.js'
import { hashOf } from './hash.js'
import { readLists, suppressionLogOf } from './suppressions.js'
import {
  CLUSTERED_FORMAT,
  DATA_FILE,
  FORMATS,
  META,
  readFormat,
  TABLE_COUNT,
  type Tables,
} from './tables.js'
import { openTablesToWrite } from './write-tables.js'
import type { ContextHeader } from './written-context.js'

/** Of the process that checks, which loads no more than this file needs; it writes the format. */
export const NEWER_EXIT_CODE = 3
/** The same where the store is open in another container; it writes the id. */
export const SAME_ID_EXIT_CODE = 4

/** The format of a store, where this release does not know it. To be asked before the store is opened to write. */
export async function findNewerFormat(directory: string): Promise<string | undefined> {
  const format = await readFormat(directory).catch(() => undefined)
  return format === undefined || FORMATS.includes(format) ? undefined : format
}

/** @returns what is wrong, or undefined */
export async function findDamage(directory: string): Promise<string | undefined> {
  let tables: Tables | undefined
  try {
    const head = readHead(join(directory, DATA_FILE))
    if (head === undefined) return 'the two heads of its file do not fit together'
    // Before it is opened to write, which makes the tables that are missing, over what the head does not lead to.
    if (!mayBeUnfilled(head) && (await readFormat(directory)) === undefined) {
      return 'its format is gone'
    }
    tables = openTablesToWrite(directory)
    return damageOf(tables) ?? writeDamageOf(tables, directory)
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
  // It was begun, and never filled.
  if (format === undefined) return undefined
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

/** A store is begun by a commit for each table, and filled by the next one. A copy has but the page of their names. */
function mayBeUnfilled({ commitCount, lastPage }: Head): boolean {
  return commitCount <= TABLE_COUNT || lastPage === 2n
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
function writeDamageOf({ meta, transact }: Tables, directory: string): string | undefined {
  const { size } = statSync(join(directory, DATA_FILE))
  const undone = new Error('undone on purpose')
  try {
    transact(() => {
      meta.put('check', ' '.repeat(Math.min(size, CHECK_BYTES_MAX)))
      throw undone
    })
  } catch (fault) {
    if (fault !== undone) throw fault
  }
  return undefined
}

/** More than the largest document; with that, or with all that the file has, every free page is considered. */
const CHECK_BYTES_MAX = 2 * limits.documentBytes
