/**
 * Requests whose right answers are known by brute force over the recipients.
 *
 * @module
 */
import { prepare } from '../oracle/geometry/exact.js'
import type { FuzzSource, FuzzWorld } from './world.js'

export interface Known {
  readonly body: string
  /** Phones of each source, in alphabetical order. */
  readonly expected: readonly { readonly id: number; readonly phones: readonly string[] }[]
}

/** A list of those in a box of 40 by 60 degrees around somebody of each source. */
export function knownRequests(world: FuzzWorld): Known[] {
  return world.sources.map(({ columns }) => {
    const [west, south] = [columns.lngs[0] - 2e8, columns.lats[0] - 3e8]
    return known(world, clamped(west, south, west + 4e8, south + 6e8))
  })
}

/** Undefined when the answer is right; otherwise what is wrong with it. */
export function compareKnown({ expected }: Known, text: string): string | undefined {
  const { SourceRecords } = JSON.parse(text) as { SourceRecords: readonly ListedRecord[] }
  for (const { id, phones } of expected) {
    const record = SourceRecords.find(({ SourceId }) => SourceId === id)
    const listed = (record?.Recipients ?? []).map((recipient) => recipient.Number).sort()
    if (record?.Count !== phones.length) {
      return `source ${id}: ${record?.Count} counted, ${phones.length} are inside`
    }
    if (listed.join() !== phones.join()) return `source ${id}: others are listed than are inside`
  }
  return undefined
}

interface ListedRecord {
  readonly SourceId: number
  readonly Count: number
  readonly Recipients?: readonly { readonly Number: string }[]
}

type Box = readonly [west: number, south: number, east: number, north: number]

/** Short of where longitudes begin anew and of the poles, which are matters of their own. */
const [LNG_MAX, LAT_MAX] = [1_799_000_000, 899_000_000]

function clamped(west: number, south: number, east: number, north: number): Box {
  const within = (units: number, most: number) => Math.max(-most, Math.min(most, units))
  return [
    within(west, LNG_MAX),
    within(south, LAT_MAX),
    within(east, LNG_MAX),
    within(north, LAT_MAX),
  ]
}

function known(world: FuzzWorld, [west, south, east, north]: Box): Known {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ].map(([lng, lat]) => [lng / 1e7, lat / 1e7])
  const geoJSON = { type: 'Polygon', coordinates: [ring] }
  // The mode of the stored configuration is changed by others.
  const body = JSON.stringify({ geoJSON, contactCountMode: 'ContactLocation' })
  const expected = world.sources.map((source) => ({
    id: source.id,
    phones: phonesInside(source, [ring]),
  }))
  return { body, expected }
}

function phonesInside({ columns }: FuzzSource, rings: readonly (readonly number[][])[]): string[] {
  const { lngs, lats, phones, phoneOffsets, recipientCount } = columns
  const shape = prepare([rings])
  return Array.from({ length: recipientCount }, (_, row) => row)
    .filter((row) => shape.contains(lngs[row], lats[row]))
    .map((row) => Buffer.from(phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])))
    .map(String)
    .sort()
}
