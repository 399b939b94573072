/**
 * Three machines that hold two thirds of the recipients each, beside one machine that holds all of them: the same requests
 * to both, and the bytes of the answers compared.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createReadStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { readCurrent } from '../../../src/snapshot/directory.js'
import { columnsOf, type TestRecipient } from '../../support/data/columns.js'
import { kindsOfWorld, randomRequest } from '../../support/random/requests.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import {
  hickory,
  type Owner,
  type Service,
  serve,
  temporaryDirectory,
} from '../../support/service/hickory.js'
import { serveMachine } from '../support/machines.js'
import { startNatsServer } from '../support/nats-servers.js'

export const SITES = ['site-a', 'site-b', 'site-c'] as const
const SOURCES = [3, 7] as const

interface RegionsOptions {
  readonly recipientCount: number
  readonly seed: number
  /** Of Node.js, for the imports. */
  readonly importArgs?: readonly string[]
  readonly tell?: (what: string) => void
}

export interface Regions {
  readonly machines: readonly Service[]
  /** Starts one of them that has ended. */
  readonly restart: (at: number) => Promise<Service>
  readonly one: Service
  /** Of the machine that writes. */
  readonly data: string
  readonly reach: readonly string[]
  /** Some of the recipients, by source. */
  readonly samples: readonly RecipientColumns[]
}

/** Machines that are ready with a snapshot of which each shard is on two of them. */
export async function startRegions(owner: Owner, options: RegionsOptions): Promise<Regions> {
  const { recipientCount, seed, importArgs = [], tell = () => {} } = options
  const directory = temporaryDirectory(owner)
  const importFile = (data: string, { source, file }: MadeFile) => {
    // Not the bundle, which has its own copy of the limits that what is loaded before may change.
    const cli = new URL('../../../src/cli.js', import.meta.url).pathname
    const args = ['--data', data, '--source', String(source), '--label', `Source ${source}`, file]
    execFileSync(process.execPath, [...importArgs, cli, 'import', ...args], { stdio: 'pipe' })
  }
  const data = SITES.map((name) => join(directory, name))
  const samples: RecipientColumns[] = []
  // The machines begin with few, so that none ever has all of the others in its memory.
  importFile(data[0], await makeSome(owner, { source: SOURCES[0], count: 1_000, seed }))
  const nats = await startNatsServer(owner)
  const start = (at: number) =>
    serveMachine(owner, { name: SITES[at], data: data[at], reach: nats.reach }, '--copies', '2')
  const machines: Service[] = []
  for (const at of SITES.keys()) {
    tell(`starting ${SITES[at]}`)
    machines.push(await start(at))
  }
  const writer = data[0]
  const all: MadeFile[] = []
  for (const [at, source] of SOURCES.entries()) {
    const count = Math.floor(recipientCount / SOURCES.length)
    tell(`importing ${count} recipients of source ${source}`)
    const made = await makeSome(owner, { source, count, seed: seed + at })
    importFile(writer, made)
    samples.push(await sampleOf(made.file))
    all.push(made)
    const snapshotId = (await readCurrent(writer)) ?? assert.fail('there is a snapshot')
    tell(`waiting for ${snapshotId} on all machines`)
    for (const { url } of machines) await untilServed(url, snapshotId)
  }
  const alone = join(directory, 'alone')
  for (const made of all) {
    importFile(alone, made)
    rmSync(made.file)
  }
  const one = await serve(owner, '--data', alone, '--http-threads', '1', '--query-threads', '2')
  return {
    machines,
    restart: start,
    one,
    samples,
    data: writer,
    reach: ['--cluster', nats.url],
  }
}

interface MadeFile {
  readonly source: number
  readonly file: string
}

async function makeSome(
  owner: Owner,
  { source, count, seed }: { source: number; count: number; seed: number },
): Promise<MadeFile> {
  const file = join(temporaryDirectory(owner), `${source}.csv`)
  const given = ['--recipients', String(count), '--seed', String(seed), '--out', file]
  await succeeded('generate', ...given)
  return { source, file }
}

