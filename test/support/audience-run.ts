/**
 * Audiences that many read over many switches of snapshots and a restart: whoever reads one gets the same
 * bytes as whoever read it first. It also measures what an audience costs beside a list.
 *
 * @module
 */
import { createHash, type Hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { publishTest } from './data/snapshots.js'
import { seededRandom } from './random/world.js'
import { type Owner, type Service, serve } from './service/hickory.js'

export interface AudienceRunOptions {
  readonly recipientCount: number
  readonly readerCount: number
  readonly swapCount: number
  /** How often each cost is measured. */
  readonly repeatCount: number
  readonly seed: number
}

/** Of one selection, medians in milliseconds. */
export interface AudienceCost {
  readonly name: string
  readonly recipientCount: number
  /** The file of the audience, which is what a front thread has of it in memory. */
  readonly fileBytes: number
  /** The first thousand of an ordinary list. */
  readonly listPageMs: number
  readonly freezeMs: number
  /** The first thousand of the audience, and the thousand in its middle. */
  readonly audiencePageMs: number
  readonly middlePageMs: number
  /** The same, the first time after a number was suppressed. */
  readonly suppressedPageMs: number
}

export interface AudienceRun {
  readonly costs: readonly AudienceCost[]
  /** Of everything that was read, by reader; the first is of a list that was read before any switch. */
  readonly contentDigests: readonly string[]
  /** What the answers named as the digest of the audience. */
  readonly digests: ReadonlySet<string | null>
  readonly repeatedPageCount: number
  readonly readRowCount: number
  readonly snapshotCount: number
  /** Of the service: before any audience, and when all had read. */
  readonly residentBytes: readonly number[]
}

/** Pages of each reader between two switches. */
const PAGES_A_PHASE = 2

export async function runAudiences(
  t: Owner,
  data: string,
  { recipientCount, readerCount, swapCount, repeatCount, seed }: AudienceRunOptions,
  say: (line: string) => void,
): Promise<AudienceRun> {
  const publish = (round: number) =>
    publishTest(data, 1, spread(recipientCount, seed + round), `Round ${round}`)
  await publish(0)
  const start = () => serve(t, '--data', data)
  let service = await start()
  const residentBytes = [residentOf(service)]
  const costs: AudienceCost[] = []
  for (const selection of SELECTIONS) {
    costs.push(await costOf(service, data, selection, repeatCount))
    say(JSON.stringify(costs.at(-1)))
  }

  const { Id, Count } = await post(service, 'audiences', EVERYBODY.body)
  const digests = new Set<string | null>()
  const target = `audiences/${Id}?format=csv`
  const whole = await hashed(service, target, createHash('sha256'))
  digests.add(whole.digest)
  // One switch a phase, and one phase for the restart.
  const phaseCount = swapCount + 1
  const limit = Math.ceil(Count / (PAGES_A_PHASE * phaseCount))
  let phase = -1
  let repeatedPageCount = 0
  let isRestarting = false

  /**
   * Reads page after page, no faster than the switches. While the service is killed and started, a page is
   * read again until it is whole; before, none may fail.
   */
  const read = async (): Promise<string> => {
    let hash = createHash('sha256')
    let after: string | null = '0'
    for (let page = 0; after !== null; page++) {
      while (phase < Math.floor(page / PAGES_A_PHASE)) await sleep(5)
      const query = `${target}&limit=${limit}&after=${after}`
      try {
        const found = await hashed(service, query, hash, page > 0)
        hash = found.hash
        after = found.next
        digests.add(found.digest)
      } catch (error) {
        if (!isRestarting || ++repeatedPageCount > 1_000 * readerCount) throw error
        await sleep(100)
        page--
      }
    }
    return hash.digest('hex')
  }

  const readers = Promise.all(Array.from({ length: readerCount }, read))
  // So that a reader that fails early is reported at the end.
  readers.catch(() => {})
  for (let swap = 1; swap <= swapCount; swap++) {
    phase++
    const id = await publish(swap)
    while (!(await textOf(service, 'sources')).includes(id)) await sleep(20)
    say(`switched to ${id}`)
  }
  phase++
  await sleep(20)
  isRestarting = true
  await service.stop('SIGKILL')
  service = await start()
  say('started again')
  const contentDigests = [whole.hash.digest('hex'), ...(await readers)]
  residentBytes.push(residentOf(service))
  return {
    costs,
    contentDigests,
    digests,
    repeatedPageCount,
    readRowCount: (readerCount + 1) * Count,
    snapshotCount: readdirSync(join(data, 'snapshots')).length,
    residentBytes,
  }
}

interface Selection {
  readonly name: string
  readonly body: object
}

const EVERYBODY: Selection = { name: 'everybody', body: { geoJSON: box(100) } }

const SELECTIONS: readonly Selection[] = [
  { name: '0.01 %', body: { geoJSON: box(1) } },
  { name: '1 %', body: { geoJSON: box(10) } },
  { name: '25 %', body: { geoJSON: box(50) } },
  EVERYBODY,
  // Every second recipient or so: most runs are of one or two.
  {
    name: 'everybody, each contact once',
    body: { geoJSON: box(100), contactCountMode: 'Contact' },
  },
]

/** A part of the world of `spread`, so many hundredths of it wide and high, in the middle. */
function box(hundredths: number): object {
  const half = hundredths / 20
  const [low, high] = [5 - half, 5 + half]
  const ring = [
    [low, low],
    [high, low],
    [high, high],
    [low, high],
    [low, low],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

/** Recipients all over ten degrees; two have a contact together. */
function spread(recipientCount: number, seed: number): RecipientColumns {
  const random = seededRandom(seed)
  const place = () => Int32Array.from({ length: recipientCount }, () => random.unit() * 100_000_000)
  const PHONE_BYTES = 13
  const phones = Buffer.alloc(PHONE_BYTES * recipientCount, '+999')
  for (let row = 0; row < recipientCount; row++) {
    phones.write(`+999${String(row).padStart(9, '0')}`, PHONE_BYTES * row, 'latin1')
  }
  return {
    recipientCount,
    lngs: place(),
    lats: place(),
    contacts: Uint32Array.from({ length: recipientCount }, (_, row) => row >> 1),
    contactCount: (recipientCount + 1) >> 1,
    phoneOffsets: Uint32Array.from({ length: recipientCount + 1 }, (_, row) => PHONE_BYTES * row),
    phones,
  }
}

/** How many numbers were suppressed. */
let number = 0

async function costOf(
  service: Service,
  data: string,
  { name, body }: Selection,
  repeatCount: number,
): Promise<AudienceCost> {
  const medianMs = (work: () => Promise<unknown>, before?: () => Promise<void>) =>
    medianMsOf(repeatCount, work, before)
  const page = { ...body, limit: 1_000 }
  const listPageMs = await medianMs(() => post(service, 'recipients', page))
  const freezeMs = await medianMs(async () => {
    const { Id } = await post(service, 'audiences', body)
    await call(service, 'DELETE', `audiences/${Id}`)
  })
  const { Id, Count } = await post(service, 'audiences', body)
  const pageAt = (after: number) => () =>
    textOf(service, `audiences/${Id}?limit=1000&after=${after}`)
  const audiencePageMs = await medianMs(pageAt(0))
  const middlePageMs = await medianMs(pageAt(Count >> 1))
  const suppressedPageMs = await medianMs(pageAt(0), async () => {
    const body = JSON.stringify({ Numbers: [`+998${number++}`] })
    await call(service, 'PUT', 'suppressions', body)
  })
  const file = readdirSync(join(data, 'audiences')).find((each) => each.startsWith(Id)) ?? ''
  const { size: fileBytes } = statSync(join(data, 'audiences', file))
  await call(service, 'DELETE', `audiences/${Id}`)
  const pages = { listPageMs, freezeMs, audiencePageMs, middlePageMs, suppressedPageMs }
  return { name, recipientCount: Count, fileBytes, ...pages }
}

async function medianMsOf(
  repeatCount: number,
  work: () => Promise<unknown>,
  before = async () => {},
): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < repeatCount; i++) {
    await before()
    const startMs = performance.now()
    await work()
    times.push(performance.now() - startMs)
  }
  return Number(times.sort((a, b) => a - b)[repeatCount >> 1].toFixed(1))
}

async function post(
  service: Service,
  path: string,
  body: object,
): Promise<{ Id: string; Count: number }> {
  const response = await call(service, 'POST', path, JSON.stringify(body))
  return (await response.json()) as { Id: string; Count: number }
}

async function textOf(service: Service, path: string): Promise<string> {
  return await (await call(service, 'GET', path)).text()
}

/** @throws Error  where the answer is none, or says so */
async function call({ url }: Service, method: string, path: string, body?: string) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(`${url}/api/${path}`, { method, headers, ...(body && { body }) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}

/** A copy of a hash, with the body of an answer behind it. */
async function hashed(service: Service, path: string, before: Hash, isWithoutHead = false) {
  const response = await call(service, 'GET', path)
  const hash = before.copy()
  let hasHead = isWithoutHead
  for await (const chunk of response.body ?? []) {
    // The first line has the names of the columns, on every page.
    const start = hasHead ? Buffer.from(chunk).indexOf('\n') + 1 : 0
    hash.update(chunk.subarray(start))
    hasHead = false
  }
  const { headers } = response
  return { hash, next: headers.get('x-next-after'), digest: headers.get('x-audience-digest') }
}

/** In RAM, as Linux has it. */
function residentOf({ process: { pid } }: Service): number {
  const [, kiB] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kiB) * 1_024
}
