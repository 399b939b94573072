/**
 * What the model of changes sends, and what it is answered.
 *
 * @module
 */
import type { Service } from '../../support/service/hickory.js'
import { hasKeys, type Person, type Row } from './people.js'

export function wireOf(sourceId: number, row: Row): object {
  const contact = row.contact === '' ? null : row.contact
  const { op, key, phone: number } = row
  const own = hasKeys(sourceId) ? { key } : {}
  if (op === 'upsert') {
    return { op, ...own, number, contact, lat: row.lat / 100, lng: row.lng / 100 }
  }
  return hasKeys(sourceId) ? { op, key } : { op, number, contact }
}

export const rowOf = ({ phone, lng, lat }: Person) => `${phone} ${lng / 100} ${lat / 100}`

export function rowsOf({ Recipients = [] }: { Recipients?: WireRecipient[] }): string[] {
  return Recipients.map(({ Number: phone, LatLng: { Lat, Lng } }) => `${phone} ${Lng} ${Lat}`)
}

interface WireRecipient {
  readonly Number: string
  readonly LatLng: { readonly Lat: number; readonly Lng: number }
}

export const sorted = (rows: readonly string[]) => [...rows].sort()

export function stateOf(headers: Headers) {
  return {
    snapshotId: headers.get('x-snapshot') ?? '',
    sequence: Number(headers.get('x-sequence')),
  }
}

export const CLOSE = { headers: { connection: 'close' } }
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export async function post({ url }: Service, path: string, body: object, method = 'POST') {
  const response = await fetch(url + path, {
    method,
    headers: { connection: 'close', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { status, headers } = response
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows what it asked for
  return { status, headers, json: (await response.json()) as any }
}
