/**
 * The audit of real services and commands, over HTTP: beside each other, killed, and on a full disk.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type AuditLine, auditPath, readAudit } from '../../src/audit/directory.js'
import { verifyAudit } from '../../src/audit/verify.js'
import { mountSmallDisk } from '../faults/full-disk.js'
import { importPlaces, phoneOf, places } from '../support/data/suppressions.js'
import { hickoryHere } from '../support/service/command-line.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 2, soak: 60 })

/** Around all places of a world, and more recipients than are encoded at once. */
const EVERYWHERE = {
  type: 'Polygon',
  coordinates: [
    [
      [-1, -1],
      [51, -1],
      [51, 51],
      [-1, 51],
      [-1, -1],
    ],
  ],
}
const RECIPIENT_COUNT = 20_000

async function largeWorld(t: Test): Promise<string> {
  const data = temporaryDirectory(t)
  await importPlaces(t, data, 1, places(RECIPIENT_COUNT))
  return data
}

/** Asks for everybody, or how many they are. */
function ask(
  { url }: Pick<Service, 'url'>,
  requestId: string,
  countsOnly = false,
): Promise<Response> {
  return fetch(`${url}/api/recipients`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Request-Id': requestId },
    body: JSON.stringify({ geoJSON: EVERYWHERE, countsOnly }),
  })
}

function linesOf(directory: string): AuditLine[] {
  return [...readAudit(directory)].map(({ line }) => line)
}

async function assertWhole(t: Test, directory: string): Promise<void> {
  t.equal((await verifyAudit(directory)).damage, undefined)
}

t.test('services and commands write one chain together', async (t) => {
  const data = await largeWorld(t)
  const audit = join(temporaryDirectory(t), 'audit')
  const flags = ['--data', data, '--audit', audit]
  const services = [await serve(t, ...flags), await serve(t, ...flags)]
  const file = join(temporaryDirectory(t), 'list.txt')
  writeFileSync(file, `${phoneOf(1)}\n`)
  const lists = Array.from({ length: 60 }, async (_, i) => {
    const response = await ask(services[i % 2], `list-${i}`)
    t.equal(response.status, 200)
    const body = Buffer.from(await response.arrayBuffer())
    return { requestId: `list-${i}`, sha256: createHash('sha256').update(body).digest('hex') }
  })
  const commands = [
    hickory('suppress', ...flags, file),
    hickory('suppress', ...flags, '--remove', file),
    // Only one command at a time may hold the lock of the directory.
    hickory('pin', ...flags, 'current', '--note', 'for the test'),
    hickory('rollback', '--list', ...flags),
  ]
  const codes = (await Promise.all(commands)).map(({ code }) => code)
  const unknown = await hickory('unpin', ...flags, '999999-00000000')
  t.same([...codes, unknown.code], [0, 0, 0, 0, 2])
  const sent = await Promise.all(lists)
  for (const service of services) t.equal((await service.stop()).code, 0)
  await assertWhole(t, audit)
  const lines = linesOf(audit)
  for (const { requestId, sha256 } of sent) {
    const [begun, ended] = lines.filter((line) => line.requestId === requestId)
    t.match(begun, { event: 'list', phase: 'begun', operation: 'RecipientRequest' })
    t.match(ended, {
      phase: 'ended',
      begun: begun.sequence,
      outcome: 'completed',
      rowCount: RECIPIENT_COUNT,
      sha256,
    })
  }
  const commandLines = lines.filter(({ event, phase }) => event === 'command' && phase === 'begun')
  t.same(commandLines.map(({ command }) => command).sort(), [
    'pin',
    'suppress',
    'suppress',
    'unpin',
  ])
  t.match(
    lines.find(({ exitCode }) => exitCode === 2),
    { event: 'command', phase: 'ended', outcome: 'failed' },
  )
  t.same(
    lines.filter(({ event }) => event === 'service').map(({ phase }) => phase),
    ['started', 'started', 'stopped', 'stopped'],
  )
  const text = readFileSync(auditPath(audit, 1), 'utf8')
  t.notMatch(text, phoneOf(1), 'no number')
  t.notMatch(text, '+999')
})

