/**
 * A new process takes over the port of an old one, over and over, while clients go on asking.
 *
 * The one thing that a client may see: where `net.ipv4.tcp_migrate_req` is 0, the system resets a
 * connection that waits to be accepted at the moment when the old process stops listening.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { Client, requestText } from '../http/wire.js'
import { callOnOneConnection } from '../support/service/caller.js'
import { freePort } from '../support/service/free-port.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const RESTART_COUNT = byTier({ ci: 2, soak: 12 })
const LOOP_COUNT = 16

const migratesRequests = readSetting('/proc/sys/net/ipv4/tcp_migrate_req') === '1'

t.test(`${RESTART_COUNT} rolling restarts cost no client an answer`, async (t) => {
  const port = await freePort()
  const data = temporaryDirectory(t)
  const start = () => serve(t, '--port', String(port), '--share-port', '--sample', '--data', data)
  let current = await start()
  const state = { isOver: false, answeredCount: 0, resetCount: 0 }
  const faults: string[] = []
  const loops = [
    ...Array.from({ length: LOOP_COUNT }, () => connectAnew(port, state, faults)),
    ...Array.from({ length: LOOP_COUNT }, () => keepConnections(port, state, faults)),
  ]
  for (let restart = 1; restart <= RESTART_COUNT; restart++) {
    const next = await start()
    const id = await storeContext(port)
    // Both answer now, and know what one of them has stored.
    for (let i = 0; i < 10; i++) {
      const response = await fetch(`${next.url}/api/contexts/${id}`, NEW_CONNECTION)
      t.equal(response.status, 200)
      await response.arrayBuffer()
    }
    const { code, stderr } = await current.stop()
    t.equal(code, 0, stderr)
    current = next
    const before = state.answeredCount
    while (state.answeredCount < before + 100) await new Promise((r) => setTimeout(r, 5))
  }
  state.isOver = true
  await Promise.all(loops)
  t.same(faults, [])
  t.comment(`${state.answeredCount} answers, ${state.resetCount} connections reset by the system`)
  t.ok(state.resetCount <= (migratesRequests ? 0 : RESTART_COUNT * LOOP_COUNT))
  t.equal((await current.stop()).code, 0)
})

t.test('a port that is not shared stays one process’s own', async (t) => {
  const port = String(await freePort())
  const data = temporaryDirectory(t)
  const first = await serve(t, '--port', port, '--sample', '--data', data)
  await t.rejects(
    serve(t, '--port', port, '--share-port', '--data', data),
    /ended with 8: .*another process has port/s,
  )
  t.equal((await fetch(`${first.url}/livez`)).status, 200)
  t.equal((await first.stop()).code, 0)
})

interface State {
  isOver: boolean
  answeredCount: number
  resetCount: number
}

const corners = [
  [-180, -90],
  [180, -90],
  [180, 90],
  [-180, 90],
]
const world = { type: 'Polygon', coordinates: [corners] }

const NEW_CONNECTION = { headers: { connection: 'close' } }

/** One connection for each request. */
async function connectAnew(port: number, state: State, faults: string[]): Promise<void> {
  while (!state.isOver) {
    const client = new Client(port)
    try {
      client.write(requestText('GET /livez'))
      const { status, body } = await client.answer()
      if (status === 200) state.answeredCount++
      else faults.push(`status ${status}: ${body}`)
    } catch (fault) {
      const isReset = client.socket.bytesRead === 0 && client.errors.join() === 'ECONNRESET'
      if (isReset) state.resetCount++
      else faults.push(`${client.errors.join()} ${(fault as Error).message}`)
    }
    client.socket.destroy()
  }
}

/** One connection for as many requests as the service takes on it. */
async function keepConnections(port: number, state: State, faults: string[]): Promise<void> {
  const line = 'POST /api/recipients'
  const body = JSON.stringify({ countsOnly: true, geoJSON: world })
  while (!state.isOver) {
    const isOver = () => state.isOver
    const calls = await callOnOneConnection({ port, line, body, pauseMs: 5, isOver })
    state.answeredCount += calls.bodies.length
    if (calls.bodies.length === 0 && calls.faults.at(-1) === 'ECONNRESET') state.resetCount++
    else faults.push(...calls.faults)
    for (const answer of calls.bodies) {
      if (!answer.includes('"Count":120000')) faults.push('a wrong count')
    }
  }
}

async function storeContext(port: number): Promise<string> {
  const body = JSON.stringify({ ContextName: 'Rolling', Areas: [] })
  const url = `http://127.0.0.1:${port}/api/contexts`
  const response = await fetch(url, { method: 'POST', body, ...NEW_CONNECTION })
  if (!response.ok) throw new Error(`storing ended with ${response.status}`)
  return ((await response.json()) as { Id: string }).Id
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
