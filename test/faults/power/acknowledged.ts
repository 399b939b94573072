/**
 * What was acknowledged before the power went, and what is there after that. Each thing is a number that only grows:
 * the last one that was acknowledged must be there, and one that was under way may be.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const cli = fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url))
const run = promisify(execFile)

/** Where a service answers, and where its data is. */
export interface Place {
  readonly url: string
  readonly key: string
  readonly data: string
  /** On the same disk. */
  readonly beside: string
  /** Not on it. */
  readonly inputs: string
}

/** @param number  of this time, from 1 on */
type Act = (place: Place, number: number) => Promise<void>

export interface Kind {
  readonly name: string
  readonly act: Act
  /** @returns the number that is there */
  readonly read: (place: Place, acknowledged: number) => Promise<number>
}

/** No acknowledgement, and no refusal: what was asked for may be there, or come yet. */
export class Unsettled extends Error {}

interface Asked {
  readonly method?: string
  readonly body?: unknown
}

/** @throws Unsettled */
export async function ask(
  { url, key }: Place,
  path: string,
  { method = 'GET', body }: Asked = {},
): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(url + path, { method, headers, ...sent })
  const text = await answer.text()
  const fault = `${method} ${path}: ${answer.status} ${text.slice(0, 200)}`
  if (answer.status === 503) throw new Unsettled(fault)
  if (!answer.ok) throw new Error(fault)
  return text === '' ? {} : JSON.parse(text)
}

/** @throws  unless it ends with exit code 0 */
export async function command(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [cli, ...args])
  return stdout
}

const circle = (lng: number, lat: number) => ({
  geometry: { type: 'Point', coordinates: [lng, lat] },
  properties: { radius: 1_000 },
})

async function countAt(place: Place, lng: number, lat: number): Promise<number> {
  const body = { countsOnly: true, geoJSON: { features: [circle(lng, lat)] } }
  const { SourceRecords } = (await ask(place, '/api/recipients', { method: 'POST', body })) as {
    SourceRecords: readonly { Count: number }[]
  }
  return SourceRecords.reduce((sum, { Count }) => sum + Count, 0)
}

const csv = (rowCount: number, lat: number) =>
  `number,lat,lng\n${Array.from({ length: rowCount }, (_, at) => `+9991${String(at).padStart(7, '0')},${lat},0\n`).join('')}`

/** Writes what everything begins with: a source, and a key. */
export async function begin(data: string, inputs: string): Promise<string> {
  const file = join(inputs, 'first.csv')
  writeFileSync(file, csv(500, 1))
  await command('import', '--data', data, '--source', '1', '--label', 'First', file)
  const created = ['create', '--data', data, '--name', 'first', '--scopes', 'admin']
  return (await command('keys', ...created)).trim()
}

/** Over HTTP. */
export const requests: readonly Kind[] = [
  {
    name: 'changes',
    async act(place, number) {
      const change = { op: 'upsert', number: `+9992${number}`, lat: 10, lng: 10 }
      const body = { batchId: `batch-${number}`, changes: [change] }
      await ask(place, '/api/sources/1/changes', { method: 'POST', body })
    },
    read: (place) => countAt(place, 10, 10),
  },
  {
    name: 'suppressions',
    async act(place, number) {
      const body = { Numbers: [`+9993${number}`] }
      await ask(place, '/api/suppressions', { method: 'PUT', body })
    },
    async read(place) {
      const { Lists } = (await ask(place, '/api/suppressions')) as {
        Lists: readonly { Total: number }[]
      }
      return Lists.reduce((sum, { Total }) => sum + Total, 0)
    },
  },
  {
    name: 'contexts',
    async act(place, number) {
      const body = { ContextName: String(number), Areas: [] }
      await ask(place, `/api/contexts/${CONTEXT_ID}`, { method: 'PUT', body })
    },
    async read(place, acknowledged) {
      if (acknowledged === 0) return 0
      return Number((await ask(place, `/api/contexts/${CONTEXT_ID}`)).ContextName)
    },
  },
  {
    name: 'audiences',
    async act(place) {
      const body = { lifetimeSeconds: 86_400, geoJSON: { features: [circle(0, 1)] } }
      await ask(place, '/api/audiences', { method: 'POST', body })
    },
    async read(place) {
      const { Results } = (await ask(place, '/api/audiences')) as {
        Results: readonly { Id: string; Digest: string; Count: number }[]
      }
      for (const { Id, Digest, Count } of Results.slice(-3)) {
        const list = await ask(place, `/api/audiences/${Id}`)
        if (list.Digest !== Digest || Count !== 500) throw new Error('an audience is another one')
      }
      return Results.length
    },
  },
]

