/**
 * What the self-test of `hickory doctor` asks about: made-up recipients of two sources, and shapes among them.
 *
 * @module
 */
import { subscriberDigits, syntheticRecipients } from '../../sources/synthetic/synthetic.js'
import type { Circle, Place, Polygon, Ring } from './brute-force.js'

export interface MadeUpSource {
  readonly id: number
  readonly label: string
  readonly seed: number
  readonly recipients: readonly Recipient[]
}

/** Each number is there once in its source. */
interface Recipient extends Place {
  readonly number: string
}

/** The same on every machine, so that a fault can be looked at on another one. */
export function madeUpSources(): MadeUpSource[] {
  return SOURCES.map(({ recipientCount, ...source }) => ({
    ...source,
    recipients: recipientsOf(recipientCount, source.seed),
  }))
}

/** The rows of a file, as somebody exports them. */
export function csvOf({ recipients }: MadeUpSource): string {
  const rows = recipients.map(
    ({ number, lat, lng }) => `${number},${(lat / 1e7).toFixed(7)},${(lng / 1e7).toFixed(7)}\n`,
  )
  return `number,lat,lng\n${rows.join('')}`
}

/** From New Mexico to Georgia, and up to Wisconsin. */
export const RECTANGLE: Polygon = {
  shell: [
    { lng: -104e7, lat: 30e7 },
    { lng: -80e7, lat: 30e7 },
    { lng: -80e7, lat: 44e7 },
    { lng: -104e7, lat: 44e7 },
  ],
  holes: [],
}

/** Round New York. */
export const CIRCLE: Circle = { centre: { lng: -743_000_000, lat: 406_000_000 }, radiusM: 180_000 }

/** Jagged, with a jagged hole. Recipients live on all corners, and are inside since they are on the boundary. */
export function drawnPolygon(sources: readonly MadeUpSource[]): Polygon {
  const places = sources.flatMap(({ recipients }) => recipients)
  return {
    shell: ringThrough(places, { cornerCount: 48, nearest: 5e7, farthest: 9e7 }),
    holes: [ringThrough(places, { cornerCount: 12, nearest: 1e7, farthest: 2.5e7 })],
  }
}

const SOURCES = [
  { id: 1, label: 'Residents', recipientCount: 30_000, seed: 1 },
  { id: 2, label: 'Members', recipientCount: 15_000, seed: 2 },
] as const

export const SAMPLE_RECIPIENT_COUNT = SOURCES.reduce(
  (sum, { recipientCount }) => sum + recipientCount,
  0,
)

function recipientsOf(recipientCount: number, seed: number): Recipient[] {
  const recipients: Recipient[] = []
  for (const batch of syntheticRecipients({ recipientCount, seed, countries: ['US'] })) {
    for (const [row, subscriber] of batch.subscribers.entries()) {
      const { value, width } = subscriberDigits(subscriber)
      const number = `+999${String(value).padStart(width, '0')}`
      recipients.push({ number, lat: batch.lats[row], lng: batch.lngs[row] })
    }
  }
  return recipients
}

const MIDDLE: Place = { lng: -85e7, lat: 39e7 }

interface Span {
  readonly cornerCount: number
  /** From the middle, in units. */
  readonly nearest: number
  readonly farthest: number
}

/** Round the middle: the first place of each sector that is neither too near nor too far. */
function ringThrough(places: readonly Place[], { cornerCount, nearest, farthest }: Span): Ring {
  const corners: Place[] = []
  for (const place of places) {
    const [x, y] = [place.lng - MIDDLE.lng, place.lat - MIDDLE.lat]
    const distance = Math.hypot(x, y)
    if (distance < nearest || distance > farthest) continue
    const sector = Math.floor(((Math.atan2(y, x) / Math.PI + 1) / 2) * cornerCount)
    corners[sector] ??= place
  }
  // Sectors without anybody have no corner.
  return corners.filter((corner) => corner !== undefined)
}
