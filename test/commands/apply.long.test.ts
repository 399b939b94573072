import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { applyCommand } from '../../src/commands/apply.js'
import { limits } from '../../src/limits.js'
import { attachShard } from '../../src/shard/layout.js'
import { readCurrent } from '../../src/snapshot/directory.js'
import { readIdentities } from '../../src/snapshot/identities/list.js'
import { readIdentitiesFile } from '../../src/snapshot/identities/read-file.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { verifySnapshot } from '../../src/snapshot/load/verify.js'
import { columnsOf, type TestRecipient } from '../support/data/columns.js'
import { columnsWith } from '../support/data/keyed-columns.js'
import { fingerprint, publishTest, silentLog } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

interface Person extends TestRecipient {
  readonly key: string
}

/** Everybody in a source, as texts that can be compared. */
async function peopleIn(data: string, sourceId: number): Promise<string[]> {
  const snapshot = await openSnapshot(data)
  const known = await readIdentities(data, snapshot.id)
  const files = known.find(({ id }) => id === sourceId)?.files ?? []
  const people: string[] = []
  const own = snapshot.shards.filter((shard) => shard.sourceId === sourceId)
  for (const [at, image] of own.entries()) {
    const { recipientCount, coords, phones, phoneOffsets, ids } = attachShard(image)
    const directory = join(data, 'snapshots', snapshot.id)
    const texts = await readIdentitiesFile(directory, files[at], recipientCount)
    const text = (bytes: Uint8Array, offsets: Uint32Array, row: number) =>
      Buffer.from(bytes.subarray(offsets[row], offsets[row + 1])).toString()
    for (let row = 0; row < recipientCount; row++) {
      const phone = text(phones, phoneOffsets, row)
      const contact = text(texts.contactTexts, texts.contactOffsets, ids[row])
      const key = texts.keys === null ? '' : text(texts.keys.texts, texts.keys.offsets, ids[row])
      people.push(JSON.stringify([key, phone, coords[2 * row], coords[2 * row + 1], contact]))
    }
  }
  return people.sort()
}

interface Run {
  readonly out: string
  readonly code: string
  readonly message: string
}

async function apply(t: Test, data: string, ...args: readonly string[]): Promise<Run> {
  const written = t.capture(process.stdout, 'write', () => true)
  const command = applyCommand({ dataDirectory: () => data, log: silentLog })
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  const failure = await command.parseAsync(['--source', '1', ...args], { from: 'user' }).then(
    () => undefined,
    (error: Error & { code?: string }) => error,
  )
  written.restore()
  const out = written().map((call) => String(call.args[0]))
  return { out: out.join(''), code: failure?.code ?? '', message: failure?.message ?? '' }
}

/** Few values, so that some changes differ from who is there in one of them. */
const person = fc.record({
  key: fc.integer({ min: 0, max: 25 }).map((key) => `k${key}`),
  phone: fc.integer({ min: 0, max: 4 }).map((phone) => `+999${phone}`),
  lng: fc.integer({ min: -1, max: 0 }).map((lng) => 10 * lng + 1),
  lat: fc.integer({ min: 0, max: 1 }),
  contact: fc.constantFrom('', 'a', 'b', '+9991'),
})

const change = fc.record({ op: fc.constantFrom('upsert', 'upsert', 'delete'), person })

t.test('after any changes exactly those are there who should be', async (t) => {
  const seed = testSeed(t)
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.uniqueArray(person, { selector: ({ key }) => key, minLength: 1, maxLength: 24 }),
      fc.array(fc.array(change, { maxLength: 12 }), { minLength: 1, maxLength: 3 }),
      async (hasKeys, first, batches) => {
        const data = temporaryDirectory(t)
        const columns = await columnsWith(first, hasKeys)
        await publishTest(data, 1, columns)
        let model: readonly Person[] = first
        for (const batch of batches) {
          const file = join(data, 'changes.ndjson')
          writeFileSync(file, batch.map((each) => `${rowOf(each, hasKeys)}\n`).join(''))
          model = changed(model, batch, hasKeys)
          const before = await readCurrent(data)
          const run = await apply(t, data, file, '--max-shrink', '100%', '--allow-empty')
          t.equal(run.message, '')
          const expected = model.map((each) => textOf(each, hasKeys)).sort()
          t.same(await peopleIn(data, 1), expected)
          t.match(run.out, new RegExp(`before, ${model.length} now`))
          const { sources } = await openSnapshot(data)
          t.equal(sources[0].contactCount, columnsOf(model).contactCount)
          const id = (await readCurrent(data)) ?? ''
          t.ok((await verifySnapshot(data, id)).isWhole)
          t.equal(run.out.includes('unchanged  all'), id === before)
          // What was applied once changes nothing more.
          const again = await apply(t, data, file, '--max-shrink', '100%', '--allow-empty')
          t.match(again.out, /unchanged {2}all of it is so already/)
          t.equal(await readCurrent(data), id)
        }
      },
    ),
    { seed, numRuns: byTier({ ci: 10, soak: 150 }) },
  )
})

