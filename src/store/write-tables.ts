/**
 * The tables of the store, opened to be written by whoever the store is of: each transaction keeps the digests of a
 * store that has some (see `digests.ts`).
 *
 * @module
 */
import {
  digestsFrom,
  PART_OF_META,
  PART_OF_TABLE,
  type Part,
  readDigests,
  type Sums,
  textsOf,
} from './digests.js'
import { META, openTables, type Table, type Tables } from './tables.js'

/** See `openTables`. */
export function openTablesToWrite(directory: string): Tables {
  return keepingDigests(openTables(directory, 'write'))
}

function keepingDigests(tables: Tables): Tables {
  const { meta, transact } = tables
  /** Of the transaction that is under way. */
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

  const whole = <Value extends string | Buffer, Key extends string | number>(
    table: Table<Value, Key>,
    name: keyof typeof PART_OF_TABLE,
  ) => digested(table, name, () => PART_OF_TABLE[name])

  return {
    ...tables,
    meta: digested(meta, 'meta', (name) => PART_OF_META[name]),
    documents: whole(tables.documents, 'documents'),
    contexts: whole(tables.contexts, 'contexts'),
    headers: whole(tables.headers, 'headers'),
    shapes: whole(tables.shapes, 'shapes'),
    uses: whole(tables.uses, 'uses'),
    counts: whole(tables.counts, 'counts'),
    suppressions: whole(tables.suppressions, 'suppressions'),
    suppressionCounts: whole(tables.suppressionCounts, 'suppressionCounts'),
    suppressionLog: whole(tables.suppressionLog, 'suppressionLog'),
    keys: whole(tables.keys, 'keys'),
    keyUses: whole(tables.keyUses, 'keyUses'),
    audiences: whole(tables.audiences, 'audiences'),
    transact: (work) =>
      transact(() => {
        const kept = readDigests(tables)
        sums = kept === undefined ? undefined : digestsFrom(kept)
        isChanged = false
        try {
          const result = work()
          // Unless that is what has ended them.
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
