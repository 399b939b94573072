/**
 * Services of one data directory under random changes, and everything that may happen meanwhile: each answer must be
 * that of a plain map at the sequence that the answer names.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { haversineMetres } from '../../../src/geometry/great-circle.js'
import { readIdentities, readImportId } from '../../../src/snapshot/identities/list.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import {
  hickory,
  type Owner,
  type Service,
  serve,
  temporaryDirectory,
} from '../../support/service/hickory.js'
import { everybody, randomArea, UNITS } from './areas.js'
import { hasKeys, identityOf, Model, type People, type Person, type Row } from './people.js'
import { CLOSE, pause, post, rowOf, rowsOf, sorted, stateOf, wireOf } from './wire.js'

interface RunOptions {
  /** Changes that are acknowledged before it ends. */
  readonly changeCount: number
  readonly seed: number
  /** Of each source at the beginning. */
  readonly peopleCount: number
  /** In a batch, at most. */
  readonly rowCount: number
}

interface Totals {
  changes: number
  batches: number
  answers: number
  pages: number
  suppressions: number
  imports: number
  snapshots: number
  compactions: number
  kills: number
  restarts: number
}

const SOURCE_IDS = [1, 2]

export async function runLiveModel(owner: Owner, options: RunOptions): Promise<Totals> {
  const run = new Run(owner, options)
  await run.begin()
  while (run.totals.changes < options.changeCount) {
    await run.changeAndAsk()
    await run.happen()
  }
  await run.end()
  return run.totals
}

class Run {
  readonly totals: Totals = {
    changes: 0,
    batches: 0,
    answers: 0,
    pages: 0,
    suppressions: 0,
    imports: 0,
    snapshots: 0,
    compactions: 0,
    kills: 0,
    restarts: 0,
  }
  readonly #owner: Owner
  readonly #random: Random
  readonly #peopleCount: number
  readonly #rowCount: number
  readonly #data: string
  readonly #model = new Model()
  readonly #suppressed = new Set<string>()
  readonly #services: Service[] = []
  #nextBatch = 0
  #nextKey = 0
  /** In the current snapshot, as the last import or its like left it. */
  #snapshotId = ''

  constructor(owner: Owner, { seed, peopleCount, rowCount }: RunOptions) {
    this.#owner = owner
    this.#random = seededRandom(seed)
    this.#peopleCount = peopleCount
    this.#rowCount = rowCount
    this.#data = temporaryDirectory(owner)
  }

  async begin(): Promise<void> {
    for (const sourceId of SOURCE_IDS) {
      const people = await this.#import(sourceId)
      await this.#published(new Map([[sourceId, people]]), 0)
    }
    for (const threads of ['1', '2']) this.#services.push(await this.#serve(threads))
  }

  async end(): Promise<void> {
    await this.#settle()
    for (const service of this.#services) await service.stop()
  }

  /** Clients change and ask at the same time, through both services. */
  async changeAndAsk(): Promise<void> {
    const writers = this.#services.map((service) => this.#write(service, 10))
    const readers = this.#services.map((service) => this.#read(service, 15))
    await Promise.all(writers)
    const asked = await Promise.all(readers)
    // A service may have had a snapshot made.
    await this.#published(new Map())
    for (const checks of asked) for (const check of checks) check()
  }

  /** Something that changes more than recipients. */
  async happen(): Promise<void> {
    const random = this.#random
    const what = random.unit()
    if (what < 0.45) await this.#suppress()
    else if (what < 0.6) {
      // Changes go on while the input is read.
      const sourceId = random.pick(SOURCE_IDS)
      await this.#meanwhile(this.#import(sourceId), sourceId)
    } else if (what < 0.7) await this.#meanwhile(this.#compact())
    else if (what < 0.85) await this.#restart('SIGTERM')
    else await this.#restart('SIGKILL')
    await this.#settle()
  }

  /** Clients go on while a snapshot is made and taken. */
  async #meanwhile(work: Promise<People | undefined>, sourceId?: number): Promise<void> {
    const before = this.#model.sequence
    const writing = this.#services.map((service) => this.#write(service, 5))
    const reading = this.#services.map((service) => this.#read(service, 20))
    const [people] = await Promise.all([work, ...writing])
    // Each acknowledged batch is known by now.
    const asked = await Promise.all(reading)
    await this.#published(people === undefined ? new Map() : new Map([[sourceId, people]]), before)
    for (const checks of asked) for (const check of checks) check()
  }

