/**
 * Where a command changes keys and suppression lists: in the store of its data directory, or, in a cluster, on all
 * machines by way of the service that runs there.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type EnteredEntry, type Entering, openEntering } from '../cluster/entering.js'
import type { Entered, Everywhere } from '../cluster/messages.js'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import type { KeyChanger, KeyChanges, KeyReader, StoredKeys } from '../store/keys.js'
import { createStore, type MainStore } from '../store/store.js'
import type { SuppressionChange, SuppressionsOutcome } from '../store/suppressions.js'
import type { CommandContext } from './context.js'

export interface StoreDesk {
  /** To be read: in a cluster, what has been changed here is in it. */
  readonly store: MainStore
  /**
   * Makes a change of keys, which may be asked for again while others change keys.
   *
   * @throws OperatorError  as a rejection
   */
  changeKeys<Result>(make: (keys: KeyChanger) => Result): Promise<Result>
  /** @throws OperatorError  Failed, as a rejection, where a service does not go by all that was changed in time */
  untilKeysTaken(): Promise<void>
  suppress(change: SuppressionChange): Promise<SuppressionsOutcome>
  /** Has the store know of all that was changed on any machine before. */
  catchUp(): Promise<void>
  /** @throws OperatorError  as that of keys */
  untilSuppressionsTaken(): Promise<void>
  close(): Promise<void>
}

/**
 * @param enter  opens the way of a cluster
 * @throws OperatorError  as a rejection
 */
export async function openStoreDesk(
  { log }: Pick<CommandContext, 'log'>,
  dataDirectory: string,
  enter: (dataDirectory: string) => Promise<Entering> = openEntering,
): Promise<StoreDesk> {
  const store = await createStore(dataDirectory, log)
  try {
    if (!store.entries.isClustered()) return deskAlone(store)
    return deskOfCluster(store, await enter(dataDirectory))
  } catch (fault) {
    await store.close()
    throw fault
  }
}

function deskAlone(store: MainStore): StoreDesk {
  const { keyServices, services } = store
  let suppressionVersion = store.suppressions.version()
  return {
    store,
    changeKeys: async (make) => make(store.keys),
    async untilKeysTaken() {
      const version = store.keys.version()
      if (await keyServices.untilTaken(version, limits.keyTakeMs)) return
      const pids = keyServices.lagging(version).join(', ')
      throw new OperatorError(
        'Failed',
        `the change is stored, but a running service (process ${pids}) does not go by it yet: if it is ` +
          'stuck, restart it',
      )
    },
    async suppress(change) {
      const [outcome] = store.makeSuppressions([change])
      if (outcome.isMade) suppressionVersion = outcome.changed.version
      return outcome
    },
    async catchUp() {},
    async untilSuppressionsTaken() {
      if (await services.untilTaken(suppressionVersion, limits.suppressionCommandMs)) return
      const pids = services.lagging(suppressionVersion).join(', ')
      throw new OperatorError(
        'Failed',
        `the change is stored, but a running service (process ${pids}) does not answer by it yet: ` +
          'run the same command again to wait for it',
      )
    },
    close: () => store.close(),
  }
}

function deskOfCluster(store: MainStore, entering: Entering): StoreDesk {
  /** Who does not answer yet by what was made last. */
  let last: Everywhere | undefined
  const enter = async (entry: EnteredEntry) => {
    last = UNKNOWN
    const entered = await entering.make(entry)
    last = entered
    return entered
  }
  const untilTaken = async () => {
    if (last === undefined || last.isEverywhere) return
    const who = last.waitingFor.length === 0 ? 'another machine' : last.waitingFor.join(', ')
    throw new OperatorError(
      'Failed',
      `the change is stored, but ${who} may still answer without it: hickory cluster status says how far each machine ` +
        'is, and the same command waits again',
    )
  }
  return {
    store,
    async changeKeys(make) {
      for (let attempt = 1; ; attempt++) {
        const plan = new KeyPlan(store.keys)
        const result = make(plan)
        // Also where nothing is to be changed: it may be so here alone, or not be so everywhere yet.
        const outcome = await plan.enter(enter)
        if (outcome === undefined || outcome.isMade) return result
        if (attempt === limits.keyPlanCount) throw new OperatorError('Failed', outcome.message)
        // The store of this machine has heard of it by then.
        await sleep(limits.storedLookMs)
      }
    },
    untilKeysTaken: untilTaken,
    async suppress({ scope, phones, isRemoval }) {
      const { outcome } = await enter({ kind: 'suppressions', scope, phones, isRemoval })
      return outcome as SuppressionsOutcome
    },
    async catchUp() {
      // It is in the store of this machine when it is settled, and so is all before it.
      await enter({ kind: 'suppressions', scope: 'all', phones: [], isRemoval: false })
    },
    untilSuppressionsTaken: untilTaken,
    async close() {
      await entering.close()
      await store.close()
    },
  }
}

/** Nobody knows who answers by it. */
const UNKNOWN: Everywhere = { isEverywhere: false, waitingFor: [] }

/** What is to become of the keys that a store has, which stays as it is. */
class KeyPlan implements KeyChanger {
  readonly #keys: KeyReader
  /** Of the keys that it is made of. */
  #version = 0
  #changes: KeyChanges = new Map()

  constructor(keys: KeyReader) {
    this.#keys = keys
  }

  change(changesFor: (before: StoredKeys) => KeyChanges): number {
    const before = this.#keys.read()
    this.#changes = changesFor(before)
    this.#version = before.version
    return this.#changes.size === 0 ? before.version : before.version + 1
  }

  /**
   * @returns undefined where nobody has told what has become of it, and the store has it all the same
   * @throws OperatorError  as a rejection, where nobody has told, and the store does not have it soon
   */
  async enter(
    enter: (entry: EnteredEntry) => Promise<Entered>,
  ): Promise<Entered['outcome'] | undefined> {
    const records = Array.from(this.#changes, ([id, record]) => [id, record ?? null] as const)
    try {
      return (await enter({ kind: 'keys', version: this.#version, records })).outcome
    } catch (fault) {
      if (this.#changes.size === 0) throw fault
      // A secret is known here alone: it must not be lost where its key is made.
      const untilMs = monotonicMs() + limits.keyLookedForMs
      while (monotonicMs() < untilMs && !this.#isThere()) await sleep(limits.storedLookMs)
      if (this.#isThere()) return undefined
      throw fault
    }
  }

  #isThere(): boolean {
    const { records } = this.#keys.read()
    return [...this.#changes].every(([id, record]) => records.get(id) === record)
  }
}
