/**
 * A key with a boundary is told nothing of anybody beyond: whatever it asks, it gets the same answer from
 * a service that has nobody beyond. Two services are asked the same random requests by the same key, one
 * with everybody, and one with those alone whom brute force finds within the boundary.
 *
 * @module
 */

import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { MapContext } from '../../src/interface/context.js'
import { contextOperations, contextReader } from '../../src/operations/contexts.js'
import { type LiveCounts, startLiveCounts } from '../../src/operations/live-counts.js'
import { outlineOperations } from '../../src/operations/selections.js'
import { type Access, OPEN_ACCESS } from '../../src/selection/access.js'
import { answer } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { rankOf } from '../../src/shard/mask.js'
import { createProgress } from '../../src/suppressions/progress.js'
import { readGeometry } from '../oracle/geometry/geometry.js'
import { everywhere } from '../support/data/everywhere.js'
import { withRepeatedPhones } from '../support/data/repeated-phones.js'
import { silentLog, temporaryStore } from '../support/data/store.js'
import { here } from '../support/random/outlines.js'
import { testSeed } from '../support/random/properties.js'
import {
  type JsonObject,
  kindsOfWorld,
  type RequestKind,
  randomBoundary,
  randomRequest,
} from '../support/random/requests.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  seededRandom,
  worldKinds,
} from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { always } from '../support/service/current.js'
import { inTime } from '../support/service/in-time.js'
import { type LocalService, localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const REQUEST_COUNT = byTier({ ci: 75, soak: 10_000 })
const REQUESTS_PER_WORLD = byTier({ ci: 25, soak: 100 })

interface Side {
  readonly service: LocalService
  readonly counts: LiveCounts
  readonly contexts: ReturnType<typeof contextOperations>
}

interface World {
  readonly columns: RecipientColumns
  readonly access: Access
  /** With everybody. */
  readonly all: Side
  /** With those within the boundary alone. */
  readonly within: Side
  /** Who that is, as they stand in lists. */
  readonly insiders: ReadonlySet<string>
  readonly kinds: readonly RequestKind[]
}

t.test('no answer to a key tells of anybody beyond its boundary', async (t) => {
  const seed = testSeed(t)
  const totals = { requests: 0, listed: 0, refused: 0, warned: 0, pages: 0 }
  const store = await temporaryStore(t)
  for (let at = 0; at < REQUEST_COUNT / REQUESTS_PER_WORLD; at++) {
    const random = seededRandom((seed * 1_000_003 + at) | 0)
    const world = makeWorld(store, random, kindsOfWorld(at))
    for (let i = 0; i < REQUESTS_PER_WORLD; i++) {
      const drawn = randomRequest(world.columns, [7, 30, 31], world.kinds, random)
      const request = optionally(drawn, random)
      totals.requests++
      const where = `world ${at} of seed ${seed}: ${JSON.stringify(request)}`
      const fail = (what: string) => t.fail(`${what}: ${where}`)
      await compare(world, request, totals, fail)
      // These take ten times as long.
      if (i === 0) await compareOutlines(world, request, fail)
      if (i % 3 === 0) await compareContexts(world, request, fail)
    }
    for (const { counts } of [world.all, world.within]) counts.stop()
  }
  t.comment(JSON.stringify(totals))
  t.ok(totals.listed > totals.requests, 'many are listed')
  t.ok(totals.warned > totals.requests / 20, 'some are warned')
  t.ok(totals.pages > totals.requests / 100, 'some have several pages')
  t.ok(totals.refused < totals.requests / 4, 'few are refused')
})

function optionally(request: JsonObject, random: Random): JsonObject {
  return {
    ...request,
    ...(random.unit() < 0.4 && { countsOnly: true }),
    ...(random.unit() < 0.2 && { clipToBoundary: false }),
  }
}

async function compare(
  world: World,
  request: JsonObject,
  totals: { listed: number; refused: number; warned: number; pages: number },
  fail: (what: string) => void,
): Promise<void> {
  const [told, wanted] = await Promise.all(
    [world.all, world.within].map((side) => ask(side.service, world.access, request)),
  )
  if (told.refused !== wanted.refused) fail(`refused: ${told.refused}, not ${wanted.refused}`)
  if (told.warnings !== wanted.warnings) fail(`${told.warnings}, not ${wanted.warnings}`)
  // Of those who share a contact or a phone the first one is listed, which another order changes; and that
  // one may also share the other with a third.
  const isByContact = /"contactcountmode":"contact"/i.test(JSON.stringify(request))
  const isDistinct = /"distinct":true/i.test(JSON.stringify(request))
  const isSame = String(told.counts) === String(wanted.counts)
  if (!isSame && !(isByContact && isDistinct)) fail(`${told.counts}, not ${wanted.counts}`)
  if (!isByContact && !isDistinct && told.listed.join() !== wanted.listed.join())
    fail('others are listed')
  if (told.listed.some((each) => !world.insiders.has(each))) fail('somebody beyond is listed')
  if (!request.countsOnly && told.refused === undefined && told.listed.length > 3) {
    totals.pages++
    await comparePages(world, request, told.listed, fail)
  }
  totals.listed += told.listed.length
  if (told.refused !== undefined) totals.refused++
  if (told.warnings !== '') totals.warned++
}

/** Pages are the list, and their cursors count insiders alone. */
async function comparePages(
  { all, access }: World,
  request: JsonObject,
  listed: readonly string[],
  fail: (what: string) => void,
): Promise<void> {
  const limit = Math.ceil(listed.length / 3)
  const boundary = all.service.boundaryRule.for(undefined, access)
  const mask = boundary === undefined ? undefined : await all.service.masks.of(boundary, inTime())
  const insiderCount = mask && rankOf(mask, { shardIndex: mask.runs.length, recipient: 0 })
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await ask(all.service, access, { ...request, limit, ...(after && { after }) })
    found.push(...page.listed)
    after = page.next
    if (after === undefined) continue
    const place = Buffer.from(after, 'base64url')
    const [shardIndex, rank] = [place.readUInt32BE(0), place.readUInt32BE(4)]
    if (shardIndex !== 0 || rank > Number(insiderCount)) fail(`a cursor at ${shardIndex}/${rank}`)
  } while (after !== undefined)
  if (found.sort().join() !== listed.join()) fail('pages are not the list')
}

