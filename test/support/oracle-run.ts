/**
 * Random requests against the real stages of a selection, held against the oracle. A run is made
 * of worlds with some requests each; both follow from the seed and the number of the world.
 *
 * @module
 */
import { crc32 } from 'node:zlib'
import { ServiceError } from '../../src/errors.js'
import { type Access, OPEN_ACCESS } from '../../src/selection/access.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import { partition } from '../../src/shard/build/partition.js'
import { type AnsweredRecord, type Comparison, compare, keyOf } from '../oracle/compare.js'
import { compareDistinct, type DistinctSource } from '../oracle/distinct.js'
import { readGeometry } from '../oracle/geometry/geometry.js'
import { Refused } from '../oracle/geometry/unwrap.js'
import { expectedOf, type OracleBoundary, type OracleSource } from '../oracle/request.js'
import type { Verdict } from '../oracle/verdict.js'
import { everywhere } from './data/everywhere.js'
import { markSuppressed } from './data/marked.js'
import { withRepeatedPhones } from './data/repeated-phones.js'
import { spelledJson } from './random/request-text.js'
import {
  type JsonObject,
  type RequestKind,
  randomBoundary,
  randomRequest,
} from './random/requests.js'
import { smallest } from './random/shrink.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  seededRandom,
  worldKinds,
} from './random/world.js'
import { answerTo } from './service/answer-to.js'
import { type LocalService, type LocalSource, localService } from './service/local-service.js'
import { memoryReply } from './service/memory-reply.js'

export const REQUESTS_PER_WORLD = 50

export interface RunTotals {
  requestCount: number
  /** Held against the oracle one by one, in a list and a count of each request. */
  recipientCount: number
  insideCount: number
  eitherCount: number
  /** Requests that both refused. */
  refusedCount: number
  /** Requests beyond what the service takes on, which the oracle has no bounds for. */
  tooComplexCount: number
  wrongCount: number
}

export interface WrongAnswer {
  readonly seed: number
  readonly worldNumber: number
  /** The smallest request found that is answered wrongly, and in what way. */
  readonly request: JsonObject
  readonly faults: readonly string[]
}

export function noTotals(): RunTotals {
  return {
    requestCount: 0,
    recipientCount: 0,
    insideCount: 0,
    eitherCount: 0,
    refusedCount: 0,
    tooComplexCount: 0,
    wrongCount: 0,
  }
}

/** Asks the requests of one world and adds to `totals`; gives the first few wrong answers. */
export async function compareWorld(
  seed: number,
  worldNumber: number,
  kinds: readonly RequestKind[],
  totals: RunTotals,
  isAlwaysClipped = false,
): Promise<WrongAnswer[]> {
  const random = seededRandom((seed * 1_000_003 + worldNumber) | 0)
  const world = await makeWorld(random, isAlwaysClipped)
  const wrong: WrongAnswer[] = []
  for (let count = 0; count < REQUESTS_PER_WORLD; count++) {
    const { columns } = random.pick(world.sources)
    const sourceIds = world.sources.map(({ id }) => id)
    const request = randomRequest(columns, sourceIds, kinds, random)
    const outcome = await hold(world, request)
    // A ring can lose its third point by chance.
    const isChance = outcome.refused === 'DegenerateRing' && !kinds.includes('degenerateRing')
    if (isChance && outcome.faults.length === 0) continue
    if (outcome.isTooComplex) {
      totals.tooComplexCount++
      continue
    }
    totals.requestCount++
    totals.recipientCount += outcome.recipientCount
    totals.insideCount += outcome.insideCount
    totals.eitherCount += outcome.eitherCount
    if (outcome.refused !== undefined) totals.refusedCount++
    if (outcome.faults.length === 0) continue
    totals.wrongCount++
    if (wrong.length >= 3) continue
    const isWrong = async (smaller: JsonObject) => {
      const held = await hold(world, smaller).catch(() => undefined)
      if (held === undefined || held.isTooComplex || isUnread(held.faults)) return false
      return held.refused === outcome.refused && held.faults.length > 0
    }
    const least = isUnread(outcome.faults) ? request : await smallest(request, isWrong)
    const { faults } = await hold(world, least)
    wrong.push({ seed, worldNumber, request: least, faults: faults.slice(0, 3) })
  }
  return wrong
}

