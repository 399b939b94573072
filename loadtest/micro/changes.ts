/**
 * How many changes a second does a service acknowledge over HTTP, each on disk? Compared with a file to which
 * the groups that came about in its journal are appended and synced, one after the other.
 *
 * @module
 */
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { journalDirectory } from '../../src/journal/files.js'
import { firstPlace } from '../../src/journal/head.js'
import { JournalReader } from '../../src/journal/reader.js'
import { recordsBetween } from '../../src/journal/walk.js'
import { runScript, startServer } from '../harness/processes.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { Finding } from './harness/compare.js'
import type { Question, Stage } from './harness/stage.js'

/** Keep-alive connections, each with one batch under way, and changes in a batch. */
const SHAPES: readonly [connectionCount: number, changeCount: number][] = [
  [1, 10],
  [1, 100],
  [16, 10],
  [16, 100],
  [64, 10],
  [64, 100],
]
const WARM_UP_MS = 1_000
const TIMED_MS = 4_000

export const changes: Question = async (stage) => {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-bench-changes-'))
  try {
    const input = join(directory, 'rows.csv')
    writeFileSync(input, `number,lat,lng,contact\n+9990,1,1,c\n`)
    const data = join(directory, 'data')
    const { signal } = new AbortController()
    const source = ['--source', '1', '--label', 'Residents']
    await runScript([CLI, 'import', '--data', data, ...source, input], signal)
    const service = await startServer(
      'hickory',
      [CLI, 'serve', '--data', data, '--port', '0'],
      signal,
    )
    try {
      const port = Number(new URL(service.url).port)
      const results: Result[] = []
      for (const [connectionCount, changeCount] of SHAPES) {
        const place = { port, data, directory }
        results.push(await measure(stage, place, connectionCount, changeCount))
      }
      return [findingOf(stage, results)]
    } finally {
      await service.stop()
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

interface Place {
  readonly port: number
  readonly data: string
  readonly directory: string
}

interface Result {
  readonly name: string
  readonly changeCount: number
  readonly batchCount: number
  /** Of the answers, ascending. */
  readonly latenciesMs: readonly number[]
  readonly elapsedMs: number
  readonly groupCount: number
  readonly byteCount: number
  /** For the same groups in a plain file. */
  readonly plainMs: number
}

async function measure(
  stage: Stage,
  { port, data, directory }: Place,
  connectionCount: number,
  changeCount: number,
): Promise<Result> {
  const body = rowsOf(stage, changeCount)
  const name = `${connectionCount}x${changeCount}`
  let nextId = 0
  let since = 0
  let elapsedMs = 0
  const latenciesMs: number[] = []
  for (const [phase, forMs] of [
    ['warm', WARM_UP_MS],
    ['timed', TIMED_MS],
  ] as const) {
    since = lastSequence(data)
    latenciesMs.length = 0
    const startedMs = performance.now()
    const clients = Array.from({ length: connectionCount }, async () => {
      const client = await Client.open(port)
      while (performance.now() - startedMs < forMs) {
        const sentMs = performance.now()
        await client.post(body, `${name}-${phase}-${nextId++}`)
        latenciesMs.push(performance.now() - sentMs)
      }
      client.close()
    })
    await Promise.all(clients)
    elapsedMs = performance.now() - startedMs
  }
  const groups = groupsSince(data, since)
  latenciesMs.sort((a, b) => a - b)
  return {
    name: `${connectionCount} connections, batches of ${changeCount}`,
    changeCount,
    batchCount: latenciesMs.length,
    latenciesMs,
    elapsedMs,
    groupCount: groups.length,
    byteCount: groups.reduce((sum, bytes) => sum + bytes, 0),
    plainMs: plainTime(join(directory, `${name}.plain`), groups),
  }
}

/** One connection, with one request under way. */
class Client {
  readonly #socket: Socket
  #answer = ''
  #settle: (fault?: Error) => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (piece: string) => this.#take(piece))
    socket.on('close', () => this.#settle(new Error('the service closed a connection')))
  }

  static open(port: number): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Client(socket)))
      socket.once('error', reject)
    })
  }

  post(body: Buffer, batchId: string): Promise<void> {
    const head =
      'POST /api/sources/1/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n' +
      `Content-Type: application/x-ndjson\r\nIdempotency-Key: "${batchId}"\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`
    return new Promise((resolve, reject) => {
      this.#settle = (fault) => (fault === undefined ? resolve() : reject(fault))
      this.#socket.cork()
      this.#socket.write(head)
      this.#socket.write(body)
      this.#socket.uncork()
    })
  }

  close(): void {
    this.#settle = () => {}
    this.#socket.destroy()
  }

  #take(piece: string): void {
    this.#answer += piece
    const end = this.#answer.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#answer)?.[1])
    if (this.#answer.length < end + 4 + length) return
    const isTaken = this.#answer.startsWith('HTTP/1.1 200 ')
    const fault = isTaken ? undefined : new Error(`a batch was refused: ${this.#answer}`)
    this.#answer = ''
    this.#settle(fault)
  }
}

