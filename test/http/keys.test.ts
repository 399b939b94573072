/**
 * Keys at the gate, over HTTP: who gets in, and what others are told.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { KeyGuard } from '../../src/http/authenticate.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import type { HttpRequest } from '../../src/http/request.js'
import { healthRoutes } from '../../src/http/service-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { operations } from '../../src/interface/operations.js'
import { finishRotation, revokeKey, rotateKey } from '../../src/keys/change-keys.js'
import { makeKeyId, makeKeyText } from '../../src/keys/key-record.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { privatePage, slotOf } from '../../src/metrics/memory.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import { refuseScope } from '../../src/selection/access.js'
import type { Reply } from '../../src/selection/reply.js'
import { followed, keyFor, keysInMemory } from '../support/data/keys.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText, startServer } from './wire.js'

interface Sent {
  readonly headers?: string[]
  readonly body?: string
}

/** A service that asks for keys, and does nothing. */
async function keyedServer(
  t: Test,
  more: { takesWrites?: boolean; publicOrigin?: string; recipients?: Execute } = {},
) {
  const keys = keysInMemory()
  const front = followed(keys)
  const executed: string[] = []
  const nothing = Object.fromEntries(
    operationNames.map((name) => [name, async () => void executed.push(name)]),
  ) as unknown as Executors
  const { recipients = nothing.RecipientRequest } = more
  const executors: Executors = { ...nothing, RecipientRequest: recipients }
  const lines: Record<string, unknown>[] = []
  const log = createLog('silent')
  log.warn = (fields: unknown) => void lines.push(fields as Record<string, unknown>)
  const refused: string[] = []
  const page = privatePage()
  const guard = new KeyGuard({ keys: front, log, page })
  const refuse = guard.refused.bind(guard)
  guard.refused = (why, key) => {
    const slot = slotOf('hickory_keys_refused_total', why)
    const before = page[slot]
    refuse(why, key)
    t.equal(page[slot], before + 1, 'counted')
    refused.push(why)
  }
  const { takesWrites = true, publicOrigin } = more
  const { port } = await startServer(
    t,
    [
      ...operationRoutes(executors),
      ...healthRoutes(
        () => undefined,
        () => ({ snapshotId: 'one' }),
      ),
    ],
    { admission: { keys: guard, takesWrites, publicOrigin } },
  )
  const ask = (line: string, { headers = [], body }: Sent = {}) =>
    request(port, line, { headers, ...(body !== undefined && { body }) })
  const made = (wish: Parameters<typeof keyFor>[1] = {}) => {
    const text = keyFor(keys, wish)
    front.follow()
    return text
  }
  return { keys, front, executed, lines, refused, port, ask, made }
}

