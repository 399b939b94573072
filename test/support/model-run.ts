/**
 * A data directory through imports, suppressions and restarts, beside a plain map of what was
 * imported and a set of what is suppressed. What is asked in between is held against brute force.
 *
 * @module
 */
import { threadId } from 'node:worker_threads'
import { limits } from '../../src/limits.js'
import { releaseZones } from '../../src/shard/arena.js'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { attachRepeats } from './data/attach-repeats.js'
import { markSuppressed } from './data/marked.js'
import { withRepeatedPhones } from './data/repeated-phones.js'
import { publishTest } from './data/snapshots.js'
import { findPageFaults } from './model-pages.js'
import { hold, type KnownRecipients, recipientsOf, suppress } from './oracle-run.js'
import { type JsonObject, randomRequest, requestKinds, slowKinds } from './random/requests.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  seededRandom,
  worldKinds,
} from './random/world.js'
import { type LocalService, type LocalSource, serviceOf } from './service/local-service.js'

export interface ModelTotals {
  readonly actions: Record<Action, number>
  requestCount: number
  pageCount: number
  recipientCount: number
  insideCount: number
  suppressedCount: number
  distinctCount: number
}

export interface ModelFault {
  readonly round: number
  readonly request: JsonObject
  readonly faults: readonly string[]
}

export function noModelTotals(): ModelTotals {
  return {
    actions: { import: 0, suppress: 0, allow: 0, reopen: 0 },
    requestCount: 0,
    pageCount: 0,
    recipientCount: 0,
    insideCount: 0,
    suppressedCount: 0,
    distinctCount: 0,
  }
}

/**
 * Runs rounds of something that happens and some requests, all of which follow from the seed.
 *
 * @param dataDirectory  empty
 */
export async function runModel(
  dataDirectory: string,
  seed: number,
  roundCount: number,
  totals: ModelTotals,
): Promise<ModelFault[]> {
  const random = seededRandom(seed)
  const model = new Model(dataDirectory, random)
  const wrong: ModelFault[] = []
  await model.act('import')
  for (let round = 0; round < roundCount && wrong.length < WRONG_COUNT_MAX; round++) {
    const action = random.pick<Action>(['import', 'suppress', 'suppress', 'allow', 'reopen'])
    await model.act(action)
    totals.actions[action]++
    for (let i = 0; i < REQUESTS_PER_ROUND; i++) {
      const request = model.randomRequest()
      const faults = await model.ask(request, totals)
      if (faults.length > 0) wrong.push({ round, request, faults: faults.slice(0, 3) })
    }
  }
  return wrong
}

const REQUESTS_PER_ROUND = 4
const WRONG_COUNT_MAX = 5
const SOURCE_IDS = [2, 5, 40]

type Action = 'import' | 'suppress' | 'allow' | 'reopen'

class Model {
  readonly #directory: string
  readonly #random: Random
  readonly #arenas = createArenaPool(1)
  readonly #sources = new Map<number, LocalSource>()
  /** Phones, and phones with the one source for which they are suppressed. */
  readonly #suppressed = new Set<string>()
  #open: { snapshot: Snapshot; service: LocalService; known: KnownRecipients[] } | undefined

  constructor(directory: string, random: Random) {
    this.#directory = directory
    this.#random = random
  }

  async act(action: Action): Promise<void> {
    if (action === 'import') await this.#import()
    if (action === 'import' || action === 'reopen') await this.#reopen()
    if (action === 'suppress') this.#changeSuppressed(0.1)
    if (action === 'allow') this.#allow()
  }

  randomRequest(): JsonObject {
    const { columns } = this.#random.pick([...this.#sources.values()])
    const kinds = requestKinds.filter((kind) => !slowKinds.includes(kind))
    return randomRequest(columns, [...this.#sources.keys()], kinds, this.#random)
  }

  /** What is wrong with the answers: the list, the counts, and the pages. */
  async ask(request: JsonObject, totals: ModelTotals): Promise<string[]> {
    const { service, known } = this.#opened()
    const outcome = await hold({ service, known }, request)
    if (outcome.isTooComplex || outcome.refused !== undefined) return [...outcome.faults]
    totals.requestCount++
    totals.recipientCount += outcome.recipientCount
    totals.insideCount += outcome.insideCount
    totals.suppressedCount += this.#suppressed.size
    if ('distinct' in request || 'Distinct' in request) totals.distinctCount++
    const pages = await findPageFaults(service, request, this.#random, {
      isSuppressed: this.#isSuppressed,
      suppressSome: () => this.#changeSuppressed(0.02),
    })
    totals.pageCount += pages.pageCount
    return [...outcome.faults, ...pages.faults]
  }

  async #import(): Promise<void> {
    const random = this.#random
    const id = random.pick(SOURCE_IDS)
    const world = randomWorld(
      random.pick([...worldKinds, ...globeWorldKinds]),
      random.between(1, 120),
      random,
    )
    const columns = withRepeatedPhones(world, random.pick([0, 0.3]), random)
    await publishTest(this.#directory, id, columns)
    this.#sources.set(id, { id, label: `Source ${id}`, columns })
  }

  async #reopen(): Promise<void> {
    if (this.#open !== undefined) {
      const rooms = this.#open.snapshot.shards.flatMap(({ arena }) => (arena ? [{ arena }] : []))
      for (const { arena } of rooms) releaseZones(arena, threadId)
      this.#arenas.giveBack(rooms)
    }
    const snapshot = await attachRepeats(
      await openSnapshot(this.#directory, { arenas: this.#arenas }),
    )
    const service = serviceOf(snapshot.id, snapshot.sources, snapshot.shards)
    const sources = snapshot.sources.map(({ id }) => this.#sourceOf(id))
    const known = await recipientsOf(service, sources, limits.shardRecipientCount)
    this.#open = { snapshot, service, known }
    this.#mark()
  }

  /** Suppresses phones of the sources, and some that nobody has, for one source or for all. */
  #changeSuppressed(share: number): void {
    const random = this.#random
    for (const { id, phones } of this.#opened().known) {
      for (const phone of [...new Set(phones), '+9990']) {
        if (random.unit() < share) this.#suppressed.add(random.pick([phone, `${id} ${phone}`]))
      }
    }
    this.#mark()
  }

  #allow(): void {
    for (const key of [...this.#suppressed]) {
      if (this.#random.unit() < 0.6) this.#suppressed.delete(key)
    }
    this.#mark()
  }

  #mark(): void {
    const open = this.#opened()
    markSuppressed(open.service.shards, this.#isSuppressed)
    open.known = suppress(open.service, open.known, this.#isSuppressed)
  }

  readonly #isSuppressed = (phone: string, sourceId: number): boolean =>
    this.#suppressed.has(phone) || this.#suppressed.has(`${sourceId} ${phone}`)

  #opened() {
    if (this.#open === undefined) throw new Error('there is a snapshot')
    return this.#open
  }

  #sourceOf(id: number): LocalSource {
    const source = this.#sources.get(id)
    if (source === undefined) throw new Error(`source ${id} was imported`)
    return source
  }
}
