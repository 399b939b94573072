/**
 * Machines on three servers of NATS with the files of data/system/nats: TLS, nkeys or credentials, and permissions by
 * role. Machines do all that they must, operators what they may, and strangers nothing.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  connect,
  type NatsConnection,
  nkeyAuthenticator,
  PermissionViolationError,
  type Status,
} from '@nats-io/transport-node'
import { Packr } from 'msgpackr'
import t, { type Test } from 'tap'
import { ClusterFiles } from '../../src/cluster/nats/cluster-files.js'
import { Connection } from '../../src/cluster/nats/connection.js'
import { namesOf } from '../../src/cluster/nats/names.js'
import { digestOfFile } from '../../src/cluster/verified-file.js'
import { COUNT, changeList, countOf, phoneOf, placesWorld } from '../support/data/suppressions.js'
import {
  hickory,
  type Service,
  startHickory,
  temporaryDirectory,
} from '../support/service/hickory.js'
import { until, untilTold } from '../support/service/until.js'
import { readinessOf, sendChange, serveMachine, statusBy } from './support/machines.js'
import { drawnCredentials, drawnNkeys, type Identities } from './support/nats-identities.js'
import { type NatsServers, startNatsServers } from './support/nats-servers.js'

const names = namesOf('main')

t.test('with nkeys', async (t) => {
  const identities = drawnNkeys(temporaryDirectory(t))
  const nats = await startNatsServers(t, {
    roles: 'roles-nkeys.conf',
    files: identities.serverFiles,
  })
  const reach = reachOf(nats, '--cluster-nkey')
  const data = await placesWorld(t)
  const [a, b] = await serveTwo(t, identities, nats, reach, data)
  const operator = reach(identities.operator)

  await t.test('a change by one is seen on the other', async (t) => {
    await checkChange(t, a, b, 1)
    await checkChange(t, b, a, 2)
  })

  await t.test('an operator looks', async (t) => {
    // On a machine, a command goes by what the machine has.
    for (const way of [operator, ['--data', data]]) {
      t.match(await statusBy(way), {
        isWhole: true,
        machines: [
          { name: 'site-a', isMember: true, isLevel: true },
          { name: 'site-b', isMember: true, isLevel: true },
        ],
      })
    }
  })

  await t.test('an operator takes a machine out of service, and back', async (t) => {
    t.match(await hickory('cluster', 'drain', 'site-a', ...operator), { code: 0 })
    t.match(await readinessOf(a), 'draining')
    t.equal(await readinessOf(b), 'ready')
    t.match(await hickory('cluster', 'drain', 'site-a', '--undo', ...operator), { code: 0 })
    t.equal(await readinessOf(a), 'ready')
    const refused = await hickory('cluster', 'remove', 'site-a', ...operator)
    t.match(refused.stderr, 'site-a is there, and would')
  })

  await t.test('NATS refuses an operator what is for machines', async (t) => {
    const client = await connectAs(t, nats, identities.operator)
    const stream = `$JS.API.STREAM.INFO.${names.stream}`
    for (const subject of [
      names.log,
      names.news,
      names.report('site-a'),
      names.to('site-a'),
      names.re('site-a', '1'),
      stream,
      stream.replace('INFO', 'PURGE'),
      stream.replace('INFO', 'DELETE'),
      `$O.${names.files}.M.x`,
      'anything',
    ]) {
      t.equal(await isPublishDenied(client, subject), true, subject)
    }
    for (const subject of [
      names.log,
      names.news,
      names.to('site-a'),
      names.re('site-a', '*'),
      names.re('*', '*'),
      '_INBOX.>',
      '>',
    ]) {
      t.equal(await isSubscribeDenied(client, subject), true, subject)
    }
    t.equal(await isPublishDenied(client, names.command('site-a')), false)
    t.equal(await isSubscribeDenied(client, names.reports), false)
  })

  await t.test('a machine refuses an operator what is for machines', async (t) => {
    const client = await connectAs(t, nats, identities.operator)
    t.match(await asked(client, { kind: 'status' }), { answer: { name: 'site-a' } })
    for (const kind of ['groups', 'seed', 'offer', 'enter', 'published', 'hello']) {
      t.match(await asked(client, { kind }), { fault: `an operator may not ask for ${kind}` })
    }
  })

  await t.test('an operator has no machine answered in its name', async (t) => {
    const client = await connectAs(t, nats, identities.operator)
    const machine = await connectAs(t, nats, identities.machines[2])
    let heard = 0
    machine.subscribe(names.re('site-b', 'forged'), {
      callback: () => {
        heard++
      },
    })
    await machine.flush()
    ask(client, { kind: 'status' }, names.re('site-b', 'forged'))
    // Answered in order, so that this one would have come before.
    await asked(client, { kind: 'status' })
    await machine.flush()
    t.equal(heard, 0)
  })

  await t.test('a machine puts files into the object store, and removes them', async (t) => {
    const files = await filesAs(t, nats, identities.machines[2])
    const [from, to] = ['from', 'to'].map((name) => join(temporaryDirectory(t), name))
    // So long that the server waits for the client now and then.
    writeFileSync(from, randomBytes(8 * 1_048_576))
    const digest = await digestOfFile(from)
    await files.put(from, digest)
    t.match(
      (await files.list()).filter(({ sha256 }) => sha256 === digest.sha256),
      [digest],
    )
    t.equal(await files.get(digest, to), true)
    await files.remove(digest)
    t.equal(await files.has(digest), false)
  })

  await t.test('NATS refuses a machine what no machine needs', async (t) => {
    const client = await connectAs(t, nats, identities.machines[2])
    for (const subject of [
      `$JS.API.STREAM.PURGE.${names.stream}`,
      '$JS.API.STREAM.CREATE.other',
      namesOf('other').log,
    ]) {
      t.equal(await isPublishDenied(client, subject), true, subject)
    }
    t.equal(await isSubscribeDenied(client, namesOf('other').log), true)
    t.equal(await isPublishDenied(client, `$JS.API.STREAM.INFO.${names.stream}`), false)
  })

  await t.test('strangers hear why they are not let in', async (t) => {
    const stranger = await hickory('cluster', 'status', ...reach(identities.stranger))
    t.equal(stranger.code, 1)
    t.match(stranger.stderr, `does not know the nkey of --cluster-nkey ${identities.stranger}`)
    const [urls, authority] = [
      ['--cluster', nats.urls.join()],
      ['--cluster-tls-ca', nats.authority.certificate],
    ]
    const nobody = await hickory('cluster', 'status', ...urls, ...authority)
    t.match(nobody.stderr, 'lets nobody in without --cluster-nkey or --cluster-credentials')
    const own = ['--cluster-nkey', identities.operator]
    const unverified = await hickory('cluster', 'status', ...urls, ...own)
    t.match(unverified.stderr, 'name the authority of its certificate with --cluster-tls-ca')
    const elsewhere = await hickory('cluster', 'status', ...operator, '--cluster-id', 'other')
    t.match(elsewhere.stderr, 'NATS permits no commands for the cluster other')
    const mistaken = [...urls, ...authority, '--cluster-nkey', nats.authority.certificate]
    const notASeed = await hickory('cluster', 'status', ...mistaken)
    t.match(notASeed, { code: 2, stderr: /must have a seed, such as SU/ })
  })

  await t.test('a service hears why it is not let in, and waits', async (t) => {
    const own = ['--port', '0', '--data', await placesWorld(t), '--name', 'site-c']
    const { child, finished } = startHickory('serve', ...own, ...reach(identities.stranger))
    t.teardown(() => child.kill('SIGKILL'))
    let log = ''
    child.stderr?.on('data', (piece) => {
      log += piece
    })
    await until(() => log.includes('waiting for NATS'))
    t.match(log, 'does not know the nkey of --cluster-nkey')
    child.kill('SIGTERM')
    t.equal((await finished).code, 0)
    const asOperator = await hickory('serve', ...own, ...operator)
    // It hears machines, as operators do, and so knows that there is a cluster.
    t.equal(asOperator.code, 2)
    t.match(asOperator.stderr, 'NATS does not let this machine do what it must')
    t.match(asOperator.stderr, 'has data of its own')
  })

  await t.test('one of the three servers may be gone', async (t) => {
    await nats.stop(0)
    await untilTold(async () => (await statusBy(operator)).isWhole)
    await checkChange(t, a, b, 4)
    await nats.start(0)
  })

  await t.test('machines stop as they should', async (t) => {
    for (const machine of [a, b]) {
      const { code, stderr } = await machine.stop()
      t.equal(code, 0, stderr)
    }
  })
})

t.test('with credentials', async (t) => {
  const identities = drawnCredentials(temporaryDirectory(t))
  const nats = await startNatsServers(t, {
    roles: 'roles-jwt.conf',
    files: identities.serverFiles,
  })
  const reach = reachOf(nats, '--cluster-credentials')
  const [a, b] = await serveTwo(t, identities, nats, reach, await placesWorld(t))
  await checkChange(t, a, b, 1)
  const operator = reach(identities.operator)
  t.match(await statusBy(operator), { isWhole: true })
  t.match(await hickory('cluster', 'drain', 'site-b', ...operator), { code: 0 })
  const own = ['--port', '0', '--data', await placesWorld(t), '--name', 'site-c']
  const asMachine = await hickory('serve', ...own, ...operator)
  t.match(asMachine, { code: 2, stderr: /NATS does not let this machine do what it must/ })
  t.match(asMachine.stderr, 'has data of its own')
  const stranger = await hickory('cluster', 'status', ...reach(identities.stranger))
  t.equal(stranger.code, 1)
  t.match(stranger.stderr, `not let in who has --cluster-credentials ${identities.stranger}`)
})

/** Flags for whoever has a file with a seed or credentials. */
function reachOf(nats: NatsServers, flag: '--cluster-nkey' | '--cluster-credentials') {
  const common = ['--cluster', nats.urls.join(), '--cluster-tls-ca', nats.authority.certificate]
  return (identity: string) => [...common, flag, identity]
}

