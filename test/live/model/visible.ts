/**
 * How long after its acknowledgement a batch is in the answers of every front thread of two services of a data
 * directory, while others ask:
 *
 *   node dist/test/live/model/visible.js [--people N] [--batches N] [--rows N] [--clients N] [--seed S]
 *
 * Each batch is sent by a connection that the seed draws. Each connection belongs to one front thread. Its time is that
 * to its first answer with the batch, so that the way of a request is in it, too. The very first batch of the directory is
 * timed alone, before both services start: it waits for tables, which services build ahead from then on.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { seededRandom } from '../../support/random/world.js'
import { readOptions } from '../../support/read-options.js'
import { hickory, serve, temporaryDirectory } from '../../support/service/hickory.js'
import { everybody } from './areas.js'

const values = readOptions('node dist/test/live/model/visible.js', {
  people: { type: 'string', default: '1000000' },
  batches: { type: 'string', default: '500' },
  rows: { type: 'string', default: '100' },
  clients: { type: 'string', default: '8' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
})
const [peopleCount, batchCount, rowCount, clientCount] = [
  values.people,
  values.batches,
  values.rows,
  values.clients,
].map(Number)
const random = seededRandom(Number(values.seed))
const CONNECTIONS_PER_SERVICE = 6
/** Asks for the state alone. */
const NOBODY = { geoJSON: { type: 'Point', coordinates: [179, 80] } }

let changed = 0
const ends: (() => unknown)[] = []
const owner = { teardown: (end: () => unknown) => void ends.push(end) } as never
try {
  await main()
} finally {
  for (const end of ends) await end()
}

async function main(): Promise<void> {
  const data = temporaryDirectory(owner)
  const file = join(temporaryDirectory(owner), 'people.csv')
  const lines = Array.from({ length: peopleCount }, (_, i) => `k${i},+999${i},${lat(i)},${lng(i)}`)
  writeFileSync(file, `key,number,lat,lng\n${lines.join('\n')}\n`)
  const flags = ['--data', data, '--source', '1', '--label', 'A', '--key', 'key']
  const imported = await hickory('import', ...flags, file)
  if (imported.code !== 0) throw new Error(imported.stderr)
  const threads = ['--http-threads', '2', '--query-threads', '2']
  const before = await serve(owner, '--data', data, ...threads)
  const firstMs = Math.max(...(await timesOf('first', [connect(before.url)])))
  await before.stop()
  const services = [
    await serve(owner, '--data', data, ...threads),
    await serve(owner, '--data', data, ...threads),
  ]
  const connections = services.flatMap(({ url }) =>
    Array.from({ length: CONNECTIONS_PER_SERVICE }, () => connect(url)),
  )
  let isOver = false
  let answerCount = 0
  const others = Array.from({ length: clientCount }, async (_, at) => {
    const ask = connect(services[at % 2].url)
    for (; !isOver; answerCount++)
      await ask('/api/recipients', { countsOnly: true, ...everybody() })
  })
  const times: number[] = []
  let firstAfterStartMs = 0
  const startedMs = performance.now()
  for (let batch = 0; batch < batchCount; batch++) {
    const took = await timesOf(`b${batch}`, connections)
    if (batch === 0) firstAfterStartMs = Math.max(...took)
    else times.push(...took)
  }
  const seconds = (performance.now() - startedMs) / 1_000
  isOver = true
  await Promise.all(others)
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))]
  say(
    `${peopleCount} people, ${batchCount} batches of ${rowCount}, ${services.length} services of 2 front threads, ` +
      `${connections.length} connections, ${clientCount} others with ${Math.round(answerCount / seconds)} answers/s`,
  )
  say(
    `visible after ms: median ${at(0.5).toFixed(1)}, p90 ${at(0.9).toFixed(1)}, ` +
      `p99 ${at(0.99).toFixed(1)}, longest ${at(1).toFixed(1)}; the first batch of all, for which tables are built, ${firstMs.toFixed(1)}, ` +
      `the first one after a start ${firstAfterStartMs.toFixed(1)}`,
  )
}

/** From the acknowledgement of a batch to the answer with it, for each connection; one of them sends the batch. */
async function timesOf(
  batchId: string,
  connections: readonly ReturnType<typeof connect>[],
): Promise<number[]> {
  const changes = Array.from({ length: rowCount }, () => {
    const i = changed++ % peopleCount
    return { op: 'upsert', key: `k${i}`, number: `+999${i}`, lat: lat(i + 7), lng: lng(i + 7) }
  })
  const { body } = await random.pick(connections)('/api/sources/1/changes', { batchId, changes })
  const { Sequence } = JSON.parse(body)
  const acknowledgedMs = performance.now()
  const seen = connections.map(async (ask) => {
    for (;;) {
      const { sequence } = await ask('/api/recipients', { countsOnly: true, ...NOBODY })
      if (sequence >= Sequence) return performance.now() - acknowledgedMs
    }
  })
  return await Promise.all(seen)
}

function lng(i: number): number {
  return ((i * 7_919) % 40_000) / 10_000 - 2
}

function lat(i: number): number {
  return ((i * 104_729) % 39_999) / 10_000 - 2
}

/** One connection that stays. */
function connect(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  ends.unshift(() => agent.destroy())
  return (path: string, document: object) =>
    new Promise<{ sequence: number; body: string }>((resolve, reject) => {
      const body = JSON.stringify(document)
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      const sent = httpRequest(url + path, { method: 'POST', agent, headers }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const text = String(Buffer.concat(chunks))
          if (answer.statusCode !== 200) reject(new Error(text))
          else resolve({ sequence: Number(answer.headers['x-sequence']), body: text })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