const CONTEXT_ID = '6b29fc40ca471067b31d00dd010662da'

/** By commands beside the service. */
export const commands: readonly Kind[] = [
  {
    name: 'import',
    async act({ data, inputs }, number) {
      const file = join(inputs, 'second.csv')
      writeFileSync(file, csv(300 + number, 2))
      await command('import', '--data', data, '--source', '2', '--label', 'Second', file)
    },
    read: (place, acknowledged) =>
      untilAtLeast(acknowledged, async () => Math.max(0, (await countAt(place, 0, 2)) - 300)),
  },
  {
    name: 'areas import',
    async act({ data, inputs }, number) {
      const file = join(inputs, 'areas.geojson')
      const ring = [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ]
      const geometry = { type: 'Polygon', coordinates: [ring] }
      const feature = { type: 'Feature', properties: { id: 'a', name: String(number) }, geometry }
      writeFileSync(file, JSON.stringify({ type: 'FeatureCollection', features: [feature] }))
      const layer = ['--layer', 'own', '--key', 'id', '--name', 'name']
      await command('areas', 'import', '--data', data, ...layer, file)
    },
    async read(place, acknowledged) {
      if (acknowledged === 0) return 0
      return await untilAtLeast(acknowledged, async () => {
        const found = await ask(place, '/api/areas/own:a')
        return Number((found.properties as { Name: string }).Name)
      })
    },
  },
  {
    name: 'keys',
    async act({ data, beside }, number) {
      const secret = join(beside, `key-${number}`)
      const name = `key-${number}-${Date.now()}`
      const key = ['--name', name, '--scopes', 'counts', '--secret-file', secret]
      await command('keys', 'create', '--data', data, ...key)
    },
    async read(place, acknowledged) {
      let number = 0
      for (; existsSync(join(place.beside, `key-${number + 1}`)); number++) {
        const key = readFileSync(join(place.beside, `key-${number + 1}`), 'utf8').trim()
        // One that was under way may have its file alone.
        if (number < acknowledged) await ask({ ...place, key }, '/api/sources')
      }
      return number
    },
  },
  {
    name: 'apply',
    async act({ data, inputs }, number) {
      const file = join(inputs, 'changes.ndjson')
      const change = { op: 'upsert', number: `+9994${number}`, lat: 20, lng: 20 }
      writeFileSync(file, `${JSON.stringify(change)}\n`)
      await command('apply', '--data', data, '--source', '1', file)
    },
    read: (place, acknowledged) => untilAtLeast(acknowledged, () => countAt(place, 20, 20)),
  },
  {
    name: 'compact',
    act: async ({ data }) => void (await command('compact', '--data', data)),
    // All else says whether it took anything away.
    read: async (_, acknowledged) => acknowledged,
  },
  {
    name: 'backup',
    async act({ data, beside }, number) {
      await command('backup', '--data', data, '--force', join(beside, `backup-${number % 2}.tar`))
    },
    async read({ beside }, acknowledged) {
      if (acknowledged === 0) return 0
      const bytes = readFileSync(join(beside, `backup-${acknowledged % 2}.tar`))
      // The end of an archive.
      if (bytes.length === 0 || bytes.subarray(-1024).some((byte) => byte !== 0)) return 0
      return acknowledged
    },
  },
]

/** A service takes what commands have written a moment after them. */
async function untilAtLeast(least: number, read: () => Promise<number>): Promise<number> {
  const deadlineMs = performance.now() + 10_000
  for (;;) {
    const found = await read()
    if (found >= least || performance.now() > deadlineMs) return found
    await sleep(100)
  }
}

/** Asks once more where the machine is too busy. */
export async function settled<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (fault) {
      if (!(fault instanceof Unsettled) || attempt === 20) throw fault
      await sleep(500)
    }
  }
}
