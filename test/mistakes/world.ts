/**
 * A directory in which an operator makes mistakes: a data directory with a snapshot of one source, and
 * files that are good or bad in one way each.
 *
 * @module
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { areaOf, factsOf, writeAlert } from '../cap/writer.js'
import { hickoryHere } from '../support/service/command-line.js'
import { type Finished, hickory } from '../support/service/hickory.js'

export interface MistakeWorld {
  /** Runs a command there; paths below the directory and the port that is taken are made the same. */
  run(args: readonly string[]): Promise<Finished>
  remove(): Promise<void>
}

/** What stands for the port that is taken, in arguments and messages. */
const TAKEN_PORT = '8080'

export async function makeWorld(): Promise<MistakeWorld> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'mistakes-')))
  const home = process.cwd()
  process.chdir(directory)
  const rows = Array.from({ length: 20 }, (_, i) => `+99955501${10 + i},${i + 1},${i + 2}\n`)
  const files: Readonly<Record<string, string | Buffer>> = {
    'residents.csv': `number,lat,lng\n${rows.join('')}`,
    'one.csv': 'number,lat,lng\n+9995550110,1,2\n',
    'empty.csv': '',
    'header-only.csv': 'number,lat,lng\n',
    'header-only.txt': 'number\n',
    'strange.csv': 'who,north,east\n+9995550110,1,2\n',
    'letters.csv': 'number,lat,lng\nnone,1,2\n',
    'exchanged.csv': 'number,lat,lng\n+9995550110,-122,37\n',
    'exchanged.xml': alertOf('-95.4,29.7 -95.3,29.7 -95.3,29.8 -95.4,29.7'),
    'point.json': '{"type": "Point", "coordinates": [1, 2]}',
    'people.zip': zipHead('people.csv'),
    'people.xlsx': zipHead('[Content_Types].xml'),
    'quote.csv': 'number\n"+9995550110\n',
    'optouts.txt': '+9995550110\n',
    'bare.txt': '9995550110\n',
    'config.json': '{"prot": 8080}',
    'broken.json': '{"port": 8080,}',
    'cut.tar': 'half',
    'mine.tar': '',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(name, content)
  mkdirSync('empty')
  mkdirSync('locked/import.lock', { recursive: true })
  // A lock that nobody renews goes stale.
  const laterSeconds = Date.now() / 1000 + 3_600
  utimesSync('locked/import.lock', laterSeconds, laterSeconds)
  await hickoryHere('import', '--data=data', '--source=1', '--label=Residents', 'residents.csv')
  await hickoryHere('import', '--data=keyed', '--source=1', '--label=Residents', 'residents.csv')
  await hickoryHere('keys', 'create', '--data=keyed', '--name=desk-3', '--scopes=counts')
  await hickoryHere('import', '--data=newer', '--source=1', '--label=Residents', 'residents.csv')
  const [id] = readdirSync('newer/snapshots')
  const manifest = `newer/snapshots/${id}/manifest.json`
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, text.replace('"formatVersion": 2', '"formatVersion": 3'))
  const server = await listenSomewhere()
  const { port } = server.address() as { port: number }

  return {
    async run(args) {
      const given = args.map((arg) => (arg === TAKEN_PORT ? String(port) : arg))
      // A service installs what only the end of its process removes.
      const { code, stdout, stderr } = await (args[0] === 'serve' ? hickory : hickoryHere)(...given)
      const plain = (text: string) =>
        text
          .replaceAll(`${directory}/`, '')
          .replaceAll(String(port), TAKEN_PORT)
          .replace(/\b(\d{6})-[0-9a-f]{8}\b/g, '$1-3f9a1c2b')
      return { code, stdout: plain(stdout), stderr: plain(stderr) }
    },
    async remove() {
      process.chdir(home)
      await new Promise((resolve) => server.close(resolve))
      rmSync(directory, { recursive: true })
    },
  }
}

function alertOf(polygon: string): string {
  return writeAlert(
    '1.2',
    factsOf([areaOf(['polygon', polygon])], { expires: '2999-01-01T00:00:00-00:00' }),
  )
}

/** The beginning of a ZIP archive: the head of its first file. */
function zipHead(name: string): Buffer {
  const head = Buffer.alloc(30)
  head.write('PK\x03\x04\x14', 'latin1')
  head.writeUInt16LE(name.length, 26)
  return Buffer.concat([head, Buffer.from(name)])
}

async function listenSomewhere(): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
