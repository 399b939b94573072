/**
 * Every operation, in every way to call it, with every scope, in every state of a key, with a boundary and
 * without: who is let in, and who is not. The table of what a scope allows is written here once more, since
 * the service must not be its own witness.
 *
 * @module
 */
import { request as httpRequest } from 'node:http'
import t, { type Test } from 'tap'
import { operationNames } from '../../src/interface/operation-names.js'
import { type OperationName, operations } from '../../src/interface/operations.js'
import { createKey, finishRotation, revokeKey, rotateKey } from '../../src/keys/change-keys.js'
import { makeKeyId, makeKeyText } from '../../src/keys/key-record.js'
import { createStore, type MainStore } from '../../src/store/store.js'
import { alertXml } from '../support/data/alerts.js'
import { silentLog, squareGeometry } from '../support/data/store.js'
import { COUNT, placesWorld } from '../support/data/suppressions.js'
import { type Service, serve } from '../support/service/hickory.js'

const SCOPES = [
  'config:read',
  'config:write',
  'contexts:read',
  'contexts:write',
  'counts',
  'lists',
  'suppressions:read',
  'suppressions:write',
  'changes',
  'admin',
] as const
type Scope = (typeof SCOPES)[number]

const EVERYWHERE = { type: 'Polygon', coordinates: squareGeometry(-1, -1, 61).rings }
const ID = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
const ALERT = 'alert-1'
const CAP = alertXml({
  identifier: ALERT,
  shapes: [{ kind: 'polygon', ring: EVERYWHERE.coordinates[0].map(([lng, lat]) => [lng, lat]) }],
})

/** What is asked, and who may beside `admin`. */
interface Asked {
  readonly operation: OperationName
  readonly scopes: readonly Scope[]
  readonly members: Readonly<Record<string, unknown>>
}

const asked: readonly Asked[] = [
  { operation: 'GetMapConfigurationRequest', scopes: ['config:read'], members: {} },
  { operation: 'PostMapConfigurationRequest', scopes: ['config:write'], members: {} },
  { operation: 'GetMapContextRequest', scopes: ['contexts:read'], members: { Id: ID } },
  { operation: 'GetMapContextsRequest', scopes: ['contexts:read'], members: {} },
  { operation: 'PostMapContextRequest', scopes: ['contexts:write'], members: { ContextName: 'a' } },
  { operation: 'PutMapContextRequest', scopes: ['contexts:write'], members: { Id: ID } },
  { operation: 'DeleteMapContextRequest', scopes: ['contexts:write'], members: { Id: ID } },
  {
    operation: 'PutAlertRequest',
    scopes: ['contexts:write'],
    members: { Identifier: ALERT, cap: CAP },
  },
  { operation: 'GetAlertRequest', scopes: ['contexts:read'], members: { Identifier: ALERT } },
  { operation: 'GetAlertsRequest', scopes: ['contexts:read'], members: {} },
  {
    operation: 'GetAlertChangesRequest',
    scopes: ['counts'],
    members: { Identifier: ALERT, since: ALERT },
  },
  {
    operation: 'GetAlertChangesRequest',
    scopes: ['lists'],
    members: { Identifier: ALERT, since: ALERT, part: 'staying' },
  },
  { operation: 'DeleteAlertRequest', scopes: ['contexts:write'], members: { Identifier: ALERT } },
  {
    operation: 'RecipientRequest',
    scopes: ['counts'],
    members: { countsOnly: true, geoJSON: EVERYWHERE },
  },
  { operation: 'RecipientRequest', scopes: ['lists'], members: { geoJSON: EVERYWHERE } },
  { operation: 'GetSourcesRequest', scopes: ['counts', 'lists'], members: {} },
  {
    operation: 'GridRequest',
    scopes: ['counts'],
    members: { geoJSON: EVERYWHERE, h3Resolution: 5 },
  },
  { operation: 'GetAreasRequest', scopes: ['counts', 'lists'], members: { q: 'harris' } },
  { operation: 'GetAreaRequest', scopes: ['counts', 'lists'], members: { Name: 'SAME:048201' } },
  { operation: 'OutlineRequest', scopes: ['counts', 'lists'], members: { geoJSON: EVERYWHERE } },
  { operation: 'GetSuppressionsRequest', scopes: ['suppressions:read'], members: {} },
  { operation: 'PostAudienceRequest', scopes: ['lists'], members: { geoJSON: EVERYWHERE } },
  { operation: 'GetAudiencesRequest', scopes: ['lists'], members: {} },
  { operation: 'GetAudienceRequest', scopes: ['lists'], members: { Id: ID } },
  { operation: 'DeleteAudienceRequest', scopes: ['lists'], members: { Id: ID } },
  {
    operation: 'PutSuppressionsRequest',
    scopes: ['suppressions:write'],
    members: { Numbers: ['+9999000001'] },
  },
  {
    operation: 'DeleteSuppressionsRequest',
    scopes: ['suppressions:write'],
    members: { Numbers: ['+9999000001'] },
  },
  {
    operation: 'PostChangesRequest',
    scopes: ['changes'],
    members: { Id: 1, batchId: 'a', changes: [{ op: 'delete', number: '+9999000001' }] },
  },
]