export type KnownRecipients = OracleSource & DistinctSource

export interface World {
  readonly sources: readonly LocalSource[]
  readonly service: LocalService
  readonly known: readonly KnownRecipients[]
  readonly boundaries?: readonly OracleBoundary[]
  /** Of the client; it may ask for everything unless given. */
  readonly access?: Access
}

async function makeWorld(random: Random, isAlwaysClipped: boolean): Promise<World> {
  const globe = [...globeWorldKinds, 'antimeridian'] as const
  const kind = random.pick([...worldKinds, ...globe, ...globe])
  const sources = [7, 30].map((id) => ({
    id,
    label: `Source ${id}`,
    columns: withRepeatedPhones(
      randomWorld(kind, random.between(1, 250), random),
      random.pick([0, 0.3]),
      random,
    ),
  }))
  const shardRecipientCount = random.between(30, 150)
  const service = localService(sources, shardRecipientCount)
  const known = await recipientsOf(service, sources, shardRecipientCount)
  const share = random.pick([0, 0, 0.02, 0.5])
  const drawn = (points: OracleSource['points']) =>
    boundaryOf(random.pick(sources).columns, points, random)
  const points = known.flatMap((source) => source.points)
  const ofKey = random.unit() < 0.3 ? drawn(points) : undefined
  const { geometry } = drawn(ofKey?.within ?? points)
  const configured = { geometry, isAlways: isAlwaysClipped || random.unit() < 0.2 }
  return {
    sources,
    service: {
      ...service,
      boundaryRule: createBoundaryRule(() => configured.geometry, configured.isAlways),
    },
    known: suppress(service, known, () => random.unit() < share),
    boundaries: [
      configured,
      ...(ofKey === undefined ? [] : [{ geometry: ofKey.geometry, isAlways: true }]),
    ],
    access: { ...OPEN_ACCESS, boundary: ofKey?.geometry },
  }
}

/**
 * One that is a shape, since a ring can lose its third point by chance, and that has next to nobody on its
 * edges, where all requests of a world would be in doubt. Most hold a twentieth of the points at least: more
 * than half of what is drawn holds nobody, and no request of such a world finds anybody.
 */
function boundaryOf(
  columns: LocalSource['columns'],
  points: OracleSource['points'],
  random: Random,
): { geometry: JsonObject; within: OracleSource['points'] } {
  const leastCount = random.unit() < 0.2 ? 0 : points.length / 20
  for (;;) {
    const geometry = randomBoundary(columns, random)
    if (createBoundaryRule(() => geometry, true).fault() !== undefined) continue
    const region = readGeometry(geometry, undefined)
    const are = (verdict: Verdict) =>
      points.filter(({ lngUnits, latUnits }) => region(lngUnits, latUnits) === verdict)
    const within = are('inside')
    if (within.length < leastCount || are('either').length > points.length / 100) continue
    return { geometry, within }
  }
}

/** What is to be known of all recipients, of whom nobody may be marked yet. */
export async function recipientsOf(
  service: LocalService,
  sources: readonly LocalSource[],
  shardRecipientCount: number,
): Promise<KnownRecipients[]> {
  const listed = await ask(service, { geoJSON: everywhere })
  return sources.map((source, at) =>
    knownSource(source, shardRecipientCount, listed[at].Recipients ?? []),
  )
}

/** Suppresses phones, and says so to the oracle; each phone of a source is asked about once. */
export function suppress(
  { shards }: LocalService,
  known: readonly KnownRecipients[],
  isChosen: (phone: string, sourceId: number) => boolean,
): KnownRecipients[] {
  const suppressed = new Set<string>()
  for (const { id, phones } of known) {
    for (const phone of new Set(phones)) {
      if (isChosen(phone, id)) suppressed.add(`${id} ${phone}`)
    }
  }
  markSuppressed(shards, (phone, sourceId) => suppressed.has(`${sourceId} ${phone}`))
  return known.map((source) => ({
    ...source,
    points: source.points.map((point, at) => ({
      ...point,
      isSuppressed: suppressed.has(`${source.id} ${source.phones[at]}`),
    })),
  }))
}

