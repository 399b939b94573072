/**
 * Audiences of a real service that takes changes: the same people after more changes, an import, kill -9,
 * without the journal, and by another service.
 *
 * @module
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import {
  changeList,
  importPlaces,
  phoneOf,
  places,
  placesWorld,
} from '../support/data/suppressions.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

const CLOSE = { connection: 'close', 'content-type': 'application/json' }
const ring = [
  [-1, -1],
  [2, -1],
  [2, 2],
  [-1, 2],
  [-1, -1],
]
const EVERYWHERE = { type: 'Polygon', coordinates: [ring] }

async function call({ url }: Pick<Service, 'url'>, target: string, body?: object) {
  const [method, path] = target.split(' ')
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url + path, { method, headers: CLOSE, ...text })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function change(service: Service, batchId: string, changes: readonly object[]) {
  const { text } = await call(service, 'POST /api/sources/1/changes', { batchId, changes })
  const { Sequence } = JSON.parse(text)
  if (Sequence === undefined) throw new Error(text)
  return Sequence as number
}

/** Who comes, far from all others. */
const newcomer = (at: number) => ({ op: 'upsert', number: `+9998${at}`, lat: 1.5, lng: at / 1_000 })
const leaving = (at: number) => ({ op: 'delete', number: phoneOf(at) })

interface Made {
  readonly Id: string
  readonly Count: number
  readonly SnapshotId: string
  readonly Digest: string
}

const numbersOf = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).Number]))

async function pagesOf(service: Service, id: string, limit: number) {
  const numbers: string[] = []
  let after: string | null = '0'
  let suppressed = 0
  while (after !== null) {
    const query: string = `format=ndjson&limit=${limit}&after=${after}`
    const page = await call(service, `GET /api/audiences/${id}?${query}`)
    if (page.status !== 200) throw new Error(`${page.status} ${page.text}`)
    numbers.push(...numbersOf(page.text))
    suppressed = Number(page.headers.get('x-audience-suppressed'))
    after = page.headers.get('x-next-after')
  }
  return { numbers, suppressed }
}

t.test('whoever came and went is frozen as of a sequence', async (t) => {
  const data = await placesWorld(t)
  const audit = temporaryDirectory(t)
  let service = await serve(t, '--data', data, '--http-threads', '2')
  t.equal((await changeList(service, 'PUT', 'all', ['+99981'])).status, 200)
  const first = Array.from({ length: 50 }, (_, at) => newcomer(at))
  await change(service, 'a', first)
  const minSequence = await change(service, 'b', [leaving(3), leaving(4), newcomer(50)])
  const made = await call(service, 'POST /api/audiences', { geoJSON: EVERYWHERE, minSequence })
  t.equal(made.status, 200, made.text)
  const { Id, Count, Sequence, Digest } = JSON.parse(made.text)
  t.equal(Sequence, minSequence)
  const { Id: other } = JSON.parse(
    (await call(service, 'POST /api/audiences', { geoJSON: EVERYWHERE })).text,
  )
  const listed = await call(service, 'POST /api/recipients?format=ndjson', {
    geoJSON: EVERYWHERE,
    minSequence,
  })
  t.equal(listed.headers.get('x-sequence'), String(minSequence))
  const expected = numbersOf(listed.text)
  t.equal(Count, expected.length)
  t.equal(expected.filter((number) => number.startsWith('+9998')).length, 50, 'and one suppressed')
  t.notOk(expected.some((number) => number === phoneOf(3) || number === '+99981'))
  const whole = await call(service, `GET /api/audiences/${Id}?format=ndjson`)
  t.equal(whole.text, listed.text)
  t.equal(whole.headers.get('x-sequence'), String(minSequence))

  await change(
    service,
    'c',
    first.map(({ number }) => ({ op: 'delete', number })),
  )
  await service.stop('SIGKILL')
  service = await serve(t, '--data', data, '--audit', audit)
  t.same(await pagesOf(service, Id, 7), { numbers: expected, suppressed: 0 })
  const removed = [phoneOf(10), '+99980', '+99981', '+999849']
  t.equal((await changeList(service, 'PUT', 'all', removed)).status, 200)
  const left = expected.filter((number) => !removed.includes(number))
  t.same(await pagesOf(service, Id, 11), {
    numbers: left,
    suppressed: expected.length - left.length,
  })

  const last = await change(service, 'd', first)
  const madeMeanwhile: Made[] = []
  let id: string | undefined
  const importing = importPlaces(t, data, 1, places(20)).then((given) => {
    id = given
  })
  while (madeMeanwhile.at(-1)?.SnapshotId !== id || id === undefined) {
    const more = { geoJSON: EVERYWHERE, minSequence: last }
    madeMeanwhile.push(JSON.parse((await call(service, 'POST /api/audiences', more)).text))
    await sleep(100)
  }
  await importing
  const groups = new Map<string, Set<string>>()
  for (const each of madeMeanwhile) {
    const { numbers } = await pagesOf(service, each.Id, 1_000)
    t.equal(numbers.length, each.Count)
    const group = groups.get(each.SnapshotId) ?? new Set()
    groups.set(each.SnapshotId, group.add(`${each.Digest} ${numbers}`))
  }
  t.same(
    [...groups.values()].map(({ size }) => size),
    [1, 1],
    'before and after the import, each has the people of its snapshot',
  )
  t.equal(madeMeanwhile.at(-1)?.Count, 20 - 1, 'the import takes the place of all changes before')
  t.same((await pagesOf(service, Id, 500)).numbers, left, 'after an import')
  await service.stop()
  const lines = readdirSync(audit)
    .filter((each) => each.endsWith('.jsonl'))
    .flatMap((each) => readFileSync(join(audit, each), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line))
  t.same(
    lines.map(({ sequence }) => sequence),
    lines.map((_, at) => at + 1),
    'lines of the audit have their own numbers',
  )
  const begun = lines.filter(({ event, phase }) => event === 'list' && phase === 'begun')
  t.match(begun[0], { audienceId: Id, digest: Digest, changesSequence: minSequence })

  renameSync(join(data, 'journal'), join(data, 'journal-away'))
  const name = readdirSync(join(data, 'audiences')).find((each) => each.startsWith(other))
  const file = join(data, 'audiences', name ?? '')
  const bytes = readFileSync(file)
  bytes[bytes.length - 2] ^= 1
  writeFileSync(file, bytes)
  const verified = await hickory('verify', '--data', data, '--all')
  t.match(verified.stdout, new RegExp(`audience ${Id} of \\S+  intact, digest ${Digest}`))
  t.match(verified.stdout + verified.stderr, new RegExp(`audience ${other} .*CRC-32`, 's'))
  // Without it, no service starts: the snapshot goes on from it.
  renameSync(join(data, 'journal-away'), join(data, 'journal'))
  service = await serve(t, '--data', data)
  t.same((await pagesOf(service, Id, 500)).numbers, left, 'after a restart')
  const damaged = await call(service, `GET /api/audiences/${other}`)
  t.equal(damaged.status, 500)
  t.match(damaged.text, /AudienceDamaged/)
  t.notMatch(damaged.text, /\+999/)
  t.notMatch((await service.stop()).stderr, /\+999/)
})