const STATES = [
  'none',
  'unknown',
  'wrong',
  'damaged',
  'expired',
  'revoked',
  'replaced',
  'ended by --finish',
  'old, beside a new one',
  'new, beside an old one',
  'right',
] as const
type State = (typeof STATES)[number]

const LIVE: readonly State[] = ['old, beside a new one', 'new, beside an old one', 'right']

/** The polygon beyond which nobody is answered for, and how many of all recipients are within. */
const BOUNDARIES = [
  { name: 'none', boundary: undefined, withinCount: COUNT },
  { name: 'a part', boundary: squareGeometry(0, 0, 0.05), withinCount: 30 },
] as const
type Boundary = (typeof BOUNDARIES)[number]

interface Cell {
  readonly asked: Asked
  readonly scope: Scope
  readonly state: State
  readonly boundary: Boundary
  /** What a client sends in place of a key. */
  readonly text: string | undefined
  readonly isLetIn: boolean
}

t.test('the table knows every operation', async (t) => {
  t.same(new Set(asked.map(({ operation }) => operation)), new Set(operationNames))
})

t.test('every cell is let in or refused as the table says', async (t) => {
  const data = await placesWorld(t)
  const store = await createStore(data, silentLog)
  const cells = cellsOf(store)
  const watcher = createKey(store.keys, { name: 'watcher', scopes: ['admin'] }, Date.now()).text
  await store.close()
  const service = await serve(
    t,
    '--data',
    data,
    '--keys',
    '--http-threads',
    '2',
    '--query-threads',
    '2',
  )
  const stored = async () => {
    const kinds = ['configuration', 'contexts', 'suppressions', 'audiences']
    const paths = kinds.map((kind) => `/api/${kind}`)
    const texts = paths.map((path) => call(service, `GET ${path}`, bearer(watcher)))
    return (await Promise.all(texts)).map(({ text }) => text)
  }

  const before = await stored()
  const refused = cells.filter(({ isLetIn }) => !isLetIn)
  await forEach(refused, (cell) => askRefused(t, service, cell))
  t.same(await stored(), before, 'what was refused has changed nothing')
  const letIn = cells.filter(({ isLetIn }) => isLetIn)
  for (const cell of letIn) await askLetIn(t, service, cell)
  t.not(JSON.stringify(await stored()), JSON.stringify(before), 'what was let in has')
  t.comment(`${letIn.length} cells were let in, ${refused.length} refused`)
  t.equal(cells.length, asked.length * SCOPES.length * STATES.length * BOUNDARIES.length)
})

function cellsOf(store: MainStore): Cell[] {
  const cells: Cell[] = []
  for (const scope of SCOPES) {
    for (const boundary of BOUNDARIES) {
      for (const state of STATES) {
        const text = textIn(store, state, scope, boundary)
        for (const one of asked) {
          const isAllowed = scope === 'admin' || one.scopes.includes(scope)
          const isLetIn = isAllowed && LIVE.includes(state)
          cells.push({ asked: one, scope, state, boundary, text, isLetIn })
        }
      }
    }
  }
  return cells
}

/** Makes a key in a state, and gives what its client sends. */
function textIn(store: MainStore, state: State, scope: Scope, { boundary }: Boundary) {
  const { keys } = store
  const nowMs = Date.now()
  const name = `key-${keys.read().records.size}`
  const hourMs = 3_600_000
  const make = (expiresMs = nowMs + hourMs) => {
    const expiresAt = new Date(expiresMs).toISOString()
    const wish = { name, scopes: [scope], expiresAt, ...(boundary && { boundary }) }
    return createKey(keys, wish, nowMs).text
  }
  if (state === 'none') return undefined
  if (state === 'unknown') return makeKeyText(makeKeyId())
  const text = make(state === 'expired' ? nowMs - 1 : undefined)
  const rotate = (atMs: number, keepMs: number) =>
    rotateKey(keys, name, { nowMs: atMs, keepMs }).text
  switch (state) {
    case 'wrong':
      return makeKeyText(text.slice(3, 13))
    case 'damaged':
      keys.change(
        ({ records }) => new Map([[text.slice(3, 13), `${records.get(text.slice(3, 13))}}`]]),
      )
      return text
    case 'revoked':
      revokeKey(keys, name, nowMs)
      return text
    case 'replaced':
      rotate(nowMs - hourMs, 1)
      return text
    case 'ended by --finish':
      rotate(nowMs, hourMs)
      finishRotation(keys, name, nowMs)
      return text
    case 'old, beside a new one':
      rotate(nowMs, hourMs)
      return text
    case 'new, beside an old one':
      return rotate(nowMs, hourMs)
    default:
      return text
  }
}