/** The first founds the cluster, and the second joins it with an empty directory. */
async function serveTwo(
  t: Test,
  { machines }: Identities,
  nats: NatsServers,
  reach: (identity: string) => string[],
  data: string,
): Promise<readonly [Service, Service]> {
  const monitors = ['--nats-monitor', nats.monitors.join()]
  const first = { name: 'site-a', data, reach: [...reach(machines[0]), ...monitors] }
  const a = await serveMachine(t, first)
  const second = {
    name: 'site-b',
    data: temporaryDirectory(t),
    reach: [...reach(machines[1]), ...monitors],
  }
  return [a, await serveMachine(t, second)]
}

/** Of recipients, of which `number` come, and of suppressed ones. */
async function checkChange(t: Test, one: Service, other: Service, number: number): Promise<void> {
  const minSequence = await sendChange(one, number)
  t.equal(await countOf(other, { minSequence }), COUNT + 1)
  const { status } = await changeList(one, 'PUT', 'all', [phoneOf(number), `+99977${number}`])
  t.equal(status, 200)
  t.equal(await countOf(other), COUNT - 1)
  await changeList(one, 'DELETE', 'all', [phoneOf(number)])
}

async function filesAs(t: Test, nats: NatsServers, nkey: string): Promise<ClusterFiles> {
  const tls = { authority: nats.authority.certificate }
  const events = { onChange() {}, onDenied: (reason: string) => t.fail(reason) }
  const connection = await Connection.open({ servers: nats.urls, nkey, tls }, 'test', events)
  t.teardown(() => connection.close())
  return await ClusterFiles.open(connection, names)
}