/** The recipients of a source in the order of the list, which is learnt from a list of them all. */
function knownSource(
  { id, columns }: LocalSource,
  shardRecipientCount: number,
  listed: NonNullable<AnsweredRecord['Recipients']>,
) {
  const { lngs, lats, contacts, phones, phoneOffsets, recipientCount } = columns
  const rows = partition(columns, shardRecipientCount).flatMap((shard) => [...shard])
  const tieRanks = new Map(rows.map((row, rank) => [row, rank]))
  const rowsByKey = new Map(
    Array.from({ length: recipientCount }, (_, row) => {
      const phone = phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])
      return [keyOf(Buffer.from(phone).toString(), lngs[row] / 1e7, lats[row] / 1e7), row]
    }),
  )
  const keys = listed.map(({ Number: phone, LatLng }) => keyOf(phone, LatLng.Lng, LatLng.Lat))
  const ordered = keys.map((key) => rowsByKey.get(key) ?? -1)
  if (new Set(ordered).size !== recipientCount || ordered.includes(-1)) {
    throw new Error('a list of the whole globe is not all recipients')
  }
  return {
    id,
    keys,
    phones: listed.map(({ Number: phone }) => phone),
    contacts: ordered.map((row) => contacts[row]),
    points: ordered.map((row) => ({
      lngUnits: lngs[row],
      latUnits: lats[row],
      contact: contacts[row],
      tieRank: tieRanks.get(row) ?? -1,
    })),
  }
}

export interface Outcome extends Comparison {
  /** Why the oracle has the request refused. */
  readonly refused: string | undefined
  readonly isTooComplex: boolean
}

/** Holds the list and the counts that answer a request against the oracle. */
export async function hold(
  { service, known, boundaries, access = OPEN_ACCESS }: Omit<World, 'sources'>,
  request: JsonObject,
): Promise<Outcome> {
  const nothing = { recipientCount: 0, insideCount: 0, eitherCount: 0, isTooComplex: false }
  try {
    const expected = expectedOf(request, known, boundaries)
    const asks = (asked: JsonObject) => ask(service, asked, access)
    const listed = await asks(request)
    const counted = await asks({ ...request, countsOnly: true })
    if (!expected.isDistinct) {
      return { ...nothing, ...compare(expected, known, listed, counted), refused: undefined }
    }
    const { byContact } = expected
    const plain = without(request, /^(distinct|contactcountmode)$/i)
    const everybody = await asks(plain)
    const plainCounted = await asks({ ...plain, countsOnly: true })
    const compared = compare({ ...expected, byContact: false }, known, everybody, plainCounted)
    const faults = compareDistinct(known, everybody, byContact, listed, counted)
    return {
      ...nothing,
      ...compared,
      faults: [...compared.faults, ...faults],
      refused: undefined,
    }
  } catch (error) {
    if (error instanceof ServiceError) {
      const isTooComplex = error.code === 'TooComplex'
      const faults = isTooComplex ? [] : [`${UNREAD} ${error.message}`]
      return { ...nothing, faults, refused: undefined, isTooComplex }
    }
    if (!(error instanceof Refused)) throw error
    const isRefused = await isNotAnswered(service, request)
    const faults = isRefused ? [] : ['is answered, but is to be refused']
    return { ...nothing, faults, refused: error.message }
  }
}

function without(request: JsonObject, names: RegExp): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.test(name)))
}

const UNREAD = 'is refused:'

function isUnread(faults: readonly string[]): boolean {
  return faults.some((fault) => fault.startsWith(UNREAD))
}

async function isNotAnswered(service: LocalService, request: JsonObject): Promise<boolean> {
  try {
    await ask(service, request)
    return false
  } catch (error) {
    // What is too complex may be refused for that before its other fault is found.
    return error instanceof ServiceError && [400, 422].includes(error.status)
  }
}

/** Every other request with its numbers spelled in many ways, always the same for the same request. */
export async function ask(
  service: LocalService,
  request: JsonObject,
  access = OPEN_ACCESS,
): Promise<AnsweredRecord[]> {
  const reply = memoryReply()
  const plain = JSON.stringify(request)
  const random = seededRandom(crc32(plain) | 0)
  const text = random.unit() < 0.5 ? plain : spelledJson(request, random)
  await answerTo(service, Buffer.from(text), 'json', reply, access)
  return JSON.parse(reply.text()).SourceRecords
}