t.test(`kill -9 under load with lists, ${ROUND_COUNT} times`, async (t) => {
  const data = await largeWorld(t)
  const audit = join(temporaryDirectory(t), 'audit')
  /** Of which a client has had a byte. */
  const received = new Set<string>()
  for (let round = 0; round < ROUND_COUNT; round++) {
    const service = await serve(t, '--data', data, '--audit', audit)
    let isOver = false
    const client = async (name: number) => {
      for (let i = 0; !isOver; i++) {
        const requestId = `round-${round}-${name}-${i}`
        try {
          const response = await ask(service, requestId)
          // A head is a part of what is sent.
          if (response.status === 200) received.add(requestId)
          await response.arrayBuffer()
        } catch {
          return
        }
      }
    }
    const clients = Array.from({ length: 8 }, (_, name) => client(name))
    const before = received.size
    await until(() => received.size > before)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 150))
    await service.stop('SIGKILL')
    isOver = true
    await Promise.all(clients)
    await assertWhole(t, audit)
  }
  const service = await serve(t, '--data', data, '--audit', audit)
  t.equal((await ask(service, 'last')).status, 200)
  t.equal((await service.stop()).code, 0)
  await assertWhole(t, audit)
  const begun = new Set(
    linesOf(audit)
      .filter(({ phase }) => phase === 'begun')
      .map((line) => line.requestId),
  )
  t.same(
    [...received].filter((id) => !begun.has(id)),
    [],
  )
  t.comment(`${received.size} lists of ${begun.size}`)

  const verified = await hickoryHere('audit', 'verify', audit)
  t.match(verified, { code: 0, stdout: /^last +\d+ [\da-f]{64}$/m })
  const path = auditPath(audit, 1)
  const bytes = readFileSync(path)
  const at = Math.floor(Math.random() * bytes.length)
  bytes[at] ^= 1 << Math.floor(Math.random() * 8)
  writeFileSync(path, bytes)
  const damaged = await hickoryHere('audit', 'verify', audit)
  t.match(damaged, { code: 12, stderr: /audit-000001\.jsonl, line \d+ / }, `byte ${at}`)
})

/** By whether the line or the head of the chain finds no room. */
const FULL = /(ENOSPC[^\n]*|No space left on device): make room[^\n]*Nothing was done/

t.test('a full disk refuses lists and changes, and nothing else', async (t) => {
  const disk = join(temporaryDirectory(t), 'disk')
  const mounted = mountSmallDisk(disk)
  if (mounted === undefined) throw new Error('mounting takes root')
  t.teardown(() => mounted.remove())
  const data = await largeWorld(t)
  const audit = join(disk, 'audit')
  const flags = ['--data', data, '--audit', audit]
  const service = await serve(t, ...flags)
  t.equal((await ask(service, 'before')).status, 200)
  fill(join(disk, 'filler'))
  const refused = await refusal(
    () => ask(service, 'full'),
    ({ status }) => status !== 200,
  )
  t.equal(refused.status, 503)
  t.match(await refused.text(), 'AuditUnavailable')
  t.equal((await ask(service, 'count', true)).status, 200, 'counts go on')
  const change = { method: 'PUT', body: JSON.stringify({ Numbers: [phoneOf(1)] }) }
  const refusedChange = await refusal(
    () => fetch(`${service.url}/api/suppressions`, change),
    ({ status }) => status !== 200,
  )
  t.equal(refusedChange.status, 503)
  const command = await refusal(
    () => hickory('pin', ...flags, 'current'),
    ({ code }) => code !== 0,
  )
  t.match(command, { code: 1, stderr: FULL })
  const second = await serve(t, ...flags)
  const refusedToo = await refusal(
    () => ask(second, 'second'),
    ({ status }) => status !== 200,
  )
  t.equal(refusedToo.status, 503, 'it starts all the same')
  rmSync(join(disk, 'filler'))
  for (const each of [service, second]) {
    let isBack = false
    for (let i = 0; !isBack && i < 100; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      isBack = (await ask(each, `after-${i}`)).status === 200
    }
    t.ok(isBack, 'it goes on by itself')
    t.equal((await each.stop()).code, 0)
  }
  await assertWhole(t, audit)
  t.ok(linesOf(audit).some(({ phase }) => phase === 'resumed'))
  const { stderr } = service.output()
  t.match(stderr, '"reason":"ENOSPC","msg":"the audit cannot be written')
  t.match(stderr, 'the audit can be written again')
})

