/**
 * The keys of a running service in its main thread. It publishes what all its front threads have applied, for
 * the writers of keys, stores how much each key was used, and logs damaged keys.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import type { MainStore } from '../store/store.js'
import {
  addRows,
  appliedByAll,
  clearUse,
  createKeyMemory,
  dayOf,
  type KeyMemory,
  noteUse,
  rowsOf,
  USE_PLACES,
  usesOf,
} from './key-memory.js'
import { type KeyUse, readKeyRecord, readKeyUse } from './key-record.js'

export interface ServedKeys {
  /** What front threads need. */
  readonly memory: KeyMemory
  /** From now on, writers wait for this service. To be called before it answers requests. */
  join(): void
  /** Resolves when all front threads have applied the keys that are stored by now. */
  untilApplied(): Promise<void>
  /** To be called when no request is answered any more. */
  stop(): void
}

interface ServedKeysOptions {
  readonly store: Pick<MainStore, 'keys' | 'keyServices'>
  readonly frontCount: number
  readonly log: Log
}

const APPLIED_POLL_MS = 10

const DAMAGED = 'the record of a key is damaged: the key lets nobody in; revoke it by its id'

/** A key whose use this service counts. */
interface UseCount {
  readonly slot: number
  /** The day and its rows in the store, by all services together. */
  day: number
  storedRowCount: number
}

export function serveKeys({ store, frontCount, log }: ServedKeysOptions): ServedKeys {
  const { keys, keyServices } = store
  const memory = createKeyMemory(frontCount)
  const counted = new Map<string, UseCount>()
  /** The record of each key as it was read, so that a change reads only changed keys. */
  const readJson = new Map<string, string>()
  let readVersion = -1
  let publishedVersion = -1
  let hasJoined = false

  /** Applies the changes of others. */
  function read(): void {
    const { version, records } = keys.read()
    if (version === readVersion) return
    const uses = keys.uses()
    for (const [id, json] of records) {
      if (readJson.get(id) === json) continue
      readJson.set(id, json)
      const record = readKeyRecord(json)
      if (record === undefined) log.error({ keyId: id }, DAMAGED)
      if (record === undefined || counted.has(id)) continue
      const { slot } = record
      clearUse(memory, slot)
      const use = readKeyUse(uses.get(id))
      const day = dayOf(Date.now())
      const storedRowCount = use.day === day ? use.rowCount : 0
      addRows(memory, slot, day, storedRowCount)
      for (const place of USE_PLACES) noteUse(memory, slot, place, use.usedMs[place])
      counted.set(id, { slot, day, storedRowCount })
    }
    for (const id of readJson.keys()) {
      if (records.has(id)) continue
      readJson.delete(id)
      counted.delete(id)
    }
    readVersion = version
  }

  /** Adds to the store what was counted here, and counts what others have added there. */
  function exchangeUses(): void {
    const day = dayOf(Date.now())
    const changed = [...counted].filter(([, key]) => isChanged(key, day))
    if (changed.length === 0) return
    const nowMs = Date.now()
    const exchanged: { key: UseCount; rowCount: number; countedHere: number }[] = []
    keys.noteUses((before) => {
      const notes = new Map<string, string>()
      for (const [id, key] of changed) {
        const { slot } = key
        const stored = readKeyUse(before.get(id))
        // Read once, since front threads go on counting.
        const countedHere = rowsOf(memory, slot, day)
        const ownCount = countedHere - (key.day === day ? key.storedRowCount : 0)
        const rowCount = (stored.day === day ? stored.rowCount : 0) + Math.max(0, ownCount)
        const usedMs = usesOf(memory, slot).map((ms, place) => Math.max(ms, stored.usedMs[place]))
        notes.set(id, JSON.stringify({ day, rowCount, usedMs } satisfies KeyUse))
        exchanged.push({ key, rowCount, countedHere })
      }
      return notes
    })
    // It is on disk: what could not be written is added the next time.
    for (const { key, rowCount, countedHere } of exchanged) {
      addRows(memory, key.slot, day, Math.max(0, rowCount - countedHere))
      key.day = day
      key.storedRowCount = rowCount
    }
    notedMs = nowMs
  }

  let notedMs = Date.now()
  function isChanged({ slot, day, storedRowCount }: UseCount, today: number): boolean {
    const rowCount = rowsOf(memory, slot, today)
    const isUsed = usesOf(memory, slot).some((usedMs) => usedMs >= notedMs)
    return isUsed || rowCount !== (day === today ? storedRowCount : 0)
  }

  function publish(): void {
    const version = appliedByAll(memory)
    if (!hasJoined || version === publishedVersion) return
    keyServices.publish(version)
    publishedVersion = version
  }

  /** Work that fails is tried again, and logged once until it succeeds again. */
  function carefully(work: () => void): () => void {
    let isFailing = false
    return () => {
      try {
        work()
        isFailing = false
      } catch (fault) {
        if (!isFailing)
          log.error(describeFault(fault), 'the store of keys cannot be read or written')
        isFailing = true
      }
    }
  }

  read()
  const looking = setInterval(
    carefully(() => {
      if (keys.version() !== readVersion) read()
      publish()
    }),
    limits.keyPollMs,
  ).unref()
  const exchanging = setInterval(carefully(exchangeUses), limits.keyUseMs).unref()

  return {
    memory,
    join() {
      publishedVersion = appliedByAll(memory)
      keyServices.register(publishedVersion)
      hasJoined = true
    },
    async untilApplied() {
      const version = keys.version()
      while (appliedByAll(memory) < version) await sleep(APPLIED_POLL_MS)
    },
    stop() {
      clearInterval(looking)
      clearInterval(exchanging)
      carefully(exchangeUses)()
      if (hasJoined) carefully(() => keyServices.unregister())()
      hasJoined = false
    },
  }
}
