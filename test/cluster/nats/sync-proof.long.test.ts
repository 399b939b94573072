/**
 * A server of NATS is used for the log only where it proves that it syncs what it acknowledges.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import {
  type ConnectedServer,
  connectedServer,
  type SyncDoubt,
  SyncGuard,
  syncDoubt,
} from '../../../src/cluster/nats/sync-proof.js'
import { limits } from '../../../src/limits.js'
import { freePort } from '../../support/service/free-port.js'
import { until } from '../../support/service/until.js'
import { connectedTo, openLog, startSyncedServers } from '../log/synced-servers.js'
import type { NatsServer } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'

/** Where no other test listens. */
const loopback = `127.${[0, 0, 0].map(() => 1 + Math.floor(253 * Math.random())).join('.')}`

withEachNats(t, async (t, server) => {
  await t.test('a server that syncs always proves it by its own monitor alone', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const [other] = await startSyncedServers(t, server)
    const connected = await serverOf(t, nats)
    t.equal(await syncDoubt(connected, [nats.monitor]), undefined)
    t.equal(await syncDoubt(connected, [other.monitor, nats.monitor]), undefined)
    t.match(
      await syncDoubt(connected, [other.monitor]),
      /: http:\/\/127\.0\.0\.1:\d+ is the monitor of nats-0, http:\/\/127\.0\.0\.1:8222 .*\. Name its monitor with/,
    )
    const unused = `http://127.0.0.1:${await freePort()}`
    t.match(await syncDoubt(connected, [unused]), /cannot be reached \(ECONNREFUSED\)/)
  })

  await t.test('a server with another line, or none, has not proven it', async (t) => {
    for (const jetstream of ['', 'sync_interval: "10s"']) {
      const [nats] = await startSyncedServers(t, server, { jetstream })
      t.equal(
        await syncDoubt(await serverOf(t, nats), [nats.monitor]),
        'nats-server nats-0 must have "sync_interval: always" in the block "jetstream"',
      )
    }
  })

  await t.test('nothing is written to a server that has not proven that it syncs', async (t) => {
    const [synced] = await startSyncedServers(t, server)
    const [other] = await startSyncedServers(t, server, { jetstream: '' })
    const [takenBySynced, takenByOther] = [await takenBy(t, synced), await takenBy(t, other)]
    const connection = await connectedTo(t, [synced, other])
    const told: SyncDoubt[] = []
    const monitors = [synced.monitor, other.monitor]
    const guard = new SyncGuard(connection, monitors, (doubt) => told.push(doubt))
    t.match(guard.doubt, /^nats-server nats-0 has not yet proven that it syncs/)
    // As often as a process can: right after it is connected to the other one, too.
    let isOver = false
    t.teardown(() => {
      isOver = true
      guard.stop()
    })
    const writing = (async () => {
      while (!isOver) {
        await new Promise((resolve) => setImmediate(resolve))
        if (guard.doubt === undefined) connection.publish('written', Buffer.alloc(1))
      }
    })()
    await until(() => takenBySynced() > 100)
    t.same(told, [undefined])
    await synced.stop('SIGKILL')
    const isRefused = /must have "sync_interval: always"/
    await until(() => isRefused.test(guard.doubt ?? ''))
    t.equal(told[1], 'there is no connection to NATS')
    t.match(told.at(-1), isRefused)
    // What came would be there before this.
    await connection.nats.flush()
    await synced.start()
    await other.stop('SIGKILL')
    const before = takenBySynced()
    await until(() => takenBySynced() > before + 100)
    t.equal(guard.doubt, undefined)
    t.equal(told.at(-1), undefined)
    isOver = true
    await writing
    t.equal(takenByOther(), 0)
  })
})

