import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { cannotListen } from '../../src/http/listen.js'
import { readBatch, readContent } from '../../src/http/read-body.js'
import type { HttpRequest } from '../../src/http/request.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** XML was "not JSON", and as a form it was a field of a strange name, answered with nobody. */
t.test('a body of XML is told to be XML, whatever type it has', async (t) => {
  const xml = '<?xml version="1.0"?><kml><Placemark/></kml>'
  for (const mediaType of [
    'application/xml',
    'text/xml',
    'application/json',
    'application/x-www-form-urlencoded',
    'text/csv',
    'text/jsv',
    '',
  ]) {
    const request = { mediaType, header: () => undefined, query: new Map() } as never as HttpRequest
    for (const text of [xml, `\ufeff \r\n${xml}`, '<html>']) {
      const body = Buffer.from(text)
      for (const read of [() => readContent(request, body, undefined), () => readBatch(body)]) {
        try {
          read()
          t.fail(`${mediaType} is read`)
        } catch (fault) {
          t.type(fault, ServiceError)
          t.match(fault, { status: 400, message: /^the body is XML or HTML.*: send JSON \(app/ })
        }
      }
    }
  }
})

/** All of these were one message: the port is taken, needs privileges, or is of another machine. */
t.test('why an address cannot be listened on is told', async (t) => {
  const server = createServer()
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  t.match((await cannotListen('127.0.0.1', port)).message, `another process has port ${port} `)
  await new Promise((resolve) => server.close(resolve))
  t.match((await cannotListen('203.0.113.9', port)).message, /203\.0\.113\.9 is not an address of/)
  const privileged = await cannotListen('127.0.0.1', 80, 'EACCES')
  t.match(privileged.message, /port 80 needs privileges, which this user does not have\. Choose/)
  const unknown = await cannotListen('nowhere', 80, 'ENOTFOUND')
  t.match(unknown.message, /there is no host of this name\. Choose another --host/)
  const other = await cannotListen('127.0.0.1', 80, 'EOTHER')
  t.match(other.message, /the system refuses it \(EOTHER\)/)
})

/** It was an errno of the system, with the path of whatever was tried first. */
t.test("another user's directory is told to be that", async (t) => {
  const data = join(temporaryDirectory(t), 'data')
  mkdirSync(data, { mode: 0o700 })
  chmodSync(join(data, '..'), 0o755)
  const isRoot = process.getuid?.() === 0
  if (!isRoot) chmodSync(data, 0)
  for (const args of [['verify'], ['import', '--source', '1', '--label', 'a', '/dev/null']]) {
    const program = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
    const argv = [program, args[0], '--data', data, ...args.slice(1)]
    const child = spawn(process.execPath, argv, isRoot ? { uid: 65_534 } : {})
    let stderr = ''
    child.stderr.on('data', (piece) => {
      stderr += piece
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    t.not(code, 0)
    const told = isRoot
      ? `${data} belongs to user 0, and this is user 65534: run the command as its owner (sudo -u '#0')`
      : `${data} has mode 0: allow yourself to use it (chmod u+rwX)`
    t.ok(stderr.includes(told), stderr)
    t.equal(stderr.trimEnd().split('\n').length, 1, 'one line')
  }
  if (!isRoot) chmodSync(data, 0o700)
})

/** The document said exit code 1 where the command ended with 2. */
t.test('the report for programs has the exit code of the command', async (t) => {
  const data = temporaryDirectory(t)
  for (const args of [[], ['people.csv'], ['--source', 'x', 'people.csv'], ['--all']]) {
    const { code, stdout } = await hickoryHere('import', '--data', data, '--json', ...args)
    const { error } = JSON.parse(stdout)
    t.match(error, { code: 'Usage', exitCode: code, message: /^(?!error:)/ })
  }
})

/** It was said that a column is missing, and that no header could be read. */
t.test('an object of JSON that goes over several lines is told', async (t) => {
  const person = { number: '+9995550101', lat: 29.7, lng: -95.3 }
  const point = { type: 'Point', coordinates: [-95.3, 29.7] }
  const feature = { type: 'Feature', properties: person, geometry: point }
  for (const object of [person, { people: [person] }, feature]) {
    const data = t.testdir({ 'people.json': JSON.stringify(object, null, 2) })
    const flags = ['--data', data, '--source', '1', '--label', 'People', '--dry-run']
    t.match(await hickoryHere('import', ...flags, join(data, 'people.json')), {
      code: 5,
      stderr: /has an object that goes over several lines: .*jq -c/,
    })
  }
})

/** It was said that an object goes over several lines. */
t.test('a first line that is no JSON is told', async (t) => {
  for (const [format, line] of [
    ['NaN, as Python writes it', '{"number":"+9995550101","lat":NaN,"lng":-95.3}'],
    ['the texts of Python', "{'number': '+9995550101', 'lat': 29.7, 'lng': -95.3}"],
    ['commas behind', '{"number":"+9995550101","lat":29.7,"lng":-95.3},'],
  ]) {
    const data = t.testdir({ 'people.ndjson': `${line}\n${line}\n` })
    const flags = ['--data', data, '--source', '1', '--label', 'People', '--dry-run']
    t.match(
      await hickoryHere('import', ...flags, join(data, 'people.ndjson')),
      { code: 5, stderr: /has a first line that is not JSON: write one object a line/ },
      format,
    )
  }
})

/** Such as " does not exist: check its name", "there is no key : there are k1", ".31639.new does not exist". */
t.test('what is empty is named by what it stands for', async (t) => {
  const place = ['--data', temporaryDirectory(t)]
  const source = ['--source', '1', '--label', 'A']
  const calls: [name: string, args: string[]][] = [
    ['FILE', ['import', ...place, ...source, '']],
    ['FILE', ['import', ...place, ...source, 'a.csv', '']],
    ['FILE', ['apply', ...place, '--source', '1', '']],
    ['FILE', ['suppress', ...place, '']],
    ['FILE', ['backup', ...place, '']],
    ['FILE', ['restore', ...place, '']],
    ['FILE', ['cap', '']],
    ['ID', ['inspect', ...place, '']],
    ['ID', ['verify', ...place, '']],
    ['ID', ['rollback', ...place, '']],
    ['ID', ['pin', ...place, '']],
    ['NAME', ['keys', 'revoke', ...place, '']],
    ['NAME', ['areas', 'show', ...place, '']],
    ['LAYER', ['areas', 'remove', ...place, '']],
    ['DIR', ['audit', 'verify', '']],
    ['--rejects', ['import', ...place, ...source, '--rejects', '', 'a.csv']],
    ['--out', ['generate', '--recipients', '1', '--out', '']],
    [
      '--secret-file',
      ['keys', 'create', ...place, '--name', 'a', '--scopes', 'counts', '--secret-file', ''],
    ],
    ['--data', ['verify', '--data', '']],
    ['--config', ['serve', '--config', '']],
  ]
  for (const [name, args] of calls) {
    const { code, stderr } = await hickoryHere(...args)
    t.equal(code, 2, args.join(' '))
    t.equal(stderr, `hickory: ${name} must be a text that is not empty\n`)
  }
})

/** The messages named `compaction.lock`, `snapshots`, `store` and `CURRENT` in the file. */
t.test('a file is no data directory', async (t) => {
  const file = join(temporaryDirectory(t), 'people.csv')
  writeFileSync(file, 'phone,lat,lng\n+9995550101,29.7,-95.3\n')
  const source = ['--source', '1']
  const stderr = `hickory: ${file} is a file: --data names a directory\n`
  for (const args of [
    ['serve', '--port', '0'],
    ['import', ...source, '--label', 'A', file],
    ['apply', ...source, file],
    ['suppress', file],
    ['remove', ...source],
    ['backup', 'a.tar'],
    ['restore', 'a.tar'],
    ['compact'],
    ['rollback'],
    ['verify'],
    ['inspect'],
    ['keys', 'list'],
    ['areas', 'list'],
    ['doctor'],
  ]) {
    t.match(await hickoryHere(...args, '--data', file), { code: 2, stderr }, args.join(' '))
  }
})