t.test('keys are named, and their secrets never', async (t) => {
  const data = await largeWorld(t)
  const audit = join(temporaryDirectory(t), 'audit')
  const flags = ['--data', data, '--audit', audit]
  const created = await hickory('keys', 'create', ...flags, '--name', 'desk-3', '--scopes', 'lists')
  t.equal(created.code, 0, created.stderr)
  const secret = created.stdout.split(/\s+/).find((word) => /^[\w-]{40,}$/.test(word)) ?? ''
  t.not(secret, '')
  const service = await serve(t, ...flags, '--keys')
  const geoJSON = EVERYWHERE
  const response = await fetch(`${service.url}/api/recipients`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
    body: JSON.stringify({ geoJSON }),
  })
  t.equal(response.status, 200)
  await response.arrayBuffer()
  t.equal((await ask(service, 'no-key')).status, 401)
  t.equal((await hickory('keys', 'revoke', ...flags, 'desk-3')).code, 0)
  t.equal((await service.stop()).code, 0)
  const lines = linesOf(audit)
  t.match(
    lines.filter(({ event, phase }) => event === 'command' && phase === 'begun'),
    [
      { command: 'keys create', changedKey: 'desk-3', scopes: 'lists' },
      { command: 'keys revoke', changedKey: 'desk-3' },
    ],
  )
  const lists = lines.filter(({ event, phase }) => event === 'list' && phase === 'begun')
  t.match(lists, [{ keyName: 'desk-3', rowCount: RECIPIENT_COUNT }])
  t.equal(lists.length, 1, 'who is refused gets no list')
  t.notMatch(readFileSync(auditPath(audit, 1), 'utf8'), secret)
  const shown = await hickoryHere('audit', 'show', audit, '--key', 'desk-3')
  t.match(shown.stdout, /list begun +RecipientRequest +desk-3 +127\.0\.0\.1 +20000/)
  t.match(shown.stdout, /list ended.*20000 +completed/)
})

t.test('what an operator is told', async (t) => {
  const audit = join(temporaryDirectory(t), 'audit')
  t.match(await hickoryHere('audit', 'verify'), { code: 2, stderr: /HICKORY_AUDIT/ })
  t.match(await hickoryHere('audit', 'verify', audit), { code: 2, stderr: /is no directory/ })
  t.match(await hickoryHere('audit', 'show', audit), { code: 2, stderr: /is no directory/ })
  const data = await largeWorld(t)
  t.match(await hickoryHere('pin', '--data', data, '--audit', audit, 'current'), { code: 0 })
  t.match(await hickoryHere('audit', 'show', audit), {
    code: 0,
    stdout:
      /line +what +of[\s\S]*1 +command begun +pin[\s\S]*2 +command ended +line 1 +.*completed/,
  })
  t.equal((await hickoryHere('audit', 'show', audit, '--operation', 'rollback')).stdout, '')
  t.match(
    (await hickoryHere('audit', 'show', audit, '--since', '1h', '--json')).stdout,
    /^\{"sequence":1,/,
  )
  t.equal((await hickoryHere('audit', 'show', audit, '--since', '2100-01-01')).stdout, '')
  t.match(await hickoryHere('audit', 'show', audit, '--since', 'noon'), {
    code: 2,
    stderr: /2h or 7d/,
  })
  rmSync(join(audit, 'head'), { recursive: true })
  t.match(await hickoryHere('audit', 'verify', audit), {
    code: 12,
    stderr: /head is missing or damaged/,
  })
  t.match(await hickoryHere('unpin', '--data', data, '--audit', audit, 'current'), {
    code: 1,
    stderr: /Nothing was done/,
  })
  t.match(await hickory('serve', '--data', data, '--port', '0', '--audit', '/dev/null/audit'), {
    code: 1,
    stderr: /the audit directory \/dev\/null\/audit must be a directory of this user/,
  })
  t.notOk(existsSync(join(audit, 'head')))
})

/** Tries until it is refused: there may be room for some lines in the last page of the file. */
async function refusal<Result>(
  attempt: () => Promise<Result>,
  isRefused: (result: Result) => boolean,
): Promise<Result> {
  for (let i = 0; i < 50; i++) {
    const result = await attempt()
    if (isRefused(result)) return result
  }
  throw new Error('there is always room')
}

function fill(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096))
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ENOSPC') throw fault
  } finally {
    closeSync(file)
  }
}

t.test('counts that are read as features are in the audit', async (t) => {
  const data = temporaryDirectory(t)
  const audit = temporaryDirectory(t)
  await importPlaces(t, data, 1, places(10))
  const service = await serve(t, '--data', data, '--audit', audit, '--audit-counts')
  const items = `${service.url}/ogc/collections/areas-counties/items`
  for (const path of ['?limit=3', '/counties:48201']) {
    const answer = await fetch(items + path)
    t.equal(answer.status, 200, await answer.text())
  }
  await service.stop()
  const counts = [...readAudit(audit)].filter(({ line }) => line.event === 'count')
  t.match(
    counts.map(({ line }) => line),
    [3, 1].map((areaCount) => ({ collectionId: 'areas-counties', areaCount })),
  )
  t.equal(counts.length, 2)
})