async function connectAs(t: Test, nats: NatsServers, nkey: string): Promise<NatsConnection> {
  const client = await connect({
    servers: [...nats.urls],
    authenticator: nkeyAuthenticator(Buffer.from(readFileSync(nkey, 'utf8').trim())),
    tls: { caFile: nats.authority.certificate },
    noAsyncTraces: true,
  })
  t.teardown(() => client.close())
  return client
}

/** The server says nothing where it permits something; what it says of it comes before its pong. */
async function isPublishDenied(client: NatsConnection, subject: string): Promise<boolean> {
  const denied: string[] = []
  void noteDenied(client.status(), denied)
  client.publish(subject, new Uint8Array())
  await client.flush()
  // The library tells it in a later turn.
  await new Promise((resolve) => setImmediate(resolve))
  return denied.includes(subject)
}

async function noteDenied(statuses: AsyncIterable<Status>, denied: string[]): Promise<void> {
  for await (const status of statuses) {
    if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue
    if (status.error.operation === 'publish') denied.push(status.error.subject)
  }
}

async function isSubscribeDenied(client: NatsConnection, subject: string): Promise<boolean> {
  let isDenied = false
  const subscription = client.subscribe(subject, {
    callback(fault) {
      isDenied ||= fault instanceof PermissionViolationError
    },
  })
  await client.flush()
  subscription.unsubscribe()
  return isDenied
}

const packr = new Packr({ useRecords: false })

/** What site-a answers, as the wire has it. */
async function asked(client: NatsConnection, question: object): Promise<unknown> {
  const name = 'command.0123456789ab'
  const answers = client.subscribe(names.re(name, '*'), { max: 1 })
  ask(client, question, names.re(name, '1'))
  for await (const { data } of answers) return packr.unpack(data.subarray(HEAD_BYTES))
  return undefined
}

/** Asks site-a, in a message of one part. */
function ask(client: NatsConnection, question: object, reply: string): void {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(1, 12)
  client.publish(names.command('site-a'), Buffer.concat([head, packr.pack(question)]), { reply })
}

const HEAD_BYTES = 16