t.test('a server is asked again until it has proven that it syncs, and then no more', async (t) => {
  const connection = {
    isUp: true,
    nats: { info: named('2.15.1'), getServer: () => `${loopback}:4222` },
    onChange: () => () => {},
  }
  let askedCount = 0
  const always = { server_id: 'id', jetstream: { config: { sync_always: true } } }
  const monitor = await monitorThat(t, () => {
    const isNow = ++askedCount === 3
    return { status: isNow ? 200 : 503, body: JSON.stringify(always) }
  })
  const told: SyncDoubt[] = []
  const beganMs = performance.now()
  const guard = new SyncGuard(connection as never, [monitor], (doubt) => told.push(doubt))
  await until(() => guard.doubt === undefined)
  t.ok(performance.now() - beganMs > 1.9 * limits.syncAskMs)
  t.match(told, [/answers 503/, undefined])
  await new Promise((resolve) => setTimeout(resolve, 1.5 * limits.syncAskMs))
  t.equal(askedCount, 3)
  // It has started anew meanwhile.
  connection.nats.info = { ...named('2.15.1'), server_id: 'id 2' }
  t.match(guard.doubt, /has not yet proven/)
  connection.isUp = false
  t.equal(guard.doubt, 'there is no connection to NATS')
  guard.stop()
})

t.test('a server that is too old is refused whatever its monitor says', async (t) => {
  for (const version of ['2.9.10', '2.10.22', '1.4.1', '', 'dev']) {
    const doubt = await syncDoubt(named(version), [])
    t.match(doubt, new RegExp(`^nats-server ${version} of nats does not sync what it acknowledges`))
    t.match(doubt, /2\.10\.23 or later/)
  }
  for (const version of ['2.10.23', '2.10.27', '2.11.0', '2.15.1-beta.1', '3.0.0']) {
    t.match(await syncDoubt(named(version), []), /does not prove/)
  }
})

t.test('what is no monitor proves nothing', async (t) => {
  for (const [answer, reason] of [
    [{ status: 404, body: '' }, /answers 404/],
    [{ status: 200, body: '<html>' }, /is no monitor of NATS/],
    [{ status: 200, body: 'null' }, /is no monitor of NATS/],
    [{ status: 200, body: '{"server_id":"id"}' }, /must have "sync_interval: always"/],
    [
      { status: 200, body: '{"server_id":"id","jetstream":{"config":{"sync_always":"yes"}}}' },
      /must have/,
    ],
    [{ status: 200, body: '{"server_id":"other"}' }, /is the monitor of another server/],
  ] as const) {
    t.match(await syncDoubt(named('2.15.1'), [await monitorThat(t, answer)]), reason)
  }
})

t.test('a monitor that stands still is not waited for', async (t) => {
  t.match(await syncDoubt(named('2.15.1'), [await monitorThat(t, undefined)]), /does not answer/)
})

t.test('the monitor of a server is asked where that was reached', async (t) => {
  const address = `${loopback}:4222`
  const unused = `http://127.0.0.1:${await freePort()}`
  t.equal(
    await syncDoubt(named('2.15.1'), [unused]),
    `nats-server nats at ${address}, to which this machine is connected, does not prove that it syncs what it ` +
      `acknowledges: ${unused} cannot be reached (ECONNREFUSED), ` +
      `http://${loopback}:8222 cannot be reached (ECONNREFUSED). Name its monitor with --nats-monitor`,
  )
  const body = '{"server_id":"id","jetstream":{"config":{"sync_always":true}}}'
  await monitorThat(t, { status: 200, body }, { host: loopback, port: 8222 })
  t.equal(await syncDoubt(named('2.15.1'), [unused]), undefined)
})

const named = (version: string): ConnectedServer => ({
  address: `${loopback}:4222`,
  server_id: 'id',
  server_name: 'nats',
  version,
})

async function serverOf(t: Test, nats: NatsServer) {
  const { connection } = await openLog(t, [nats])
  return connectedServer(connection) as ConnectedServer
}

/** How many messages are written to a server. */
async function takenBy(t: Test, nats: NatsServer): Promise<() => number> {
  const connection = await connectedTo(t, [nats])
  let count = 0
  connection.subscribe('written', () => {
    count++
  })
  await connection.nats.flush()
  return () => count
}

interface Answer {
  readonly status: number
  readonly body: string
}

/** Or that says nothing. */
async function monitorThat(
  t: Test,
  answers: Answer | (() => Answer) | undefined,
  { host, port } = { host: '127.0.0.1', port: 0 },
): Promise<string> {
  const server = createServer((_, response) => {
    const answer = typeof answers === 'function' ? answers() : answers
    if (answer !== undefined) response.writeHead(answer.status).end(answer.body)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
