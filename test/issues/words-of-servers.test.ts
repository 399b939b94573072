/**
 * What a pooler or a hosted server says before any row was read was withheld, or told to be a value that cannot be read. Parameters
 * with which people reach the server that is alive were refused.
 */
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { chooseColumns } from '../../src/sources/choose-columns.js'
import { connect } from '../../src/sources/postgres/session.js'
import { parseDatabaseUrl } from '../../src/sources/postgres/url.js'

const SSL_REQUEST_CODE = 80_877_103

const message = (type: string, ...parts: readonly (string | Buffer)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const failing = (code: string, words: string) =>
  message('E', `SFATAL\0VFATAL\0C${code}\0M${words}\0\0`)
const READY = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', 'I')])
/** To SHOW transaction_read_only. */
const readOnly = (value: string) =>
  Buffer.concat([
    message('T', Buffer.from([0, 1]), 'transaction_read_only\0', Buffer.alloc(18)),
    message('D', Buffer.from([0, 1, 0, 0, 0, value.length]), value),
    message('C', 'SHOW\0'),
    message('Z', 'I'),
  ])

/** A server that answers what it is sent, in this order; and what it was sent. */
async function server(t: Test, ...answers: readonly Buffer[]) {
  const sent: string[] = []
  const sockets: Socket[] = []
  const listening = createServer((socket) => {
    sockets.push(socket)
    const left = [...answers]
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      if (bytes.length === 8 && bytes.readInt32BE(4) === SSL_REQUEST_CODE) socket.write('N')
      else {
        sent.push(String(bytes))
        const answer = left.shift()
        if (answer !== undefined) socket.write(answer)
      }
    })
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    listening.close()
  })
  return { port: (listening.address() as { port: number }).port, sent }
}

const reach = (servers: string, parameters: string, connectMs = 5_000) =>
  connect(parseDatabaseUrl(`postgres://u:secret@${servers}/d?${parameters}`), { connectMs })

t.test('words of a server that knows of no row are repeated', async (t) => {
  for (const [code, words] of [
    ['08P01', 'unsupported startup parameter: options'],
    ['XX000', 'Tenant or user not found'],
    ['0A000', 'this proxy does not support command-line options'],
    ['55000', 'database "d" is not currently accepting connections'],
    ['57P03', 'the database system is in recovery mode'],
    ['53300', 'too many connections for role "u"'],
    ['22023', 'invalid value for parameter "search_path"'],
  ]) {
    const { port } = await server(t, failing(code, words))
    const fault = reach(`127.0.0.1:${port}`, 'options=-c%20statement_timeout%3D0')
    await t.rejects(fault, { code: 'InputRejected', message: new RegExp(words) }, code)
    await t.rejects(fault, { message: /^(?!.*secret)postgres:\/\/u@127/ })
  }
  const { port } = await server(t, failing('08P01', 'unsupported startup parameter: replication'))
  await t.rejects(reach(`127.0.0.1:${port}`, ''), { message: /PgBouncer .* the server itself/ })
})

t.test('servers are tried in turn, until one may write', async (t) => {
  const standby = await server(t, READY, readOnly('on'))
  const primary = await server(t, READY, readOnly('off'))
  const silent = await server(t)
  const starting = await server(t, failing('57P03', 'the database system is starting up'))
  const refusing = await server(t, failing('28000', 'no entry'))
  const hosts = (...servers: readonly { port: number }[]) =>
    servers.map(({ port }) => `127.0.0.1:${port}`).join()
  const close = async (client: ReturnType<typeof reach>) =>
    (await client).connection.stream.destroy()
  const named = 'application_name=people%20to%20warn&connect_timeout=1'
  const all = hosts(silent, starting, standby, primary)
  await close(reach(all, `target_session_attrs=read-write&${named}`))
  t.match(primary.sent[0], 'people to warn')
  await close(reach(all, 'connect_timeout=1&target_session_attrs=any'))
  t.equal(standby.sent.length, 3, 'it is not asked')
  await t.rejects(reach(hosts(silent, standby), `target_session_attrs=read-write&${named}`), {
    message: new RegExp(
      `127.0.0.1:${silent.port}: the server does not answer.*; 127.0.0.1:${standby.port}: it only reads`,
    ),
  })
  const before = primary.sent.length
  await t.rejects(reach(hosts(refusing, primary), 'sslmode=disable'), { message: /no entry/ })
  t.equal(primary.sent.length, before, 'the refusal of one counts for all')
})

t.test('columns of a query without names are told to be that', async (t) => {
  const found = ['?column?', 'lat', 'lng']
  t.throws(() => chooseColumns('the query', found, {}), { message: /with AS$/ })
  t.throws(() => chooseColumns('a.csv', ['+9991', '1', '2'], {}), { message: /header at all/ })
})
