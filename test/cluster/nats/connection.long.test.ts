/**
 * The connection to a real server of NATS, which goes away and comes back, stands still, and does not let everybody in.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nkeys } from '@nats-io/transport-node'
import t from 'tap'
import { Connection, type NatsSettings } from '../../../src/cluster/nats/connection.js'
import { limits } from '../../../src/limits.js'
import { freePort } from '../../support/service/free-port.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { until } from '../../support/service/until.js'
import { connected } from '../support/connected.js'
import { cuttableWay } from '../support/cuttable-way.js'
import { startNatsServer } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'

withEachNats(t, async (t, server) => {
  t.test('a server that goes away and comes back is told of, and heard again', async (t) => {
    const nats = await startNatsServer(t, { server })
    const changes: boolean[] = []
    const one = await connected(t, nats, { onChange: (isUp) => changes.push(isUp) })
    const other = await connected(t, nats)
    const heard: string[] = []
    one.subscribe('subject', ({ data }) => heard.push(Buffer.from(data).toString()))
    await one.nats.flush()
    other.publish('subject', Buffer.from('before'))
    await until(() => heard.length === 1)
    await nats.stop()
    await until(() => !one.isUp && !other.isUp)
    other.publish('subject', Buffer.from('meanwhile'))
    await nats.start()
    await until(() => one.isUp && other.isUp)
    // What the library sends again when it has a connection comes before this.
    await one.nats.flush()
    other.publish('subject', Buffer.from('after'))
    await until(() => heard.length > 1)
    t.same(heard, ['before', 'after'], 'nothing is kept for a server that is not there')
    t.same(changes, [false, true])
  })

  t.test('a server that stands still is given up, and used when it goes on', async (t) => {
    const nats = await startNatsServer(t, { server })
    const connection = await connected(t, nats)
    nats.signal('SIGSTOP')
    await until(() => !connection.isUp)
    nats.signal('SIGCONT')
    await until(() => connection.isUp)
    await connection.nats.flush()
  })

  t.test('a server that reads no more is left, however much is not sent', async (t) => {
    const nats = await startNatsServer(t, { server })
    const way = await cuttableWay(t, Number(new URL(nats.url).port))
    const changes: boolean[] = []
    const servers = [`nats://127.0.0.1:${way.port}`, nats.url]
    const connection = await Connection.open({ servers }, 'test', {
      onChange: (isUp) => changes.push(isUp),
      onDenied: (reason) => t.fail(reason),
    })
    way.cut()
    for (let part = 0; part < 64; part++) {
      connection.publish('subject', new Uint8Array(limits.messagePartBytes))
    }
    await until(() => changes.length > 1)
    t.same(changes, [false, true])
    await connection.nats.flush()
    await connection.close()
  })

  t.test('a part is what the server takes', async (t) => {
    const large = await connected(t, await startNatsServer(t, { server }))
    t.equal(large.partBytes, limits.messagePartBytes)
    const nats = await startNatsServer(t, { server, settings: 'max_payload: 65536' })
    const connection = await connected(t, nats)
    t.ok(connection.partBytes < 65_536)
    let heardBytes = 0
    connection.subscribe('subject', ({ data }) => {
      heardBytes = data.length
    })
    connection.publish('subject', new Uint8Array(connection.partBytes))
    await until(() => heardBytes > 0)
    t.equal(heardBytes, connection.partBytes)
  })

  t.test('whoever is not let in hears why', async (t) => {
    const directory = temporaryDirectory(t)
    const user = nkeys.createUser()
    const nkeyFile = (name: string, seed: Uint8Array) => {
      const path = join(directory, name)
      writeFileSync(path, seed)
      return path
    }
    const settings = `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`
    const nats = await startNatsServer(t, { server, settings })
    const own = nkeyFile('own.nk', user.getSeed())
    const connection = await open({ servers: [nats.url], nkey: own })
    t.equal(connection.isUp, true)
    await connection.close()
    const foreign = nkeyFile('foreign.nk', nkeys.createUser().getSeed())
    const broken = nkeyFile('broken.nk', Buffer.from('SUNOSEED'))
    const missing = join(directory, 'missing.nk')
    const cases: readonly [Partial<NatsSettings>, string, RegExp][] = [
      [{}, 'Failed', /lets nobody in without --cluster-nkey or --cluster-credentials/],
      [{ nkey: foreign }, 'Failed', /does not know the nkey of --cluster-nkey .*foreign\.nk/],
      [{ nkey: broken }, 'Usage', /broken\.nk must have a seed/],
      [{ nkey: missing }, 'Usage', /missing\.nk does not exist: check its name/],
      [{ credentials: own }, 'Usage', /own\.nk must have a JWT and a seed/],
    ]
    for (const [more, code, message] of cases) {
      await t.rejects(open({ servers: [nats.url], ...more }), { code, message })
    }
  })
})

t.test('where nobody listens, it says where it looked', async (t) => {
  const ports = [await freePort(), await freePort()]
  const servers = ports.map((port) => `nats://127.0.0.1:${port}`)
  const message = new RegExp(`NATS at ${servers.join(', ')}: .*refused`, 'i')
  await t.rejects(open({ servers }), { code: 'Failed', message })
})

t.test('of several servers, one that is there is enough', async (t) => {
  const nats = await startNatsServer(t)
  const connection = await open({
    servers: [`nats://127.0.0.1:${await freePort()}`, nats.url],
  })
  t.equal(connection.isUp, true)
  await connection.close()
})

t.test('what takes a message and fails ends the process, and says so', async (t) => {
  const { url } = await startNatsServer(t)
  const module = new URL('../../../src/cluster/nats/connection.js', import.meta.url)
  const program = `
    import { Connection } from '${module}'
    const events = { onChange() {}, onDenied() {} }
    const connection = await Connection.open({ servers: ['${url}'] }, 'test', events)
    connection.subscribe('subject', () => { throw new Error('it cannot be taken') })
    await connection.nats.flush()
    connection.publish('subject', new Uint8Array(1))
  `
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  await t.rejects(run, { code: 1, stderr: /it cannot be taken/ })
})

function open(settings: NatsSettings): Promise<Connection> {
  return Connection.open(settings, 'test', { onChange() {}, onDenied() {} })
}