/** Asks in every way, each from an address of its own, since wrong keys of one are slowed. */
async function askRefused(t: Test, service: Service, cell: Cell): Promise<void> {
  const expected = LIVE.includes(cell.state) ? [403, 'Forbidden'] : [401, 'Unauthorized']
  for (const { line, members } of waysOf(cell.asked)) {
    const headers = cell.text === undefined ? {} : authorization(cell.text)
    const { status, text } = await call(service, line, headers, members)
    const code = /ErrorCode"?:"?(\w+)/.exec(text)?.[1]
    if (status === expected[0] && code === expected[1] && !text.includes('+999')) continue
    t.fail(
      `${line} ${cell.scope}, ${cell.state}, boundary ${cell.boundary.name}: ${status} ${code}`,
    )
  }
}

async function askLetIn(t: Test, service: Service, { asked, text = '', ...cell }: Cell) {
  const { operation } = asked
  for (const { line, members } of waysOf(asked)) {
    const about = `${line} ${cell.scope}, ${cell.state}, boundary ${cell.boundary.name}`
    const answer = await call(service, line, authorization(text), members)
    const { status } = answer
    // A context that another cell has deleted, or an audience that nobody made.
    const isGone = status === 404 && /Context|Audience|Alert/.test(operation)
    const isFine = status === 200 || status === 204 || isGone
    if (!isFine) t.fail(`${about}: ${status}`)
    if (operation !== 'RecipientRequest' || line.includes('csv')) continue
    const [{ SourceRecords }] = [JSON.parse(answer.text)].flat()
    const [{ Count, Recipients }] = SourceRecords
    const { withinCount } = cell.boundary
    const listedCount = asked.members.countsOnly === true ? undefined : withinCount
    if (Count === withinCount && Recipients?.length === listedCount) continue
    t.fail(`${about}: ${Count} counted, ${Recipients?.length} listed, ${withinCount} within`)
  }
}

interface Way {
  readonly line: string
  readonly members: unknown
}

function waysOf({ operation, members }: Asked): Way[] {
  const { verb, paths } = operations[operation]
  const own = paths.map((path) => ({
    line: `${verb} ${path
      .replace('{Id}', String(members.Id ?? ID))
      .replace('{Identifier}', ALERT)
      .replace('{Name}', 'SAME:048201')}${queryOf(operation, members)}`,
    members,
  }))
  return [
    ...own,
    { line: `POST /json/reply/${operation}`, members },
    { line: `POST /csv/oneway/${operation}`, members },
    { line: `POST /api/${operation}`, members },
    { line: `POST /json/reply/${operation}[]`, members: [members] },
  ]
}

/** Of a GET on its own path, which has no body. */
function queryOf(operation: OperationName, members: Asked['members']): string {
  if (operation !== 'GetAlertChangesRequest') return ''
  const { Identifier: _, ...others } = members as Record<string, string>
  return `?${new URLSearchParams(others)}`
}

let callCount = 0

function authorization(text: string): Record<string, string> {
  return callCount % 2 === 0 ? bearer(text) : basic(text)
}

function bearer(text: string): Record<string, string> {
  return { Authorization: `Bearer ${text}` }
}

function basic(text: string): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(`anybody:${text}`).toString('base64')}` }
}

function call(
  { url }: Service,
  line: string,
  headers: Record<string, string>,
  members?: unknown,
): Promise<{ status: number; text: string }> {
  const [method, path] = line.split(' ')
  const host = callCount++
  const localAddress = `127.${1 + (host >> 14)}.${(host >> 7) & 127}.${1 + (host & 127)}`
  // Members of a GET or DELETE on its own path are in the path, or need not be there.
  const hasBody = members !== undefined && method !== 'GET'
  const body = hasBody ? JSON.stringify(members) : undefined
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const options = {
    method,
    localAddress,
    agent: false as const,
    headers: { ...headers, ...length, 'Content-Type': 'application/json' },
  }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, options, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece) => pieces.push(piece))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: String(Buffer.concat(pieces)) }),
      )
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A few at a time. */
async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>) {
  const left = [...items]
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}