export async function untilServed(url: string, snapshotId: string): Promise<void> {
  const untilMs = performance.now() + 120_000
  for (;;) {
    const answer = await fetch(`${url}/readyz`, { headers: { connection: 'close' } })
    const told = (await answer.json()) as { snapshotId?: string }
    if (told.snapshotId === snapshotId) return
    if (performance.now() > untilMs) throw new Error(`${url} does not serve ${snapshotId}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export interface Compared {
  readonly answeredCount: number
  readonly refusedCount: number
  readonly byteCount: number
  readonly oneMs: number
  readonly spreadMs: number
  readonly faults: readonly string[]
}

interface CompareOptions {
  readonly requestCount: number
  readonly seed: number
  /** Of lists, how many are asked for page by page. */
  readonly pageShare?: number
  /** Told now and then. */
  readonly onProgress?: (doneCount: number) => void
}

/**
 * Random requests of all kinds, each to one machine in turn and to the one that holds all.
 */
export async function compare(
  { machines, one, samples }: Pick<Regions, 'machines' | 'one' | 'samples'>,
  { requestCount, seed, pageShare = 0.3, onProgress }: CompareOptions,
): Promise<Compared> {
  const random = seededRandom(seed)
  const faults: string[] = []
  let answeredCount = 0
  let refusedCount = 0
  let byteCount = 0
  let oneMs = 0
  let spreadMs = 0
  for (let number = 0; number < requestCount && faults.length < 3; number++) {
    if (number % 1_000 === 999) onProgress?.(number + 1)
    const { path, request } = drawnRequest(random, samples, number, pageShare)
    const machine = machines[number % machines.length]
    const expected = await timed(one.url, path, request)
    const found = await timed(machine.url, path, request)
    oneMs += expected.ms
    spreadMs += found.ms
    byteCount += expected.bytes.length
    if (expected.status === 200) answeredCount++
    else refusedCount++
    // A budget for each machine is not one for all.
    if (expected.status === 422 && found.status === 200) continue
    let difference = differenceOf(expected, found)
    if (difference === undefined && expected.next !== undefined) {
      // Each goes on from its own end of the page.
      const [next, other] = await Promise.all([
        timed(one.url, path, { ...request, after: expected.next }),
        timed(machine.url, path, { ...request, after: found.next }),
      ])
      difference = differenceOf(next, other)
    }
    if (difference === undefined) continue
    faults.push(
      `request ${number} of seed ${seed}: ${difference}: ${path} ${JSON.stringify(request).slice(0, 2_000)}`,
    )
  }
  return { answeredCount, refusedCount, byteCount, oneMs, spreadMs, faults }
}

const FORMATS = ['json', 'csv', 'ndjson', 'geojson'] as const

function drawnRequest(
  random: Random,
  samples: readonly RecipientColumns[],
  number: number,
  pageShare: number,
) {
  const drawn = randomRequest(random.pick(samples), SOURCES, kindsOfWorld(number), random)
  const isCount = random.unit() < 0.5
  // A list of all of many millions takes minutes.
  const isPage = random.unit() < pageShare
  const request: object = {
    ...drawn,
    ...(isCount && { countsOnly: true }),
    ...(!isCount && isPage && { limit: random.between(1, 5_000) }),
  }
  return { path: `/api/recipients?format=${random.pick(FORMATS)}`, request }
}

interface Answered {
  readonly status: number
  readonly bytes: Buffer
  /** The cursor of what follows. */
  readonly next: string | undefined
  readonly ms: number
}

async function timed(url: string, path: string, request: object): Promise<Answered> {
  const startedMs = performance.now()
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(request),
    headers: { 'content-type': 'application/json' },
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const next = answer.headers.get('x-next-after') ?? undefined
  return { status: answer.status, bytes, next, ms: performance.now() - startedMs }
}

/** A cursor has the number of batches since the snapshot, and a cluster has written some more. */
function differenceOf(expected: Answered, found: Answered): string | undefined {
  const [left, right] = [expected, found].map(({ bytes, next }) =>
    next === undefined ? bytes : Buffer.from(bytes.toString().replace(next, 'NEXT')),
  )
  const hasNext = (expected.next === undefined) === (found.next === undefined)
  if (expected.status === found.status && hasNext && left.equals(right)) return undefined
  const what = found.status === 200 ? '' : `, ${right.toString().slice(0, 300)}`
  return `${expected.status} with ${left.length} bytes became ${found.status} with ${right.length}${what}`
}

export async function succeeded(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await hickory(...args)
  if (code !== 0) throw new Error(`hickory ${args.join(' ')} ended with ${code}: ${stderr}`)
}

async function sampleOf(file: string): Promise<RecipientColumns> {
  const recipients: TestRecipient[] = []
  const units = (degrees: string) => Math.round(Number(degrees) * 1e7)
  let isHead = true
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (isHead) {
      isHead = false
      continue
    }
    const [phone, lat, lng, contact = ''] = line.split(',')
    recipients.push({ phone, lng: units(lng), lat: units(lat), contact })
    if (recipients.length === 300) break
  }
  return columnsOf(recipients)
}
