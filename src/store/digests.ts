/**
 * Digests of what is in the store of a machine of a cluster. They change in the transaction that changes rows, so that a
 * start finds rows that a disk has changed, and machines find that they do not have the same.
 *
 * @module
 */
import { RowDigest } from './row-digest.js'
import { META, type Table, type Tables } from './tables.js'

/** What is the same on all machines that have put the same entries into their stores. */
export const sharedParts = ['suppressions', 'keys', 'configuration', 'contexts'] as const

export type SharedPart = (typeof sharedParts)[number]

/** `local`: what a machine derives from the others, and what it has of its own. */
export type Part = SharedPart | 'local'

type Digests = Readonly<Record<Part, string>>

/** Running services are not in it. */
export const PART_OF_TABLE = {
  suppressions: 'suppressions',
  suppressionCounts: 'suppressions',
  keys: 'keys',
  documents: 'configuration',
  contexts: 'contexts',
  suppressionLog: 'local',
  headers: 'local',
  shapes: 'local',
  uses: 'local',
  counts: 'local',
  keyUses: 'local',
  audiences: 'local',
} as const satisfies Partial<Record<keyof Tables, Part>>

export const PART_OF_META: Readonly<Record<string, Part>> = {
  [META.keysVersion]: 'keys',
  [META.countMode]: 'configuration',
  [META.configurationVersion]: 'configuration',
  [META.totals]: 'local',
  [META.suppressions]: 'local',
  [META.entriesSequence]: 'local',
  [META.audiencesShared]: 'local',
}

const PARTS: readonly Part[] = [...sharedParts, 'local']
const TABLES = Object.keys(PART_OF_TABLE) as readonly (keyof typeof PART_OF_TABLE)[]

/** Of all rows, each of which is read. */
function computeDigests(tables: Tables): Digests {
  const sums = digestsFrom(undefined)
  for (const name of TABLES) {
    const sum = sums[PART_OF_TABLE[name]]
    const table = tables[name] as Table<string | Buffer, string | number>
    for (const { key, value } of table.getRange({})) sum.add(name, String(key), value)
  }
  for (const [name, part] of Object.entries(PART_OF_META)) {
    const value = tables.meta.get(name)
    if (value !== undefined) sums[part].add('meta', name, value)
  }
  return textsOf(sums)
}

/** As the transactions kept them; undefined where they do not. Readers refresh the tables first. */
export function readDigests({ meta }: Pick<Tables, 'meta'>): Digests | undefined {
  const text = meta.get(META.digests)
  return text === undefined ? undefined : (JSON.parse(text) as Digests)
}

/** Has transactions keep them from now on. Changes nothing where they do. */
export function beginDigests(tables: Tables): void {
  const { meta, transact } = tables
  if (meta.get(META.digests) !== undefined) return
  transact(() => meta.put(META.digests, JSON.stringify(computeDigests(tables))))
}

/** @returns the part of which the rows are not those that were written; undefined where there is none, or nobody knows */
export function findChangedPart(tables: Tables): string | undefined {
  const kept = readDigests(tables)
  if (kept === undefined) return undefined
  const found = computeDigests(tables)
  return PARTS.find((part) => kept[part] !== found[part])
}

/** Of each part. */
export type Sums = Readonly<Record<Part, RowDigest>>

export function digestsFrom(texts: Digests | undefined): Sums {
  return Object.fromEntries(PARTS.map((part) => [part, new RowDigest(texts?.[part])])) as Sums
}

export function textsOf(sums: Sums): Digests {
  return Object.fromEntries(PARTS.map((part) => [part, String(sums[part])])) as Digests
}
