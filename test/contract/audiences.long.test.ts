/**
 * Audiences of real services over HTTP: the same people for as long as they live, whatever is imported,
 * suppressed, restarted or damaged.
 *
 * @module
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createKey } from '../../src/keys/change-keys.js'
import { limits } from '../../src/limits.js'
import { createStore } from '../../src/store/store.js'
import { columnsOf } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog, squareGeometry } from '../support/data/store.js'
import { changeList, type Place, phoneOf, places } from '../support/data/suppressions.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

/** Much faster than the command. */
function publish(data: string, sourceId: number, some: readonly Place[]): Promise<string> {
  const recipients = some.map(({ phone, lng, lat, contact }) => ({
    phone,
    lng: lng * 100_000,
    lat: lat * 100_000,
    contact,
  }))
  return publishTest(data, sourceId, columnsOf(recipients))
}

async function smallWorld(t: Test): Promise<string> {
  const data = temporaryDirectory(t)
  await publish(data, 1, places())
  return data
}

const EVERYWHERE = polygon([0, 0, 50, 50])

/** Half a hundredth of a degree beyond a box of hundredths. */
function polygon([west, south, east, north]: readonly number[]): object {
  const [left, bottom, right, top] = [west - 0.5, south - 0.5, east + 0.5, north + 0.5].map(
    (units) => units / 100,
  )
  const ring = [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
    [left, bottom],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

interface Made {
  readonly Id: string
  readonly Count: number
  readonly Digest: string
  readonly SnapshotId: string
  readonly CreatedAt: string
  readonly ExpiresAt: string
  readonly Sources: readonly object[]
}

async function call(
  { url }: Pick<Service, 'url'>,
  target: string,
  { body, key, accept = 'application/json' }: { body?: object; key?: string; accept?: string } = {},
) {
  const [method, path] = target.split(' ')
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: {
      Accept: accept,
      Connection: 'close',
      'Content-Type': 'application/json',
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function make(service: Pick<Service, 'url'>, body: object = {}, key?: string): Promise<Made> {
  const { status, text } = await call(service, 'POST /api/audiences', {
    body: { geoJSON: EVERYWHERE, ...body },
    ...(key !== undefined && { key }),
  })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return JSON.parse(text)
}

/** Phones of all pages, and how many of the frozen ones are said to be suppressed. */
async function read(service: Pick<Service, 'url'>, { Id, Digest }: Made, limit?: number) {
  const phones: string[] = []
  const suppressed = new Set<string | null>()
  let after: string | null = '0'
  while (after !== null) {
    const page = `after=${after}${limit === undefined ? '' : `&limit=${limit}`}`
    const answer = await call(service, `GET /api/audiences/${Id}?${page}`, {
      accept: 'application/x-ndjson',
    })
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
    const lines = answer.text.split('\n').filter((line) => line !== '')
    phones.push(...lines.map((line) => JSON.parse(line).Number))
    if (answer.headers.get('x-audience-digest') !== Digest) throw new Error('another digest')
    suppressed.add(answer.headers.get('x-audience-suppressed'))
    after = answer.headers.get('x-next-after')
  }
  return { phones, suppressed: [...suppressed].map(Number) }
}

/** A whole number from 0 to below `end`. */
const below = (random: Random, end: number) => Math.floor(random.unit() * end)

const errorOf = (text: string) => JSON.parse(text).ResponseStatus.ErrorCode

t.test('an audience is the list of its request, in every format', async (t) => {
  const data = await smallWorld(t)
  const shared = places(60).map((place, at) => ({
    ...place,
    phone: phoneOf(at + 30),
    contact: 'a',
  }))
  await publish(data, 2, shared)
  const service = await serve(t, '--data', data)
  const random = seededRandom(testSeed(t))
  const world: [number, Place][] = [
    ...places().map((place): [number, Place] => [1, place]),
    ...shared.map((place): [number, Place] => [2, place]),
  ]
  for (let round = 0; round < 10; round++) {
    const edges = [below(random, 50), below(random, 50), below(random, 12), below(random, 12)]
    const [west, east] = edges.slice(0, 2).sort((a, b) => a - b)
    const [south, north] = edges.slice(2).sort((a, b) => a - b)
    const box = [west, south, east, north]
    const more = {
      ...(below(random, 2) === 0 && { distinct: true }),
      ...(below(random, 3) === 0 && { contactCountMode: 'Contact' }),
      ...(below(random, 3) === 0 && { sources: [2] }),
    }
    const made = await make(service, { geoJSON: polygon(box), ...more })
    const inside = world.filter(
      ([source, { lng, lat }]) =>
        (more.sources === undefined || source === 2) &&
        lng >= west - 0.5 &&
        lng <= east + 0.5 &&
        lat >= south - 0.5 &&
        lat <= north + 0.5,
    )
    if (more.distinct === undefined && more.contactCountMode === undefined) {
      const { phones } = await read(service, made, 1 + below(random, 40))
      t.same(phones.sort(), inside.map(([, { phone }]) => phone).sort(), 'as by brute force')
      t.equal(made.Count, inside.length)
    }
    for (const format of ['json', 'ndjson', 'csv', 'csv&layout=sources', 'geojson']) {
      const listed = await call(service, `POST /api/recipients?format=${format}`, {
        body: { geoJSON: polygon(box), ...more },
      })
      const frozen = await call(service, `GET /api/audiences/${made.Id}?format=${format}`)
      t.equal(frozen.status, 200)
      t.equal(frozen.headers.get('x-snapshot'), listed.headers.get('x-snapshot'))
      t.equal(frozen.headers.get('content-type'), listed.headers.get('content-type'))
      if (format === 'json' || format === 'geojson') {
        const { Warnings, ...list } = JSON.parse(listed.text)
        const end = { AudienceId: made.Id, Digest: made.Digest, SuppressedCount: 0 }
        t.same(JSON.parse(frozen.text), { ...list, ...end })
      } else t.equal(frozen.text, listed.text)
    }
    t.equal((await call(service, `DELETE /api/audiences/${made.Id}`)).status, 204)
  }
  t.same(readdirSync(join(data, 'audiences')), [])
  await t.test('what is asked for must be right', (t) => checkRequests(t, data, service))
})

t.test('the people stay, over imports, prunes, restarts and processes', async (t) => {
  const data = await smallWorld(t)
  let service = await serve(t, '--data', data, '--http-threads', '2', '--query-threads', '2')
  const made = await make(service)
  const before = await read(service, made, 77)
  t.equal(before.phones.length, places().length)
  const other = await serve(t, '--data', data)
  let id = ''
  for (let round = 0; round <= limits.snapshotCount; round++) {
    id = await publish(data, 1, places(100 + round))
  }
  for (const each of [service, other]) {
    while (!(await call(each, 'GET /api/sources')).text.includes(id)) await sleep(20)
    t.same(await read(each, made, 101), before)
  }
  const kept = readdirSync(join(data, 'snapshots'))
  t.equal(kept.length, limits.snapshotCount + 1)
  t.ok(kept.includes(made.SnapshotId), 'its snapshot is held')
  await service.stop('SIGKILL')
  service = await serve(t, '--data', data)
  t.same(await read(service, made), before)
  const { text } = await call(other, 'GET /api/audiences')
  t.same(JSON.parse(text).Results, [made])
  t.notMatch(text, /\+999/)
  t.equal((await call(other, `DELETE /api/audiences/${made.Id}`)).status, 204)
  for (const each of [service, other]) {
    const gone = await call(each, `GET /api/audiences/${made.Id}`)
    t.equal(`${gone.status} ${errorOf(gone.text)}`, '404 UnknownAudience')
  }
  await publish(data, 1, places(100))
  t.equal(readdirSync(join(data, 'snapshots')).length, limits.snapshotCount, 'and not any more')
})

t.test('whoever is suppressed is left out and counted, as a model says', async (t) => {
  const data = await smallWorld(t)
  await publish(data, 2, places(100))
  let service = await serve(t, '--data', data)
  const random = seededRandom(testSeed(t))
  const lists = new Map<number | 'all', Set<string>>(
    [1, 2, 'all'].map((scope) => [scope as 1, new Set()]),
  )
  const change = async (verb: 'PUT' | 'DELETE', scope: 1 | 2 | 'all', phones: string[]) => {
    for (const phone of phones) lists.get(scope)?.[verb === 'PUT' ? 'add' : 'delete'](phone)
    t.equal((await changeList(service, verb, scope, phones)).status, 200)
  }
  await change('PUT', 'all', [phoneOf(3), phoneOf(4)])
  const made = await make(service)
  t.equal(made.Count, 600 - 4, 'who is suppressed before is not in it')
  const isOut = (source: number, phone: string) =>
    (lists.get('all')?.has(phone) || lists.get(source)?.has(phone)) ?? false
  const frozen = [
    ...places().map(({ phone }) => [1, phone] as const),
    ...places(100).map(({ phone }) => [2, phone] as const),
  ].filter(([, phone]) => phone !== phoneOf(3) && phone !== phoneOf(4))
  for (let round = 0; round < 6; round++) {
    const scope = random.pick([1, 2, 'all'] as const)
    const phones = Array.from({ length: 1 + below(random, 30) }, () => phoneOf(below(random, 550)))
    await change(below(random, 3) === 0 ? 'DELETE' : 'PUT', scope, phones)
    if (round === 3) {
      await service.stop('SIGKILL')
      service = await serve(t, '--data', data)
    }
    if (round % 4 === 0) await publish(data, 3, places(5 + round))
    const { phones: found, suppressed } = await read(service, made, 20 + below(random, 200))
    const expected = frozen.filter(([source, phone]) => !isOut(source, phone))
    t.same(found.sort(), expected.map(([, phone]) => phone).sort())
    t.same(suppressed, [frozen.length - expected.length])
  }
  const { text } = await call(service, `GET /api/audiences/${made.Id}?limit=1`)
  const { SourceRecords, SuppressedCount } = JSON.parse(text)
  t.equal(SourceRecords[0].Count + SourceRecords[1].Count + SuppressedCount, made.Count)

  // A store that knows nothing of the changes since: everybody is looked at again.
  await service.stop('SIGKILL')
  rmSync(join(data, 'store'), { recursive: true })
  service = await serve(t, '--data', data)
  t.same((await read(service, made)).suppressed, [0])
  for (const set of lists.values()) set.clear()
  await change('PUT', 'all', [phoneOf(10)])
  t.same((await read(service, made)).suppressed, [2])
})

async function checkRequests(t: Test, data: string, service: Service): Promise<void> {
  const posted = async (body: object) => {
    const { status, text } = await call(service, 'POST /api/audiences', {
      body: { geoJSON: EVERYWHERE, ...body },
    })
    return status === 200
      ? '200'
      : `${status} ${errorOf(text)} ${JSON.parse(text).ResponseStatus.Errors?.[0]?.FieldName ?? ''}`.trim()
  }
  const most = limits.audienceLifetimeSeconds
  for (const lifetimeSeconds of [1, String(most), most, null]) {
    t.equal(await posted({ lifetimeSeconds }), '200')
  }
  for (const lifetimeSeconds of [0, -1, most + 1, 1.5, 'long', true, [], {}]) {
    t.match(await posted({ lifetimeSeconds }), /^400 InvalidRequest/)
  }
  for (const body of [{ countsOnly: true }, { limit: 5 }, { after: 'x' }, { LIMIT: 5 }]) {
    t.match(await posted(body), /^400 InvalidRequest/)
  }
  t.equal(await posted({ countsOnly: false, limit: null }), '200')
  t.match(await posted({ lifetimeSecond: 5 }), /^400 UnknownMember/)
  const misspelt = await call(service, 'POST /api/audiences', { body: { lifetimeSecond: 5 } })
  t.match(misspelt.text, /lifetimeSeconds/, 'the right name is told')
  t.match(await posted({ lifetimeSeconds: 5, LifetimeSeconds: 6 }), /^400 InvalidRequest/)
  t.match(await posted({ sources: [9] }), /^400 UnknownSource/)
  t.equal(await posted({ geoJSON: null }), '200', 'nobody is an audience, too')

  const { Id, Count } = await make(service)
  const got = async (query: string) => {
    const { status, text } = await call(service, `GET /api/audiences/${query}`)
    return status === 200 ? '200' : `${status} ${errorOf(text)}`
  }
  for (const query of [
    '?limit=1',
    `?limit=${limits.pageRecipientCount}`,
    `?after=${Count}`,
    '?after=',
  ]) {
    t.equal(await got(Id + query), '200', query)
  }
  const wrong = ['?limit=0', `?limit=${limits.pageRecipientCount + 1}`, `?after=${Count + 1}`]
  for (const query of [...wrong, '?after=-1', '?after=x', '?limit=1.5']) {
    t.equal(await got(Id + query), '400 InvalidRequest', query)
  }
  t.equal(await got(`${Id}?shape=1`), '400 UnknownMember')
  t.equal(await got('?limit=1'), '400 UnknownMember')
  t.equal(await got('f'.repeat(32)), '404 UnknownAudience')
  t.equal(await got('x'), '400 InvalidRequest')
  const removed = await call(service, `DELETE /api/audiences/${'f'.repeat(32)}`)
  t.equal(`${removed.status} ${errorOf(removed.text)}`, '404 UnknownAudience')
  const head = await call(service, `HEAD /api/audiences/${Id}`)
  t.equal(`${head.status} ${head.text}`, '200 ')

  const short = await make(service, { lifetimeSeconds: 1 })
  await sleep(Math.max(0, Date.parse(short.ExpiresAt) - Date.now()))
  t.equal(await got(short.Id), '404 UnknownAudience')
  await make(service)
  const names = readdirSync(join(data, 'audiences'))
  t.notOk(
    names.some((name) => name.startsWith(short.Id)),
    'the next one removes it',
  )
}

/** Within a part of the world of `smallWorld`. */
const NEAR = squareGeometry(-0.005, -0.005, 0.11)

t.test(
  'an audience is there for the key that made it, and for an admin without a boundary',
  async (t) => {
    const data = await smallWorld(t)
    const audit = temporaryDirectory(t)
    const store = await createStore(data, silentLog)
    const keyOf = (wish: Parameters<typeof createKey>[1]) =>
      createKey(store.keys, wish, Date.now()).text
    const near = keyOf({ name: 'near', scopes: ['lists'], boundary: NEAR })
    const far = keyOf({ name: 'far', scopes: ['lists'] })
    const admin = keyOf({ name: 'admin', scopes: ['admin'] })
    const bounded = keyOf({ name: 'bounded', scopes: ['admin'], boundary: NEAR })
    const counting = keyOf({ name: 'counting', scopes: ['counts'] })
    await store.close()
    const service = await serve(t, '--data', data, '--keys', '--audit', audit)
    const ofNear = await make(service, {}, near)
    const ofFar = await make(service, {}, far)
    t.equal(ofFar.Count, places().length)
    t.ok(ofNear.Count > 0 && ofNear.Count < ofFar.Count, 'nobody beyond the boundary is frozen')
    const table = [
      { key: near, sees: [ofNear] },
      { key: far, sees: [ofFar] },
      { key: admin, sees: [ofNear, ofFar] },
      { key: bounded, sees: [] },
    ]
    for (const { key, sees } of table) {
      const { text } = await call(service, 'GET /api/audiences', { key })
      t.same(
        JSON.parse(text).Results.map(({ Id }: Made) => Id),
        sees.map(({ Id }) => Id),
      )
      for (const made of [ofNear, ofFar]) {
        const { status, text } = await call(service, `GET /api/audiences/${made.Id}`, { key })
        t.equal(status, sees.includes(made) ? 200 : 404)
        t.equal(text.includes('+999'), sees.includes(made))
        if (sees.includes(made)) continue
        t.equal((await call(service, `DELETE /api/audiences/${made.Id}`, { key })).status, 404)
      }
    }
    for (const target of [
      'POST /api/audiences',
      'GET /api/audiences',
      `GET /api/audiences/${ofFar.Id}`,
    ]) {
      const body = target.startsWith('POST') ? { body: { geoJSON: EVERYWHERE } } : {}
      t.equal((await call(service, target, { key: counting, ...body })).status, 403)
    }
    t.equal((await call(service, `DELETE /api/audiences/${ofNear.Id}`, { key: near })).status, 204)
    await service.stop()
    const lines = readdirSync(audit)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(join(audit, name), 'utf8').split('\n'))
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    const begun = lines.filter(({ event, phase }) => event === 'list' && phase === 'begun')
    t.same(
      begun.map(({ keyName, audienceId, digest }) => ({ keyName, audienceId, digest })),
      [
        { keyName: 'near', audienceId: ofNear.Id, digest: ofNear.Digest },
        { keyName: 'far', audienceId: ofFar.Id, digest: ofFar.Digest },
        { keyName: 'admin', audienceId: ofNear.Id, digest: ofNear.Digest },
        { keyName: 'admin', audienceId: ofFar.Id, digest: ofFar.Digest },
      ],
    )
    const changed = lines.filter(({ phase, changes }) => phase === 'ended' && changes !== undefined)
    t.same(
      changed.map(({ changes }) => changes[0].audienceId),
      [ofNear.Id, ofFar.Id, ofNear.Id],
    )
    t.notMatch(JSON.stringify(lines), /\+999/)
  },
)

t.test('a kill leaves audiences that are whole, or none', async (t) => {
  const data = await smallWorld(t)
  const random = seededRandom(testSeed(t))
  let service = await serve(t, '--data', data)
  const acknowledged = [await make(service)]
  const making = Array.from({ length: 8 }, () =>
    make(service).then(
      (made) => acknowledged.push(made),
      () => {},
    ),
  )
  await sleep(below(random, 25))
  await service.stop('SIGKILL')
  await Promise.all(making)
  service = await serve(t, '--data', data)
  const { text } = await call(service, 'GET /api/audiences')
  const found: Made[] = JSON.parse(text).Results
  for (const { Id } of acknowledged)
    t.ok(
      found.some((made) => made.Id === Id),
      'none is lost',
    )
  for (const made of found) t.equal((await read(service, made)).phones.length, places().length)
  await t.test('damage is told of, by doctor and verify as well, and others go on', (t) =>
    checkDamage(t, data, service),
  )
})

async function checkDamage(t: Test, data: string, service: Service): Promise<void> {
  const [whole, damaged, ofOther] = [await make(service), await make(service), await make(service)]
  const pathOf = ({ Id }: Made) => {
    const name = readdirSync(join(data, 'audiences')).find((each) => each.startsWith(Id))
    return join(data, 'audiences', name ?? '')
  }
  const intact = await hickory('verify', '--data', data, '--all')
  t.equal(intact.code, 0, intact.stderr)
  t.match(
    intact.stdout,
    `audience ${whole.Id} of ${whole.SnapshotId}  intact, digest ${whole.Digest}`,
  )
  const bytes = readFileSync(pathOf(damaged))
  bytes[bytes.length - 1] ^= 1
  writeFileSync(pathOf(damaged), bytes)
  writeFileSync(pathOf(ofOther), 'no audience')
  for (const { Id } of [damaged, ofOther]) {
    const { status, text } = await call(service, `GET /api/audiences/${Id}`)
    t.equal(`${status} ${errorOf(text)}`, '500 AudienceDamaged')
    t.match(text, Id)
  }
  t.equal((await read(service, whole)).phones.length, places().length)
  t.match(await call(service, 'GET /api/audiences'), { status: 200 })
  const verified = await hickory('verify', '--data', data, '--all', '--json')
  t.equal(verified.code, 4)
  const faulty = JSON.parse(verified.stdout).audiences.filter(
    (each: { fault?: string }) => each.fault,
  )
  t.same(
    faulty.map(({ id }: { id: string }) => id),
    [damaged.Id, ofOther.Id].sort(),
  )
  const doctor = await hickory('doctor', '--data', data)
  t.match(doctor.stdout, /audiences .*is damaged/)
  for (const { Id } of [damaged, ofOther]) {
    t.equal((await call(service, `DELETE /api/audiences/${Id}`)).status, 204)
  }
  t.equal((await hickory('verify', '--data', data, '--all')).code, 0)

  const shard = join(data, 'snapshots', whole.SnapshotId, '1-0000.shard')
  const image = readFileSync(shard)
  image[image.length - 1] ^= 1
  const later = await serve(t, '--data', data)
  writeFileSync(shard, image)
  const broken = await call(later, `GET /api/audiences/${whole.Id}?limit=5`)
  t.equal(`${broken.status} ${errorOf(broken.text)}`, '500 AudienceDamaged', 'its snapshot, too')
  t.match(await call(later, 'GET /api/sources'), { status: 200 })
}
