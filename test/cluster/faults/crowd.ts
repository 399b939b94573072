/**
 * Recipients of a test, and random changes of them. Positions are whole hundredths of a degree, and edges of areas lie
 * between them, so that plain comparison says who is inside.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UNITS_PER_DEGREE } from '../../../src/geometry/units.js'
import type { Random } from '../../support/random/world.js'
import { hickory } from '../../support/service/hickory.js'

export const CHANGED_SOURCE = 1
/** Whose recipients stay where they are, and opt out. */
export const OPTING_SOURCE = 2
/** That is imported again and again. */
export const OTHER_SOURCE = 3

const UNITS = UNITS_PER_DEGREE / 100
const WIDTH = 400

export interface Box {
  /** In hundredths of a degree, inclusive. */
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

export type WireChange =
  | { readonly op: 'upsert'; readonly number: string; readonly lat: number; readonly lng: number }
  | { readonly op: 'delete'; readonly number: string }

export const phoneOf = (source: number, at: number) => `+999${source}${String(at).padStart(8, '0')}`

export function csvOf(random: Random, source: number, count: number): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const { lng, lat } = randomPlace(random)
    return `${phoneOf(source, at)},${lat},${lng}`
  })
  return `number,lat,lng\n${lines.join('\n')}\n`
}

/** What each source was imported from last. */
const imported = new Map<number, string>()

/** Puts a source into a data directory. */
export async function importCsv(data: string, source: number, csv: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-crowd-'))
  try {
    const path = join(directory, `${source}.csv`)
    writeFileSync(path, csv)
    const flags = ['--source', String(source), '--label', `Source ${source}`]
    await untilDone('import', '--data', data, ...flags, path)
    imported.set(source, csv)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** @returns the sum of the marks of those in the box, of a source that changes by imports alone */
export function importedMarks(source: number, { west, south, east, north }: Box): number {
  let sum = 0
  for (const line of (imported.get(source) ?? '').trim().split('\n').slice(1)) {
    const [phone, lat, lng] = line.split(',')
    const [x, y] = [Math.round(Number(lng) * 100), Math.round(Number(lat) * 100)]
    if (x >= west && x <= east && y >= south && y <= north) sum += mark(phone)
  }
  return sum
}

/** Again and again, as an operator does where another one was faster, is at work, or is not heard yet. */
export async function untilDone(...args: readonly string[]): Promise<void> {
  const deadlineMs = performance.now() + 180_000
  for (;;) {
    const { code, stderr } = await hickory(...args)
    // A service was faster, and has put the same changes into a snapshot.
    const isCompacted = args[0] === 'compact' && /published another snapshot/.test(stderr)
    if (code === 0 || isCompacted) return
    // A disk that three machines share may keep a lock from being renewed in time.
    const isPassing =
      /meanwhile: run the command again|not heard|is there: |is using|the lock .* was lost/.test(
        stderr,
      )
    if (!isPassing || performance.now() > deadlineMs) throw new Error(stderr)
    await sleep(250)
  }
}

/** @param peopleCount  of whom changes are; some of them are not there */
export function randomChange(random: Random, peopleCount: number): WireChange {
  const number = phoneOf(CHANGED_SOURCE, random.between(0, peopleCount - 1))
  if (random.unit() < 0.2) return { op: 'delete', number }
  return { op: 'upsert', number, ...randomPlace(random) }
}

export function randomBox(random: Random): Box {
  const range = () => [random.between(0, WIDTH), random.between(0, WIDTH)].sort((a, b) => a - b)
  const [west, east] = range()
  const [south, north] = range()
  return { west, south, east, north }
}

export function polygonOf({ west, south, east, north }: Box): object {
  const [w, s, e, n] = [west - 0.5, south - 0.5, east + 0.5, north + 0.5].map((at) => at / 100)
  const ring = [
    [w, s],
    [e, s],
    [e, n],
    [w, n],
    [w, s],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

/** Of a position in the units of the journal. */
export const hundredths = (units: number) => Math.round(units / UNITS)

/** Of a number, to be added up over a list, since lists have no order. */
export function mark(phone: string): number {
  let hash = 2_166_136_261
  for (let at = 0; at < phone.length; at++) {
    hash = Math.imul(hash ^ phone.charCodeAt(at), 16_777_619)
  }
  return hash >>> 0
}

function randomPlace(random: Random): { readonly lng: number; readonly lat: number } {
  // Nobody is at 0,0, which is no position.
  return { lng: random.between(1, WIDTH) / 100, lat: random.between(1, WIDTH) / 100 }
}
