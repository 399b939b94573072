/**
 * A server of NATS is used for the log only where it proves that it syncs what it acknowledges.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type ConnectedServer, syncDoubt } from '../../../src/cluster/nats/sync-proof.js'
import { freePort } from '../../support/service/free-port.js'
import { openLog, startSyncedServers, withEachSyncedServer } from '../log/synced-servers.js'

withEachSyncedServer(t, async (t, server) => {
  await t.test('a server that syncs always proves it by its own monitor alone', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const [other] = await startSyncedServers(t, server)
    const connected = await serverOf(t, nats)
    t.equal(await syncDoubt(connected, [nats.monitor]), undefined)
    t.equal(await syncDoubt(connected, [other.monitor, nats.monitor]), undefined)
    t.match(
      await syncDoubt(connected, [other.monitor]),
      /^nats-server nats-0 does not prove .*: http:\/\/127\.0\.0\.1:\d+ is the monitor of nats-0\. Name its monitor with --nats-monitor$/,
    )
    t.match(await syncDoubt(connected, []), /: it has no monitor\. Name/)
    const unused = `http://127.0.0.1:${await freePort()}`
    t.match(await syncDoubt(connected, [unused]), /cannot be reached \(ECONNREFUSED\)/)
  })

  await t.test('a server with another line, or none, has not proven it', async (t) => {
    for (const settings of ['', 'sync_interval: "10s"']) {
      const [nats] = await startSyncedServers(t, server, { settings })
      t.equal(
        await syncDoubt(await serverOf(t, nats), [nats.monitor]),
        'nats-server nats-0 must have "sync_interval: always" in the block "jetstream"',
      )
    }
  })
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

const named = (version: string): ConnectedServer => ({
  server_id: 'id',
  server_name: 'nats',
  version,
})

async function serverOf(t: Test, nats: Parameters<typeof openLog>[1][number]) {
  const { connection } = await openLog(t, [nats])
  return connection.nats.info as ConnectedServer
}

/** Or that says nothing. */
async function monitorThat(
  t: Test,
  answer: { readonly status: number; readonly body: string } | undefined,
): Promise<string> {
  const server = createServer((_, response) => {
    if (answer !== undefined) response.writeHead(answer.status).end(answer.body)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