async function compareOutlines(
  { all, within, access }: World,
  request: JsonObject,
  fail: (what: string) => void,
): Promise<void> {
  const { countsOnly: _, ...asked } = request
  const [told, wanted] = await Promise.all(
    [all, within].map(({ service }) => {
      const { OutlineRequest } = outlineOperations({
        catalogue: service.catalogue,
        runner: here,
        boundaryRule: service.boundaryRule,
      })
      return OutlineRequest(asked, { ...inTime(), access }).then(
        (outline) => outline?.json(),
        codeOf,
      )
    }),
  )
  if (told !== wanted) fail('another outline')
}

/** An area of a context, if the request is one geometry. */
async function compareContexts(
  { all, within, access }: World,
  { geoJSON }: JsonObject,
  fail: (what: string) => void,
): Promise<void> {
  if (typeof geoJSON !== 'object' || geoJSON === null || !('coordinates' in geoJSON)) return
  const [told, wanted] = await Promise.all(
    [all, within].map(async ({ contexts }, at) => {
      const request = { Id: `${at}`.repeat(32), Areas: [{ Id: 'a', Geometry: geoJSON }] }
      const written = await contexts
        .PutMapContextRequest(request, { ...inTime(), access })
        .then((answer) => answer?.json(), codeOf)
      if (written === undefined || typeof written === 'string') return written
      const context = JSON.parse(Buffer.from(written as Uint8Array).toString()) as MapContext
      return JSON.stringify({ ...context, Id: '' })
    }),
  )
  if (told !== wanted) fail(`another context: ${told}, not ${wanted}`)
}

interface Told {
  readonly refused: string | undefined
  readonly warnings: string
  readonly counts: readonly number[]
  /** Sorted. */
  readonly listed: readonly string[]
  readonly next: string | undefined
}

async function ask(service: LocalService, access: Access, request: JsonObject): Promise<Told> {
  try {
    const given = await answer(service, request, { ...inTime(), access })
    const { SourceRecords, Warnings } = JSON.parse(await bodyText(given.json()))
    type SentRecord = { SourceId: number; Count: number; Recipients?: object[] }
    const records = SourceRecords as SentRecord[]
    return {
      refused: undefined,
      warnings: Warnings === undefined ? '' : JSON.stringify(Warnings),
      counts: records.map(({ Count }) => Count),
      listed: records
        .flatMap(({ SourceId, Recipients = [] }) =>
          Recipients.map((each) => `${SourceId} ${JSON.stringify(each)}`),
        )
        .sort(),
      next: given.headers['X-Next-After'],
    }
  } catch (fault) {
    return { refused: codeOf(fault), warnings: '', counts: [], listed: [], next: undefined }
  }
}

function codeOf(fault: unknown): string {
  if (!(fault instanceof ServiceError)) throw fault
  return `${fault.code} ${fault.message}`
}

