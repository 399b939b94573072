/**
 * Keys without a store, for tests.
 *
 * @module
 */
import { createKey } from '../../../src/keys/change-keys.js'
import { createKeyMemory, type KeyMemory } from '../../../src/keys/key-memory.js'
import { type KeyAccess, KeyRing } from '../../../src/keys/key-ring.js'
import type { KeyWriter, StoredKeys } from '../../../src/store/keys.js'

export interface KeysInMemory extends KeyWriter {
  /** JSON by id, to be damaged at will. */
  readonly records: Map<string, string>
}

export function keysInMemory(): KeysInMemory {
  const records = new Map<string, string>()
  let version = 0
  let uses: ReadonlyMap<string, string> = new Map()
  const read = (): StoredKeys => ({ version, records: new Map(records) })
  return {
    records,
    version: () => version,
    read,
    change(changesFor) {
      const changes = changesFor(read())
      if (changes.size === 0) return version
      for (const [id, record] of changes) {
        if (record === undefined) records.delete(id)
        else records.set(id, record)
      }
      return ++version
    },
    uses: () => uses,
    noteUses(notesFor) {
      uses = new Map([...uses, ...notesFor(uses)])
    },
  }
}

type Wish = Parameters<typeof createKey>[1]

/** Makes a key that may do everything, but for what is said; returns what a client sends. */
export function keyFor(keys: KeyWriter, wish: Partial<Wish> = {}, nowMs = Date.now()): string {
  const name = wish.name ?? `key-${keys.read().records.size}`
  return createKey(keys, { scopes: ['admin'], ...wish, name }, nowMs).text
}

/** Keys as a front thread follows them, but brought up to date by hand. */
export function followed(
  keys: KeyWriter,
  memory: KeyMemory = createKeyMemory(1),
): { ring: KeyRing; follow(): void } {
  const one = {
    ring: new KeyRing(keys.read(), memory),
    follow() {
      one.ring = new KeyRing(keys.read(), memory, one.ring)
    },
  }
  return one
}

/** What a text lets its client do; undefined where it lets nobody in. */
export function accessFor(ring: KeyRing, text: string, nowMs = Date.now()): KeyAccess | undefined {
  const verdict = ring.verdictOf(text, nowMs)
  return 'access' in verdict ? verdict.access : undefined
}