function rowsOf({ world: { columns } }: Stage, count: number): Buffer {
  const rows = Array.from({ length: count }, (_, at) => {
    const index = at % columns.recipientCount
    return JSON.stringify({
      op: 'upsert',
      number: `+999${1_000_000 + index}`,
      lat: columns.lats[index] / 1e7,
      lng: columns.lngs[index] / 1e7,
      contact: `c${index}`,
    })
  })
  return Buffer.from(`${rows.join('\n')}\n`)
}

function lastSequence(data: string): number {
  const reader = new JournalReader(journalDirectory(data))
  try {
    return reader.head().sequence
  } finally {
    reader.close()
  }
}

/** The bytes of each group behind a batch. */
function groupsSince(data: string, since: number): number[] {
  const directory = journalDirectory(data)
  const reader = new JournalReader(directory)
  const head = reader.head()
  reader.close()
  const groups: number[] = []
  for (const { record } of recordsBetween(directory, firstPlace(head), head)) {
    if (record.sequence <= since) continue
    if (record.groupIndex === 0) groups.push(0)
    groups[groups.length - 1] += record.length
  }
  return groups
}

function plainTime(path: string, groups: readonly number[]): number {
  const bytes = Buffer.alloc(Math.max(...groups), 0x5a)
  const file = openSync(path, 'w')
  let position = 0
  const startedMs = performance.now()
  for (const byteCount of groups) {
    position += writeSync(file, bytes, 0, byteCount, position)
    fdatasyncSync(file)
  }
  const elapsedMs = performance.now() - startedMs
  closeSync(file)
  return elapsedMs
}

function findingOf(stage: Stage, results: readonly Result[]): Finding {
  const at = (values: readonly number[], part: number) =>
    values[Math.floor(part * (values.length - 1))]
  return {
    table: {
      title: 'changes over HTTP, each batch on disk before it is answered',
      header: [
        '',
        ...['changes/s', 'batches/s', 'batches a group', 'bytes a change'],
        ...['p50 ms', 'p99 ms', 'plain file, changes/s', 'rate of it'],
      ],
      rows: results.map((result) => {
        const { name, changeCount, batchCount, elapsedMs, plainMs, groupCount } = result
        const count = batchCount * changeCount
        return [
          name,
          formatCount((1_000 * count) / elapsedMs),
          formatCount((1_000 * batchCount) / elapsedMs),
          formatFigure(batchCount / groupCount),
          formatFigure(result.byteCount / count),
          formatFigure(at(result.latenciesMs, 0.5)),
          formatFigure(at(result.latenciesMs, 0.99)),
          formatCount((1_000 * count) / plainMs),
          `${(plainMs / elapsedMs).toFixed(2)}×`,
        ]
      }),
    },
    ways: results.map(({ name, latenciesMs }) => ({
      name,
      itemCount: 1,
      timing: {
        repetitionCount: latenciesMs.length,
        minMs: latenciesMs[0],
        medianMs: at(latenciesMs, 0.5),
        p10Ms: at(latenciesMs, 0.1),
        p90Ms: at(latenciesMs, 0.9),
      },
    })),
    notes: [
      `seed ${stage.world.seed}; ${TIMED_MS / 1_000} s each; clients and service share the machine; ` +
        'the plain file has the same groups, each synced',
    ],
  }
}