const bearer = (text: string) => `Authorization: Bearer ${text}`
const basic = (user: string, password: string) =>
  `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const READ = 'GET /api/contexts'

t.test('a right key gets in, as Bearer and as the password of any user', async (t) => {
  const { ask, made, executed } = await keyedServer(t)
  const key = made()
  for (const header of [
    bearer(key),
    `authorization:   bEaReR   ${key}  `,
    basic('', key),
    basic('anybody', key),
    basic('Zoë', key),
    basic(key, ''),
    `Authorization: Basic ${Buffer.from(key).toString('base64')}`,
  ]) {
    t.equal((await ask(READ, { headers: [header] })).status, 204, header.slice(0, 24))
    t.same(executed.splice(0), ['GetMapContextsRequest'])
  }
})

t.test('whatever is wrong with a key, the answer is the same', async (t) => {
  const { ask, made, keys, front, executed, refused } = await keyedServer(t)
  const key = made({ name: 'desk' })
  const expired = made({ name: 'expired', expiresAt: new Date(Date.now() - 1).toISOString() })
  const revoked = made({ name: 'revoked' })
  revokeKey(keys, 'revoked', Date.now())
  const replaced = made({ name: 'replaced' })
  rotateKey(keys, 'replaced', { nowMs: Date.now() - 2_000, keepMs: 1_000 })
  front.follow()
  const cases: [header: string, why: string][] = [
    [bearer(makeKeyText(makeKeyId())), 'unknown'],
    [bearer(key.slice(0, 14) + expired.slice(14)), 'wrong'],
    [bearer(expired), 'expired'],
    [bearer(revoked), 'revoked'],
    [bearer(replaced), 'replaced'],
    [`Authorization: Digest ${key}`, 'unknown'],
    [`Authorization: ${key}`, 'unknown'],
    ['Authorization: Bearer', 'unknown'],
    [basic('desk', 'desk'), 'unknown'],
  ]
  const told = new Set<string>()
  for (const [header, why] of cases) {
    const { status, headers, body } = await ask(READ, { headers: [header] })
    const { date, 'x-request-id': _, ...others } = headers
    told.add(JSON.stringify([status, others, String(body)]))
    t.same(refused.splice(0), [why], header.slice(0, 30))
    t.equal(status, 401)
    t.match(headers['www-authenticate'], /^Bearer realm=.*, Basic realm=/)
  }
  t.equal(told.size, 1)
  t.match([...told][0], /Unauthorized.*this key is not valid/)
  const { status, body } = await ask(READ)
  t.equal(status, 401)
  t.match(String(body), /send Authorization: Bearer KEY/)
  t.same(refused, ['missing'])
  t.same(executed, [])
})

t.test(
  'a key that ends or changes is refused from then on, also on an open connection',
  async (t) => {
    const { made, keys, front, port } = await keyedServer(t)
    const endsAt = Date.now() + 300
    const ending = made({ name: 'ending', expiresAt: new Date(endsAt).toISOString() })
    const key = made({ name: 'desk' })
    const client = new Client(port)
    const statusOf = async (text: string) => {
      client.write(requestText(READ, { headers: [bearer(text)] }))
      return (await client.answer()).status
    }
    t.equal(await statusOf(ending), 204)
    t.equal(await statusOf(key), 204)
    const rotated = rotateKey(keys, 'desk', { nowMs: Date.now(), keepMs: 60_000 }).text
    t.equal(await statusOf(rotated), 401, 'this front has not taken it')
    front.follow()
    t.equal(await statusOf(rotated), 204)
    t.equal(await statusOf(key), 204)
    finishRotation(keys, 'desk', Date.now())
    front.follow()
    t.equal(await statusOf(key), 401)
    revokeKey(keys, 'desk', Date.now())
    front.follow()
    t.equal(await statusOf(rotated), 401)
    await sleep(Math.max(0, endsAt - Date.now()) + 5)
    t.equal(await statusOf(ending), 401)
    client.socket.destroy()
  },
)

t.test('a key that is known by its header ends all the same', async (t) => {
  const { made, ask } = await keyedServer(t)
  const ending = made({ expiresAt: new Date(Date.now() + 60_000).toISOString() })
  const headers = [bearer(ending)]
  t.equal((await ask(READ, { headers })).status, 204)
  t.equal((await ask(READ, { headers })).status, 204)
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() + 60_001
  t.equal((await ask(READ, { headers })).status, 401)
})

t.test('scopes decide, before a byte of the body is there', async (t) => {
  const { made, port, executed, refused } = await keyedServer(t)
  const key = made({ scopes: ['contexts:read'] })
  const declared = [`Content-Length: ${limits.bodyBytes}`, 'Content-Type: application/json']
  for (const name of operationNames.filter((each) => operations[each].verb !== 'GET')) {
    const { verb, paths } = operations[name]
    for (const line of [`${verb} ${paths[0]}`, `POST /json/reply/${name}`, `POST /api/${name}[]`]) {
      for (const [header, status] of [
        [bearer(key), 403],
        ['X-None: 1', 401],
      ] as const) {
        const client = new Client(port)
        client.write(requestText(line.replace('{Id}', '1'), { headers: [header, ...declared] }))
        t.equal((await client.answer()).status, status, `${line} ${header.slice(0, 20)}`)
        client.socket.destroy()
      }
    }
  }
  t.same(executed, [])
  t.ok(refused.includes('scope'))
})

t.test('a form may name another operation, which needs its own scope', async (t) => {
  const { ask, made, executed } = await keyedServer(t)
  const reader = bearer(made({ scopes: ['contexts:read'] }))
  const writer = bearer(made({ scopes: ['contexts:write'] }))
  const form = 'Content-Type: application/x-www-form-urlencoded'
  const statusOf = async (key: string, verb: string) => {
    const sent = { headers: [key, form], body: `X-HTTP-Method-Override=${verb}&ContextName=a` }
    return (await ask('POST /api/contexts', sent)).status
  }
  t.equal(await statusOf(reader, 'GET'), 204)
  t.equal(await statusOf(reader, 'POST'), 403)
  t.equal(await statusOf(reader, 'PUT'), 403)
  t.equal(await statusOf(writer, 'PUT'), 204)
  t.equal(await statusOf(writer, 'GET'), 403)
  t.same(executed, ['GetMapContextsRequest', 'PutMapContextRequest'])
})

t.test('a refusal comes in the form of the answer', async (t) => {
  const { ask } = await keyedServer(t)
  const csv = await ask(`${READ}.csv`)
  t.match(csv.headers['content-type'], 'text/csv')
  t.match(String(csv.body), /^ResponseStatus\r?\n"\{ErrorCode:Unauthorized/)
  const ndjson = await ask(READ, { headers: ['Accept: application/x-ndjson'] })
  t.match(ndjson.headers['content-type'], 'application/x-ndjson')
  const script = await ask(`${READ}?callback=show`)
  t.equal(script.status, 200)
  t.match(String(script.body), /^show\(\{"ResponseStatus":\{"ErrorCode":"Unauthorized"/)
  const head = await ask('HEAD /api/contexts')
  t.equal(head.status, 401)
  t.ok(head.headers['www-authenticate'])
})

t.test('a key in the address is refused, also beside one in the header', async (t) => {
  const { ask, made, executed, lines } = await keyedServer(t)
  const key = made()
  for (const query of [
    `key=${key}`,
    `access_token=${key}`,
    `Name=a&x=${encodeURIComponent(key)}`,
    `x=${key.replaceAll('_', '%5F')}`,
    `x=${key.replaceAll('_', '%5f')}`,
    key,
  ]) {
    for (const headers of [[], [bearer(key)]]) {
      const { status, body } = await ask(`${READ}?${query}`, { headers })
      t.equal(status, 400)
      t.match(String(body), /there is a key in the address/)
      t.notMatch(String(body), key.slice(14))
    }
  }
  t.equal((await ask(`${READ}?Take=1`, { headers: [bearer(key)] })).status, 204)
  t.same(executed, ['GetMapContextsRequest'])
  await sleep(1_100)
  t.notMatch(JSON.stringify(lines), key.slice(14))
})

t.test('a key is no id of a request, which would be logged', async (t) => {
  const ids: string[] = []
  const route = {
    path: '/id',
    methods: {
      GET: ({ requestId }: HttpRequest, reply: Reply) => {
        ids.push(requestId)
        reply.send(200, {}, '')
      },
    },
  }
  const { port } = await startServer(t, [route])
  const key = makeKeyText(makeKeyId())
  await request(port, 'GET /id', { headers: [`X-Request-Id: ${key}`] })
  await request(port, 'GET /id', { headers: ['X-Request-Id: mine-1'] })
  t.notMatch(ids[0], 'hk_')
  t.equal(ids[1], 'mine-1')
})

t.test('wrong keys of an address are slowed, and a right one passes', async (t) => {
  const { ask, made, refused } = await keyedServer(t)
  const key = made()
  const guess = () => ask(READ, { headers: [bearer(makeKeyText(makeKeyId()))] })
  for (let i = 0; i < limits.keyGuessCount; i++) t.equal((await guess()).status, 401, `${i}`)
  const slowed = await guess()
  t.equal(slowed.status, 429)
  t.equal(slowed.headers['retry-after'], '1')
  t.match(String(slowed.body), /TooManyRequests/)
  t.equal((await ask(READ, { headers: [bearer(key)] })).status, 204, 'also for the first time')
  const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  t.equal((await ask(READ, { headers: [bearer(wrong)] })).status, 429, 'whatever is wrong')
  t.equal((await ask(READ)).status, 401, 'who has none is not taken for one who guesses')
  t.equal(refused.filter((why) => why === 'slowed').length, 2)
})

t.test('the log has one line a second, with counts and without keys', async (t) => {
  const { ask, made, lines } = await keyedServer(t)
  const key = made({ name: 'desk', scopes: ['counts'] })
  for (let i = 0; i < 20; i++) await ask(READ)
  for (let i = 0; i < 3; i++) await ask(READ, { headers: [bearer(key)] })
  t.same(lines, [])
  await sleep(1_100)
  t.same(lines, [{ refused: { missing: 20, scope: 3 }, keyNames: ['desk'] }])
})

t.test('a key may ask so often, and is told when to come again', async (t) => {
  const { ask, made, refused } = await keyedServer(t)
  const header = bearer(made({ requestsPerSecond: 3 }))
  const statuses = await Promise.all(
    Array.from({ length: 5 }, async () => (await ask(READ, { headers: [header] })).status),
  )
  t.same(statuses.sort(), [204, 204, 204, 429, 429])
  const { headers, body } = await ask(READ, { headers: [header] })
  t.equal(headers['retry-after'], '1')
  t.match(String(body), /this key may ask 3 times a second/)
  t.ok(refused.every((why) => why === 'rate'))
})

t.test('a client without a key learns that the service is ready, and no more', async (t) => {
  const { ask, made } = await keyedServer(t)
  const bodyOf = async (headers: string[] = []) =>
    JSON.parse(String((await ask('GET /readyz', { headers })).body))
  t.same(await bodyOf(), { status: 'ready' })
  t.same(await bodyOf([bearer(makeKeyText(makeKeyId()))]), { status: 'ready' })
  t.same(await bodyOf([bearer(made({ scopes: ['counts'] }))]), {
    status: 'ready',
    snapshotId: 'one',
  })
  t.equal((await ask('GET /livez')).status, 200)
})

t.test('neither an address nor a header of a proxy stands for a key', async (t) => {
  const { ask, made, executed } = await keyedServer(t)
  const body = '{}'
  t.equal((await ask('POST /api/contexts', { body })).status, 401, 'from this machine')
  const key = bearer(made())
  const headers = [key, 'X-Forwarded-For: 203.0.113.9', 'Via: 1.1 proxy']
  t.equal((await ask('POST /api/contexts', { headers, body })).status, 204, 'with a key')
  t.same(executed, ['PostMapContextRequest'])
})

t.test('a page does not write with what a browser adds by itself', async (t) => {
  const { ask, made } = await keyedServer(t, { publicOrigin: 'https://alerts.example.org' })
  const key = made()
  const statusOf = async (...headers: string[]) =>
    (await ask('POST /api/contexts', { headers, body: '{}' })).status
  const foreign = 'Origin: https://evil.example.org'
  t.equal(await statusOf(basic('a', key), foreign), 403)
  t.equal(await statusOf(basic('a', key), 'Origin: null'), 403)
  t.equal(await statusOf(basic('a', key), 'Origin: https://alerts.example.org'), 204)
  t.equal(await statusOf(basic('a', key), 'Origin: http://localhost:3000'), 204)
  t.equal(await statusOf(basic('a', key)), 204)
  t.equal(await statusOf(bearer(key), foreign), 204, 'a page that knows the key was given it')
})

t.test('a page does not read a script with what a browser adds by itself', async (t) => {
  const { ask, made } = await keyedServer(t)
  const key = made()
  const statusOf = async (...headers: string[]) =>
    String((await ask(`${READ}?callback=show`, { headers })).body).match(/ErrorCode":"(\w+)/)?.[1]
  t.equal(
    await statusOf(basic('a', key)),
    'Forbidden',
    'a browser that does not say whose page asks',
  )
  t.equal(await statusOf(basic('a', key), 'Sec-Fetch-Site: cross-site'), 'Forbidden')
  t.equal(await statusOf(basic('a', key), 'Sec-Fetch-Site: same-origin'), undefined)
  t.equal(await statusOf(bearer(key)), undefined)
})

t.test('a service without changes says so', async (t) => {
  const { ask, made, executed } = await keyedServer(t, { takesWrites: false })
  const headers = [bearer(made())]
  const { status, body } = await ask('POST /api/contexts', { headers, body: '{}' })
  t.equal(status, 403)
  t.match(String(body), /takes no changes over HTTP \(--writes off\)/)
  t.equal((await ask(READ, { headers })).status, 204)
  t.same(executed, ['GetMapContextsRequest'])
})

t.test('more headers than are known by their text get in all the same', async (t) => {
  const { made, port, keys, front } = await keyedServer(t)
  const key = made({ name: 'desk' })
  const client = new Client(port)
  const statusOf = async (user: number) => {
    client.write(requestText(READ, { headers: [basic(`user-${user}`, key)] }))
    return (await client.answer()).status
  }
  const statuses = new Set<number>()
  for (let i = 0; i <= limits.knownCredentialCount; i++) statuses.add(await statusOf(i))
  t.same([...statuses], [204])
  revokeKey(keys, 'desk', Date.now())
  front.follow()
  t.equal(await statusOf(0), 401)
  t.equal(await statusOf(limits.knownCredentialCount), 401)
  client.socket.destroy()
})

t.test('a line of the log names so many keys and no more', async (t) => {
  const { ask, made, lines } = await keyedServer(t)
  const count = limits.refusedKeysLoggedCount + 1
  for (let i = 0; i < count; i++) {
    const key = made({ name: `key-${i}`, scopes: ['counts'] })
    t.equal((await ask(READ, { headers: [bearer(key)] })).status, 403)
  }
  await sleep(1_100)
  t.match(lines, [{ refused: { scope: count } }])
  t.same((lines[0].keyNames as string[]).length, limits.refusedKeysLoggedCount)
})

t.test('a scope that only the members tell of is counted and logged as well', async (t) => {
  const recipients: Execute = async ({ countsOnly }, caller) => {
    refuseScope(caller, countsOnly === true)
    return undefined
  }
  const { ask, made, refused, lines } = await keyedServer(t, { recipients })
  const headers = [
    bearer(made({ name: 'desk', scopes: ['counts'] })),
    'Content-Type: application/json',
  ]
  const statusOf = async (line: string, body: string) => (await ask(line, { headers, body })).status
  t.equal(await statusOf('POST /api/recipients', '{"countsOnly":true}'), 204)
  t.same(refused, [])
  t.equal(await statusOf('POST /api/recipients', '{}'), 403)
  t.equal(await statusOf('POST /json/reply/RecipientRequest[]', '[{}]'), 403)
  t.same(refused, ['scope', 'scope'])
  await until(() => lines.length > 0)
  t.match(lines, [{ refused: { scope: 2 }, keyNames: ['desk'] }])
})