  /** What was acknowledged is there, in every service. */
  async #settle(): Promise<void> {
    const minSequence = this.#model.sequence
    for (const service of this.#services) {
      await this.#untilServed(service)
      const check = await this.#ask(service, { minSequence, ...everybody() }, () => true)
      check()
    }
  }

  async #untilServed(service: Service): Promise<void> {
    for (let attempt = 0; attempt < 600; attempt++) {
      const response = await fetch(`${service.url}/readyz`, CLOSE)
      const { snapshotId } = (await response.json()) as { snapshotId?: string }
      await this.#published(new Map())
      if (snapshotId === this.#snapshotId) return
      await pause(50)
    }
    throw new Error(`${this.#snapshotId} is not served: ${service.output().stderr.slice(-2_000)}`)
  }

  async #serve(threads: string): Promise<Service> {
    const flags = ['--http-threads', threads, '--query-threads', '2']
    return serve(this.#owner, '--data', this.#data, ...flags)
  }

  async #restart(signal: NodeJS.Signals): Promise<void> {
    const at = this.#random.between(0, this.#services.length - 1)
    const ending = this.#services[at].stop(signal)
    // Whoever sends to it meanwhile sends again, to the other one.
    await Promise.all([ending, ...this.#services.map((service) => this.#write(service, 3))])
    this.#services[at] = await this.#serve(at === 0 ? '1' : '2')
    if (signal === 'SIGKILL') this.totals.kills++
    else this.totals.restarts++
  }

  // Changes.

  async #write(service: Service, batchCount: number): Promise<void> {
    for (let i = 0; i < batchCount; i++) {
      const sourceId = this.#random.pick(SOURCE_IDS)
      const rows = this.#randomRows(sourceId)
      await this.#send(service, sourceId, rows)
      this.totals.changes += rows.length
      this.totals.batches++
    }
  }

  /** To one service, and where it dies meanwhile, to the other. Some are sent twice, to either. */
  async #send(service: Service, sourceId: number, rows: readonly Row[]): Promise<void> {
    const batchId = `b${this.#nextBatch++}`
    const body = { batchId, allowShrink: true, changes: rows.map((row) => wireOf(sourceId, row)) }
    const sendCount = this.#random.unit() < 0.1 ? 2 : 1
    const sequences = new Set<number>()
    let to = service
    let isInDoubt = false
    for (let sent = 0; sent < sendCount; ) {
      const answer = await post(to, `/api/sources/${sourceId}/changes`, body).catch(() => undefined)
      if (answer === undefined) {
        isInDoubt = true
        to = this.#services.find((each) => each !== to) as Service
        continue
      }
      const { status, json } = answer
      // One that is about to stop answers no more.
      if (status === 503) continue
      assert.equal(status, 200, JSON.stringify(json))
      if (!isInDoubt) assert.equal(json.Repeated, sent > 0)
      sequences.add(json.Sequence)
      sent++
      if (sent < sendCount) to = this.#random.pick(this.#services)
    }
    assert.equal(sequences.size, 1)
    this.#model.add([...sequences][0], { sourceId, rows })
  }

  #randomRows(sourceId: number): Row[] {
    const random = this.#random
    const known = [...this.#newest(sourceId).values()]
    return Array.from({ length: random.between(1, this.#rowCount) }, (): Row => {
      const old = known.length === 0 || random.unit() < 0.3 ? undefined : random.pick(known)
      const { key, phone, contact } = old ?? this.#randomPerson()
      const what = random.unit()
      if (what < 0.3) return { op: 'delete', key, phone, contact }
      if (old !== undefined && what < 0.4) return { op: 'upsert', ...old }
      const fresh = this.#randomPerson()
      if (old === undefined || what > 0.9) return { op: 'upsert', ...fresh }
      // Moved; with a key also another number, or another contact.
      const other = hasKeys(sourceId) && random.unit() < 0.3
      const self = other ? { ...fresh, key } : { key, phone, contact }
      return { op: 'upsert', ...self, lng: fresh.lng, lat: fresh.lat }
    })
  }

  /** As far as is known now: what to change is not what is checked. */
  #newest(sourceId: number): People {
    return this.#model.peopleAt(this.#snapshotId, sourceId, this.#model.knownSequence)
  }

  #randomPerson(): Person {
    const random = this.#random
    return {
      key: `k${this.#nextKey++}`,
      phone: `+999${random.between(0, 3 * this.#peopleCount)}`,
      contact: random.unit() < 0.3 ? '' : `c${random.between(0, this.#peopleCount)}`,
      // Nobody is at 0,0, which changes refuse.
      lng: random.between(-200, 199) || 200,
      lat: random.between(-200, 200),
    }
  }

  // Questions.

  /** @returns what compares each answer, once all batches that may be in it are known */
  async #read(service: Service, count: number): Promise<(() => void)[]> {
    const checks: (() => void)[] = []
    for (let i = 0; i < count; i++) checks.push(await this.#question(service))
    return checks
  }

  #question(service: Service): Promise<() => void> {
    const random = this.#random
    const { drawing, isInside } = randomArea(random)
    const what = random.unit()
    if (what < 0.25) return this.#pages(service, drawing, isInside)
    if (what < 0.35) return this.#nearest(service)
    const minSequence = random.unit() < 0.3 ? this.#model.knownSequence : undefined
    const mode = random.pick(['plain', 'plain', 'contact', 'distinct'] as const)
    return this.#ask(
      service,
      {
        geoJSON: drawing,
        ...(minSequence !== undefined && { minSequence }),
        ...(mode === 'contact' && { contactCountMode: 'Contact' }),
        ...(mode === 'distinct' && { distinct: true }),
        ...(mode !== 'plain' && { countsOnly: true }),
      },
      isInside,
      mode,
    )
  }

  async #ask(
    service: Service,
    request: object,
    isInside: (person: Person) => boolean,
    mode: Mode = 'plain',
  ): Promise<() => void> {
    const { status, json, headers } = await post(service, '/api/recipients', request)
    assert.equal(status, 200, JSON.stringify(json).slice(0, 500))
    this.totals.answers++
    const { snapshotId, sequence } = stateOf(headers)
    const { minSequence = 0 } = request as { minSequence?: number }
    assert.ok(sequence >= minSequence, `${sequence} is before ${minSequence}`)
    return () => {
      const sources = SOURCE_IDS.map((id) => this.#expected(snapshotId, id, sequence, isInside))
      const counts = json.SourceRecords.map(({ Count }: { Count: number }) => Count)
      const about = `${mode} at ${sequence} of ${snapshotId}: ${JSON.stringify(request)}`
      assert.deepEqual(counts, countsOf(sources, mode), about)
      if (mode !== 'plain') return
      const expected = sources.map((people) => people.map(rowOf).sort())
      assert.deepEqual(json.SourceRecords.map(rowsOf).map(sorted), expected, about)
    }
  }

  /** The nearest of each source; of those that are as far, any. */
  async #nearest(service: Service): Promise<() => void> {
    const random = this.#random
    const [lng, lat, nearest] = [-250, -250, 1].map((least) => random.between(least, 250))
    const geometry = { type: 'Point', coordinates: [lng / 100, lat / 100] }
    const request = { geoJSON: { type: 'Feature', properties: { nearest }, geometry } }
    const { status, json, headers } = await post(service, '/api/recipients', request)
    assert.equal(status, 200, JSON.stringify(json).slice(0, 500))
    this.totals.answers++
    const { snapshotId, sequence } = stateOf(headers)
    const metresTo = (place: { lng: number; lat: number }) =>
      haversineMetres(lng * UNITS, lat * UNITS, place.lng * UNITS, place.lat * UNITS)
    return () => {
      const about = `${nearest} nearest at ${sequence} of ${snapshotId}`
      for (const [at, id] of SOURCE_IDS.entries()) {
        const all = this.#expected(snapshotId, id, sequence, () => true)
        const known = new Set(all.map(rowOf))
        const rows = rowsOf(json.SourceRecords[at])
        assert.ok(
          rows.every((row) => known.has(row)),
          about,
        )
        const found = rows.map((row) => {
          const [, east, north] = row.split(' ').map(Number)
          return metresTo({ lng: Math.round(100 * east), lat: Math.round(100 * north) })
        })
        const expected = all.map(metresTo).sort(ascending).slice(0, nearest)
        assert.deepEqual(found.sort(ascending), expected, about)
      }
    }
  }

  /** Between the pages, others write. */
  async #pages(
    service: Service,
    drawing: object,
    isInside: (person: Person) => boolean,
  ): Promise<() => void> {
    const rows: string[][] = SOURCE_IDS.map(() => [])
    const states = new Set<string>()
    let after: string | undefined
    do {
      const limit = this.#random.between(1, 100)
      const request = { geoJSON: drawing, limit, after }
      const { status, json, headers } = await post(service, '/api/recipients', request)
      if (status === 410) {
        await this.#refuseExpiry(service, [...states][0])
        return () => {}
      }
      assert.equal(status, 200, JSON.stringify(json).slice(0, 500))
      this.totals.pages++
      states.add(JSON.stringify(stateOf(headers)))
      for (const [at, record] of json.SourceRecords.entries()) rows[at].push(...rowsOf(record))
      after = headers.get('x-next-after') ?? undefined
    } while (after !== undefined)
    const { snapshotId, sequence } = JSON.parse([...states][0])
    return () => {
      const about = `pages at ${sequence} of ${snapshotId}: ${JSON.stringify(drawing)}`
      assert.equal(states.size, 1, about)
      for (const [at, id] of SOURCE_IDS.entries()) {
        const expected = this.#expected(snapshotId, id, sequence, isInside)
        assert.deepEqual(sorted(rows[at]), expected.map(rowOf).sort(), about)
      }
    }
  }

  /** Pages end with their snapshot, and with nothing else. */
  async #refuseExpiry(service: Service, state: string): Promise<void> {
    const response = await fetch(`${service.url}/readyz`, CLOSE)
    const { snapshotId } = (await response.json()) as { snapshotId?: string }
    assert.notEqual(snapshotId, JSON.parse(state).snapshotId)
  }

  #expected(
    snapshotId: string,
    sourceId: number,
    sequence: number,
    isInside: (person: Person) => boolean,
  ): Person[] {
    const people = this.#model.peopleAt(snapshotId, sourceId, sequence)
    return [...people.values()].filter(
      (person) => !this.#suppressed.has(person.phone) && isInside(person),
    )
  }

  // What else happens.

  async #suppress(): Promise<void> {
    const random = this.#random
    const isRemoval = this.#suppressed.size > 0 && random.unit() < 0.4
    const phones = Array.from({ length: random.between(1, 30) }, () =>
      isRemoval ? random.pick([...this.#suppressed]) : this.#randomPerson().phone,
    )
    const distinct = [...new Set(phones)]
    const service = random.pick(this.#services)
    const method = isRemoval ? 'DELETE' : 'PUT'
    const { status, json } = await post(service, '/api/suppressions', { Numbers: distinct }, method)
    assert.equal(status, 200, JSON.stringify(json))
    for (const phone of distinct) {
      if (isRemoval) this.#suppressed.delete(phone)
      else this.#suppressed.add(phone)
    }
    this.totals.suppressions++
  }

  async #import(sourceId: number): Promise<People> {
    const people = new Map<string, Person>()
    for (let i = 0; i < this.#peopleCount; i++) {
      const person = this.#randomPerson()
      people.set(identityOf(sourceId, person), person)
    }
    const file = join(this.#data, `..`, `${this.#data.split('/').at(-1)}-${sourceId}.csv`)
    const lines = [...people.values()].map(
      ({ key, phone, contact, lng, lat }) => `${key},${phone},${lat / 100},${lng / 100},${contact}`,
    )
    writeFileSync(file, `key,number,lat,lng,contact\n${lines.join('\n')}\n`)
    const key = hasKeys(sourceId) ? ['--key', 'key'] : []
    const flags = ['--data', this.#data, '--source', String(sourceId), '--label', 'A', ...key]
    const done = await hickory(
      'import',
      ...flags,
      '--max-shrink',
      '100%',
      '--allow-null-island',
      file,
    )
    assert.equal(done.code, 0, done.stderr)
    this.totals.imports++
    return people
  }

  /** Puts changes into a snapshot while others come. */
  async #compact(): Promise<undefined> {
    const done = await hickory('compact', '--data', this.#data)
    assert.equal(done.code, 0, done.stderr)
  }

  /**
   * Learns of each new snapshot up to which batch each source is in it, and of compactions, which services have made
   * as well; nothing else.
   *
   * @param before  the last batch that was acknowledged before the import began
   */
  async #published(imported: ReadonlyMap<number | undefined, People>, before = 0): Promise<void> {
    const [current] = readFileSync(join(this.#data, 'CURRENT'), 'utf8').trim().split(/\s+/)
    const fresh = readdirSync(join(this.#data, 'snapshots'))
      .filter((id) => SNAPSHOT_ID.test(id) && id > this.#snapshotId && id <= current)
      .sort()
    for (const snapshotId of fresh) {
      const identities = await readIdentities(this.#data, snapshotId)
      const isCompaction = (await readImportId(this.#data, snapshotId)) !== undefined
      const bases = new Map(
        identities.map(({ id, appliedSequence = 0 }) => {
          const people = isCompaction ? undefined : imported.get(id)
          // An import replaces what was acknowledged before it began, and nothing that came after it ended.
          const isPossible = appliedSequence >= before && appliedSequence <= this.#model.sequence
          assert.ok(people === undefined || isPossible, `${appliedSequence}, not from ${before} on`)
          const carriedOver = () =>
            new Map(this.#model.peopleAt(this.#snapshotId, id, appliedSequence))
          return [id, { people: people ?? carriedOver(), appliedSequence }] as const
        }),
      )
      this.#model.addSnapshot(snapshotId, bases)
      this.#snapshotId = snapshotId
      this.totals.snapshots++
      if (isCompaction) this.totals.compactions++
    }
  }
}

const SNAPSHOT_ID = /^\d+-[0-9a-f]{8}$/

const ascending = (a: number, b: number) => a - b

type Mode = 'plain' | 'contact' | 'distinct'

function countsOf(sources: readonly (readonly Person[])[], mode: Mode): number[] {
  const seen = new Set<string>()
  return sources.map((people) => {
    if (mode === 'plain') return people.length
    if (mode === 'contact') {
      return new Set(people.map(({ contact, phone }) => (contact === '' ? phone : ` ${contact}`)))
        .size
    }
    const before = seen.size
    for (const { phone } of people) seen.add(phone)
    return seen.size - before
  })
}
