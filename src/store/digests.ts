/**
 * Digests of the store of a machine of a cluster. The transaction that changes rows changes them, too, so that a start
 * finds rows that a disk has changed, and machines find that their stores differ.
 *
 * @module
 */
import { hash } from 'node:crypto'
import { META, openTables, type Table, type Tables } from './tables.js'

/** The same on all machines that have put the same entries into their stores. */
export const sharedParts = ['suppressions', 'keys', 'configuration', 'contexts'] as const

export type SharedPart = (typeof sharedParts)[number]

/** `local`: derived from the others, or of this machine alone. */
type Part = SharedPart | 'local'

type Digests = Readonly<Record<Part, string>>

/** Without running services. */
const PART_OF_TABLE = {
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

const PART_OF_META: Readonly<Record<string, Part>> = {
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

/** As the transactions keep them; undefined if they do not. Readers refresh the tables first. */
export function readDigests({ meta }: Pick<Tables, 'meta'>): Digests | undefined {
  const text = meta.get(META.digests)
  return text === undefined ? undefined : (JSON.parse(text) as Digests)
}

/** Has transactions keep digests from now on. */
export function beginDigests(tables: Tables): void {
  const { meta, transact } = tables
  if (meta.get(META.digests) !== undefined) return
  transact(() => meta.put(META.digests, JSON.stringify(computeDigests(tables))))
}

/** @returns a part whose rows are not as they were written; undefined if all are, or the store keeps no digests */
export function findChangedPart(tables: Tables): string | undefined {
  const kept = readDigests(tables)
  if (kept === undefined) return undefined
  const found = computeDigests(tables)
  return PARTS.find((part) => kept[part] !== found[part])
}

/** Reads all rows. */
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

/** Opens the tables as `openTables` does; each transaction keeps the digests of a store that has some. */
export function openTablesToWrite(directory: string): Tables {
  return keepingDigests(openTables(directory, 'write'))
}

function keepingDigests(tables: Tables): Tables {
  const { meta, transact } = tables
  /** In a transaction. */
  let sums: Sums | undefined
  let isChanged = false

  function digested<Value extends string | Buffer, Key extends string | number>(
    table: Table<Value, Key>,
    name: string,
    partOf: (key: Key) => Part | undefined,
  ): Table<Value, Key> {
    // Where a disk has changed what was there, the digest is wrong from then on, as it should be.
    const note = (key: Key, value: Value | undefined) => {
      const part = sums === undefined ? undefined : partOf(key)
      const sum = part === undefined ? undefined : sums?.[part]
      if (sum === undefined) return
      const before = table.get(key)
      if (before !== undefined) sum.remove(name, String(key), before)
      if (value !== undefined) sum.add(name, String(key), value)
      isChanged = true
    }
    return {
      get: (key) => table.get(key),
      getRange: (options) => table.getRange(options),
      getKeys: (options) => table.getKeys(options),
      getCount: (options) => table.getCount(options),
      doesExist: (key) => table.doesExist(key),
      put(key, value) {
        note(key, value)
        table.put(key, value)
      },
      remove(key) {
        note(key, undefined)
        table.remove(key)
      },
    }
  }

  const all = TABLES.map((name) => {
    const table = tables[name] as Table<string | Buffer, string | number>
    return [name, digested(table, name, () => PART_OF_TABLE[name])]
  })

  return {
    ...tables,
    ...(Object.fromEntries(all) as Pick<Tables, (typeof TABLES)[number]>),
    meta: digested(meta, 'meta', (name) => PART_OF_META[name]),
    transact: (work) =>
      transact(() => {
        const kept = readDigests(tables)
        sums = kept === undefined ? undefined : digestsFrom(kept)
        isChanged = false
        try {
          const result = work()
          // They are gone if the transaction removed them.
          if (sums !== undefined && isChanged && meta.get(META.digests) !== undefined) {
            meta.put(META.digests, JSON.stringify(textsOf(sums)))
          }
          return result
        } finally {
          sums = undefined
        }
      }),
  }
}

type Sums = Readonly<Record<Part, RowDigest>>

function digestsFrom(texts: Digests | undefined): Sums {
  return Object.fromEntries(PARTS.map((part) => [part, new RowDigest(texts?.[part])])) as Sums
}

function textsOf(sums: Sums): Digests {
  return Object.fromEntries(PARTS.map((part) => [part, String(sums[part])])) as Digests
}

/**
 * A digest of rows that does not depend on their order, and follows changes at once: the sum, modulo 2^128, of the first
 * 128 bits of the SHA-256 of each row (Bellare and Micciancio, "A New Paradigm for Collision-free Hashing", 1997). The
 * key and its length are hashed with the value, so that rows whose values are swapped are other rows. It detects faults
 * of disks, and is no protection against an attacker who chooses rows.
 */
export class RowDigest {
  /** From the least to the most significant. */
  readonly #words = new Uint32Array(WORD_COUNT)

  /** @param text  of a digest, 32 hexadecimal digits; empty for no rows */
  constructor(text = '') {
    for (let at = 0; at < WORD_COUNT && text !== ''; at++) {
      this.#words[WORD_COUNT - 1 - at] = Number.parseInt(text.slice(8 * at, 8 * at + 8), 16)
    }
  }

  add(table: string, key: string, value: string | Uint8Array): void {
    const words = this.#words
    const digest = rowHash(table, key, value)
    let carry = 0
    for (let at = 0; at < WORD_COUNT; at++) {
      carry += words[at] + wordAt(digest, at)
      words[at] = carry
      carry = carry > WORD_MAX ? 1 : 0
    }
  }

  remove(table: string, key: string, value: string | Uint8Array): void {
    const words = this.#words
    const digest = rowHash(table, key, value)
    let borrow = 0
    for (let at = 0; at < WORD_COUNT; at++) {
      const difference = words[at] - wordAt(digest, at) - borrow
      words[at] = difference
      borrow = difference < 0 ? 1 : 0
    }
  }

  /** 32 hexadecimal digits. */
  toString(): string {
    return [...this.#words].reduceRight(
      (text, word) => text + word.toString(16).padStart(8, '0'),
      '',
    )
  }
}

const WORD_COUNT = 4
const WORD_MAX = 0xffff_ffff

/** Bytes as characters: a string takes half of the time of a buffer. */
function rowHash(table: string, key: string, value: string | Uint8Array): string {
  const text = typeof value === 'string' ? value : hash('sha256', value, 'hex')
  return hash('sha256', `${table} ${key.length} ${key} ${text}`, 'latin1' as 'binary')
}

function wordAt(digest: string, at: number): number {
  const first = 4 * at
  return (
    (digest.charCodeAt(first) |
      (digest.charCodeAt(first + 1) << 8) |
      (digest.charCodeAt(first + 2) << 16) |
      (digest.charCodeAt(first + 3) << 24)) >>>
    0
  )
}