function makeWorld(
  store: Parameters<typeof contextOperations>[0],
  random: Random,
  kinds: readonly RequestKind[],
): World {
  const kind = random.pick([...worldKinds, ...globeWorldKinds])
  // The nearest of several at one place is a matter of their order, which is another one here.
  const isSpread = random.unit() < 0.5
  const everybody = [7, 30].map((id) => {
    const columns = randomWorld(kind, random.between(1, 250), random)
    const kept = isSpread ? onePerPlace(columns) : columns
    return { id, label: `Source ${id}`, columns: withRepeatedPhones(kept, 0.2, random) }
  })
  // A source that has nobody, or that has nobody within.
  const other = randomWorld(kind, 40, random)
  const sources = [...everybody, { id: 31, label: 'Source 31', columns: other }]
  const { columns } = random.pick(everybody)
  const boundary = usableBoundary(columns, random)
  const isWithin = readGeometry(boundary, undefined)
  const certain = sources.map(({ columns, ...source }) => ({
    ...source,
    columns: rowsOf(columns, (lng, lat) => isWithin(lng, lat) !== 'either'),
  }))
  const insiders = certain.map(({ columns, ...source }) => ({
    ...source,
    columns: rowsOf(columns, (lng, lat) => isWithin(lng, lat) === 'inside'),
  }))
  return {
    columns,
    access: { ...OPEN_ACCESS, boundary },
    all: sideOf(certain, random, store),
    within: sideOf(insiders, random, store),
    insiders: new Set(insiders.flatMap(({ id, columns }) => rowTexts(id, columns))),
    kinds: kinds.filter((each) => each !== 'degenerateRing' && (isSpread || each !== 'nearest')),
  }
}

function sideOf(
  sources: Parameters<typeof localService>[0],
  random: Random,
  store: Parameters<typeof contextOperations>[0],
): Side {
  // Some of both have a boundary of the service as well, which holds where a request asks for it.
  const service = {
    ...localService(sources, random.between(30, 150)),
    boundaryRule: createBoundaryRule(() => everywhere, false),
  }
  const counts = startLiveCounts({
    store,
    current: always(service),
    suppressionProgress: createProgress(),
    log: silentLog,
  })
  return { service, counts, contexts: contextOperations(store, contextReader(store, counts)) }
}

/** Most hold a twentieth of the recipients at least: of more than half of what is drawn, nobody is within. */
function usableBoundary(columns: RecipientColumns, random: Random): JsonObject {
  const leastCount = random.unit() < 0.2 ? 0 : columns.recipientCount / 20
  for (;;) {
    const geometry = randomBoundary(columns, random)
    const access = { ...OPEN_ACCESS, boundary: geometry }
    try {
      createBoundaryRule(() => undefined, false).for(undefined, access)
      const region = readGeometry(geometry, undefined)
      const within = columns.lngs.filter((lng, row) => region(lng, columns.lats[row]) === 'inside')
      if (within.length >= leastCount) return geometry
    } catch {
      // Now and then, a random shape is none.
    }
  }
}

function onePerPlace(columns: RecipientColumns): RecipientColumns {
  const seen = new Set<string>()
  return rowsOf(columns, (lng, lat) => {
    // A pole has every longitude, and the antimeridian two.
    const place = Math.abs(lat) === 90e7 ? `${lat}` : `${lng === 180e7 ? -180e7 : lng} ${lat}`
    return seen.size < seen.add(place).size
  })
}

function rowsOf(
  columns: RecipientColumns,
  isKept: (lng: number, lat: number) => boolean,
): RecipientColumns {
  const { recipientCount, lngs, lats, contacts, phones, phoneOffsets } = columns
  const rows = Array.from({ length: recipientCount }, (_, row) => row).filter((row) =>
    isKept(lngs[row], lats[row]),
  )
  const texts = rows.map((row) => phones.subarray(phoneOffsets[row], phoneOffsets[row + 1]))
  const offsets = new Uint32Array(rows.length + 1)
  for (const [at, text] of texts.entries()) offsets[at + 1] = offsets[at] + text.length
  return {
    ...columns,
    recipientCount: rows.length,
    lngs: Int32Array.from(rows, (row) => lngs[row]),
    lats: Int32Array.from(rows, (row) => lats[row]),
    contacts: Uint32Array.from(rows, (row) => contacts[row]),
    phoneOffsets: offsets,
    phones: Buffer.concat(texts),
  }
}

/** As lists have them. */
function rowTexts(id: number, columns: RecipientColumns): string[] {
  const { recipientCount, lngs, lats, phones, phoneOffsets } = columns
  return Array.from({ length: recipientCount }, (_, row) => {
    const phone = Buffer.from(phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])).toString()
    const place = { Lat: lats[row] / 1e7, Lng: lngs[row] / 1e7 }
    return `${id} ${JSON.stringify({ Number: phone, LatLng: place })}`
  })
}
