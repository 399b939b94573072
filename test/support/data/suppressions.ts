/**
 * Requests about suppression lists, as tests send them to a service.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCurrent } from '../../../src/snapshot/directory.js'
import { hickory, type Owner, type Service, temporaryDirectory } from '../service/hickory.js'
import { madeOnce } from './made-once.js'

export interface Place {
  readonly phone: string
  /** In hundredths of a degree. */
  readonly lng: number
  readonly lat: number
  /** Empty where the phone is the contact. */
  readonly contact: string
}

/** Imports recipients as a source; gives the snapshot's id. */
export async function importPlaces(
  t: Owner,
  data: string,
  sourceId: number,
  places: readonly Place[],
): Promise<string> {
  const rows = places.map(
    ({ phone, lng, lat, contact }) => `${phone},${lat / 100},${lng / 100},${contact}\n`,
  )
  const text = `number,lat,lng,contact\n${rows.join('')}`
  const importInto = async (directory: string) => {
    const file = join(temporaryDirectory(t), 'places.csv')
    writeFileSync(file, text)
    const label = `Source ${sourceId}`
    const source = ['--source', String(sourceId), '--label', label, '--max-shrink', '100%']
    const { code, stderr } = await hickory('import', '--data', directory, ...source, file)
    if (code !== 0) throw new Error(`import ended with ${code}: ${stderr}`)
  }
  const isEmpty = !existsSync(data) || readdirSync(data).length === 0
  const digest = createHash('sha256').update(`${sourceId}\n${text}`).digest('hex').slice(0, 16)
  await (isEmpty ? madeOnce(`places-${digest}`, data, importInto) : importInto(data))
  return (await readCurrent(data)) ?? ''
}

export interface Changed {
  readonly status: number
  readonly body: Record<string, unknown>
}

export async function changeList(
  { url }: Pick<Service, 'url'>,
  verb: 'PUT' | 'DELETE',
  sourceId: number | 'all',
  phones: readonly string[],
): Promise<Changed> {
  const SourceId = sourceId === 'all' ? undefined : sourceId
  const body = JSON.stringify({ SourceId, Numbers: phones })
  const response = await fetch(`${url}/api/suppressions`, { method: verb, body, ...NEW_CONNECTION })
  return { status: response.status, body: (await response.json()) as Changed['body'] }
}

export interface Answered {
  readonly SourceId: number
  readonly Count: number
  readonly Recipients?: readonly { readonly Number: string }[]
}

/** Who is in a box of hundredths of a degree, half of one beyond its edges. */
export async function askBox(
  { url }: Pick<Service, 'url'>,
  [west, south, east, north]: readonly number[],
  more: object = {},
): Promise<readonly Answered[]> {
  const degrees = (units: number) => units / 100
  const [left, bottom] = [degrees(west - 0.5), degrees(south - 0.5)]
  const [right, top] = [degrees(east + 0.5), degrees(north + 0.5)]
  const ring = [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
    [left, bottom],
  ]
  const geoJSON = { type: 'Polygon', coordinates: [ring] }
  const response = await fetch(`${url}/api/recipients`, {
    method: 'POST',
    body: JSON.stringify({ geoJSON, ...more }),
    ...NEW_CONNECTION,
  })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return ((await response.json()) as { SourceRecords: Answered[] }).SourceRecords
}

/** So that no request finds its connection closed by a service that ends. */
const NEW_CONNECTION = { headers: { connection: 'close' } }

export const EVERYWHERE = [0, 0, 50, 50]
/** Recipients of source 1 in `placesWorld`. */
export const COUNT = 500

export const phoneOf = (i: number) => `+999${String(i).padStart(6, '0')}`

export const places = (count = COUNT): Place[] =>
  Array.from({ length: count }, (_, i) => ({
    phone: phoneOf(i),
    lng: (i % 50) + 0.5,
    lat: Math.floor(i / 50) % 50,
    contact: '',
  }))

/** Of all sources, wherever they are. */
export async function countOf(service: Service, more: object = {}): Promise<number> {
  const records = await askBox(service, EVERYWHERE, { countsOnly: true, ...more })
  return records.reduce((sum, { Count }) => sum + Count, 0)
}

/** A data directory with one source. */
export async function placesWorld(t: Owner): Promise<string> {
  const data = temporaryDirectory(t)
  await importPlaces(t, data, 1, places())
  return data
}