interface TestChange {
  readonly op: string
  readonly person: Person
}

function rowOf({ op, person }: TestChange, hasKeys: boolean): string {
  const { key, phone: number, contact } = person
  const position = { lat: person.lat / 1e7, lng: person.lng / 1e7 }
  const who = hasKeys ? { key } : { number, contact }
  const row = op === 'delete' ? { op, ...who } : { op, ...who, number, contact, ...position }
  return JSON.stringify(row)
}

/** By the plain meaning of changes, one after the other. */
function changed(model: readonly Person[], batch: readonly TestChange[], hasKeys: boolean) {
  const identityOf = ({ key, phone, contact }: Person) => (hasKeys ? key : `${phone} ${contact}`)
  let people = [...model]
  for (const { op, person } of batch) {
    people = people.filter((each) => identityOf(each) !== identityOf(person))
    if (op === 'upsert') people.push(person)
  }
  return people
}

function textOf({ key, phone, lng, lat, contact }: Person, hasKeys: boolean): string {
  return JSON.stringify([hasKeys ? key : '', phone, lng, lat, contact])
}

const many: readonly Person[] = Array.from({ length: 40 }, (_, at) => ({
  key: `k${at}`,
  phone: `+9990${at}`,
  lng: at + 1,
  lat: at,
  contact: '',
}))

async function source(t: Test): Promise<string> {
  const data = temporaryDirectory(t)
  await publishTest(data, 1, await columnsWith(many, false))
  await publishTest(data, 2, await columnsWith(many, true))
  return data
}

const deleted = (count: number) =>
  many.slice(0, count).map(({ phone: number }) => JSON.stringify({ op: 'delete', number }))

t.test('one bad row, and nothing is changed; the message names the row', async (t) => {
  const data = await source(t)
  const file = join(data, 'changes.ndjson')
  const good = '{"op":"upsert","number":"+9997","lat":1,"lng":2}'
  const before = fingerprint(join(data, 'snapshots'))
  const cases: readonly (readonly [content: string | Buffer, message: RegExp])[] = [
    [`${good}\n\n{"op":"upsert"}\n`, /1 of 2 changes are bad: .*changes\.ndjson:3: "number" is/],
    [`${good}\n${'{}\n'.repeat(30)}`, /30 of 31 changes are bad: .*; …/],
    [`${good}\n${'x'.repeat(limits.recordBytes + 1)}`, /:2: the row is longer than/],
    [Buffer.concat([Buffer.from(`${good}\n`), Buffer.of(0xff, 0x0a)]), /:2: the row is not UTF-8/],
  ]
  for (const [content, message] of cases) {
    writeFileSync(file, content)
    const run = await apply(t, data, file)
    t.equal(run.code, 'InputRejected')
    t.match(run.message, message)
    t.notMatch(run.message, /\+9997/)
  }
  t.match(await apply(t, data, join(data, 'nothing')), {
    code: 'InputRejected',
    message: /does not exist: check its name and its directory/,
  })
  writeFileSync(`${file}.gz`, 'not compressed')
  t.match(await apply(t, data, `${file}.gz`), { code: 'InputRejected', message: /cannot be read/ })
  t.same(fingerprint(join(data, 'snapshots')), before)
})

