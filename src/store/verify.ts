/**
 * Verifies a store, in a process of its own (see check.ts): reading a damaged one can end it. It loads no schemas, which
 * take longer to load than most stores to read.
 *
 * @module
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../limits.js'
import { findChangedPart, openTablesToWrite, readDigests } from './digests.js'
import type { ContextHeader } from './documents.js'
import { readLists, suppressionLogOf } from './suppressions.js'
import {
  CLUSTERED_FORMAT,
  DATA_FILE,
  FORMATS,
  hashOf,
  META,
  readFormat,
  TABLE_COUNT,
  type Tables,
} from './tables.js'

/** Exit code of the process that checks; it has printed the format. */
export const NEWER_EXIT_CODE = 3
/** The store is open in another container; the process has printed the id. */
export const SAME_ID_EXIT_CODE = 4

/** The format of a store that a later version wrote. To be called before the store is opened to write. */
export async function findNewerFormat(directory: string): Promise<string | undefined> {
  const format = await readFormat(directory).catch(() => undefined)
  return format === undefined || FORMATS.includes(format) ? undefined : format
}

/** Reads everything. @returns what is wrong, or undefined */
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
  // It was begun, and not filled yet.
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

/** A store is begun by a commit for each table, and filled by the next one. A copy has only the page of their names. */
function mayBeUnfilled({ commitCount, lastPage }: Head): boolean {
  return commitCount <= TABLE_COUNT || lastPage === 2n
}

/** Counts the lists, which reads every page of them. */
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
  // A record that cannot be read lets no client in, and is no reason to refuse the others.
  for (const table of [tables.keys, tables.keyUses]) for (const _ of table.getRange({}));
  if (!log.isWhole()) return 'the log of changes is not whole'
  const part = findChangedPart(tables)
  return part && `rows have changed by themselves (${part})`
}

/** Only changes read the list of free pages. */
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

interface Head {
  /** A copy goes on counting. */
  readonly commitCount: bigint
  readonly lastPage: bigint
}

interface Commit extends Head {
  /** The commit that wrote the page that it leads to, 1 in a copy; 0 if it leads to none, -1 if to a wrong one. */
  readonly writtenBy: bigint
}

/**
 * The later one of the two heads of an LMDB file, its "meta pages". Commits write them in turn. LMDB trusts them: one
 * wrong bit there can lead to what was before the last commit, or to an empty file.
 *
 * @returns undefined if the two do not fit together; zeros for an empty file, which is yet to be begun
 */
function readHead(path: string): Head | undefined {
  const fd = openSync(path, 'r')
  try {
    // Others may commit while it is read.
    for (let attempt = 0; attempt < 10; attempt++) {
      const first = readAt(fd, 0)
      if (first.length === 0) return { commitCount: 0n, lastPage: 0n }
      const head = first.length < HEAD_BYTES ? undefined : laterOf(fd, first)
      if (head !== undefined) return head
    }
    return undefined
  } finally {
    closeSync(fd)
  }
}

function laterOf(fd: number, first: Buffer): Head | undefined {
  const pageBytes = first.readUInt32LE(48)
  const second = readAt(fd, pageBytes)
  const isAlike = FIXED.every(([from, to]) =>
    first.subarray(from, to).equals(second.subarray(from, to)),
  )
  if (!isAlike || second.length < HEAD_BYTES) return undefined
  const [even, odd] = [first, second].map((page) => commitOf(fd, page, pageBytes))
  if (even.commitCount % 2n !== 0n) return undefined
  // In a new file and in a copy; the first commit has both kinds.
  if (even.writtenBy === 0n && even.commitCount === 0n) {
    if (odd.writtenBy === 0n) return odd.commitCount === 0n ? even : undefined
    return odd.commitCount % 2n === 1n && odd.writtenBy === 1n ? odd : undefined
  }
  const [later, earlier] = even.commitCount > odd.commitCount ? [even, odd] : [odd, even]
  const isInTurn =
    later.commitCount === earlier.commitCount + 1n &&
    later.writtenBy === later.commitCount &&
    (earlier.writtenBy === earlier.commitCount || earlier.writtenBy === 1n)
  return isInTurn ? later : undefined
}

function commitOf(fd: number, head: Buffer, pageBytes: number): Commit {
  const root = head.readBigUInt64LE(136)
  const page = root === NO_PAGE ? undefined : readAt(fd, Number(root) * pageBytes)
  const isRight = page && page.length === HEAD_BYTES && page.readBigUInt64LE(0) === root
  return {
    lastPage: head.readBigUInt64LE(144),
    commitCount: head.readBigUInt64LE(152),
    writtenBy: page === undefined ? 0n : isRight ? page.readBigUInt64LE(8) : -1n,
  }
}

/** @returns fewer bytes than a head has if the file ends before */
function readAt(fd: number, position: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES)
  if (position > Number.MAX_SAFE_INTEGER) return bytes.subarray(0, 0)
  return bytes.subarray(0, readSync(fd, bytes, 0, HEAD_BYTES, position))
}

/** With the header of its page, on a system of 64 bits. */
const HEAD_BYTES = 160
const NO_PAGE = 2n ** 64n - 1n
/** No commit changes the magic number, the version, the address, the bytes of a page, and the flags of the two trees. */
const FIXED: readonly (readonly [from: number, to: number])[] = [
  [24, 40],
  [48, 54],
  [96, 102],
]