t.test('rows may be compressed, have a mark of UTF-8, and be as long as a record', async (t) => {
  const data = await source(t)
  const file = join(data, 'changes.ndjson.gz')
  const row = '{"op":"upsert","number":"+9997","lat":1,"lng":2}'
  writeFileSync(file, gzipSync(`\ufeff${row.padEnd(limits.recordBytes - 4)}\r\n`))
  t.match((await apply(t, data, file)).out, /added {6}1\n/)
})

t.test('a change of one thing alone is a change', async (t) => {
  const data = await source(t)
  const file = join(data, 'changes.ndjson')
  const { key, phone: number, contact } = many[0]
  let row: object = { op: 'upsert', key, number, contact, lat: 0, lng: 1e-7 }
  for (const other of [{}, { number: '+9996' }, { lat: 1 }, { lng: 1 }, { contact: 'a' }]) {
    row = { ...row, ...other }
    writeFileSync(file, JSON.stringify(row))
    const isOther = Object.keys(other).length > 0
    const { out } = await apply(t, data, file, '--source', '2')
    t.match(out, isOther ? /changed {4}1\n/ : /unchanged {2}all of it is so already/)
  }
})

t.test('guards of imports hold', async (t) => {
  const data = await source(t)
  const file = join(data, 'changes.ndjson')
  const write = (rows: readonly string[]) => writeFileSync(file, rows.join('\n'))
  write(deleted(40))
  t.match(await apply(t, data, file), { code: 'Guarded', message: /delete all 40 recipients/ })
  write(deleted(30))
  t.match(await apply(t, data, file), {
    code: 'Guarded',
    message: /10 recipients would replace 40/,
  })
  t.match((await apply(t, data, file, '--max-shrink', '30')).out, /deleted {4}30\n/)
  write(deleted(40))
  t.match((await apply(t, data, file, '--allow-empty')).out, /recipients 10 before, 0 now/)
  write(['{"op":"upsert","number":"+9997","lat":1,"lng":2}'])
  const box = ['--within', '-96,29,-95,30']
  t.match(await apply(t, data, file, ...box), { code: 'Guarded', message: /lie outside the box/ })
  t.match((await apply(t, data, file, '--within', '1,0,3,2')).out, /added {6}1\n/)
  t.same((await peopleIn(data, 2)).length, 40, 'another source stays as it is')
})

t.test('what cannot be changed is said', async (t) => {
  const data = await source(t)
  const file = join(data, 'changes.ndjson')
  writeFileSync(file, deleted(1)[0])
  t.match(await apply(t, data, file, '--source', '7'), {
    code: 'Usage',
    message: /there is no source 7; there are 1, 2/,
  })
  t.match(await apply(t, data, file, '--source', '2'), {
    code: 'InputRejected',
    message: /"key" and nothing else/,
  })
  const { identities: _, ...without } = await columnsWith(many, false)
  await publishTest(data, 3, without)
  t.match(await apply(t, data, file, '--source', '3'), {
    code: 'Usage',
    message: /source 3 was imported by an earlier version .* import it once more/,
  })
  t.match(await apply(t, temporaryDirectory(t), file), { code: 'SnapshotMissing' })
})

t.test('--json is one document, also of a failure', async (t) => {
  const data = await source(t)
  const file = join(data, 'changes.ndjson')
  writeFileSync(file, deleted(2).join('\n'))
  const done = JSON.parse((await apply(t, data, file, '--json')).out)
  t.match(done, { published: true, rowCount: 2, recipientCountBefore: 40, error: null })
  t.match(done.counts, { deletedCount: 2, absentCount: 0, recipientCount: 38 })
  t.equal(done.snapshotId, await readCurrent(data))
  writeFileSync(file, '{}')
  const failed = JSON.parse((await apply(t, data, file, '--json')).out)
  t.match(failed, { published: false, snapshotId: null, error: { code: 'InputRejected' } })
})

t.test('a command reads changes from standard input', async (t) => {
  const data = await source(t)
  const applied = (input: string) => {
    t.intercept(process, 'stdin', { value: Readable.from([Buffer.from(input)]) })
    return apply(t, data, '-')
  }
  t.match(await applied(`${deleted(2).join('\n')}\n{}`), {
    code: 'InputRejected',
    message: /standard input:3: "op" must be/,
  })
  t.match(await applied(deleted(2).join('\n')), { code: '', out: /deleted {4}2\n/ })
})
