/**
 * Counts the recipients that lie outside a box while they are read.
 *
 * @module
 */
import { HALF_TURN } from '../../geometry/units.js'
import type { Box } from '../../shard/layout.js'
import type { RecipientBatch, RecipientSink } from '../../sources/batch.js'

/** How many were outside after so many recipients. */
interface Mark {
  readonly recipientCount: number
  readonly outsideCount: number
}

const NONE: Mark = { recipientCount: 0, outsideCount: 0 }

/** Hands everything on to another sink. What is forgotten there is not counted either. */
export class OutsideCounter implements RecipientSink {
  readonly #sink: RecipientSink
  readonly #within: Box
  /** One for each batch: a reader goes back to the end of one. */
  readonly #marks: Mark[] = []

  /** @param within  spans ±180 if its `minLng` is above its `maxLng` */
  constructor(sink: RecipientSink, within: Box) {
    this.#sink = sink
    this.#within = within
  }

  get recipientCount(): number {
    return this.#sink.recipientCount
  }

  get outsideCount(): number {
    return (this.#marks.at(-1) ?? NONE).outsideCount
  }

  add(batch: RecipientBatch): void {
    const { recipientCount, lngs, lats } = batch
    let { outsideCount } = this
    for (let row = 0; row < recipientCount; row++) {
      if (!isInside(this.#within, lngs[row], lats[row])) outsideCount++
    }
    this.#sink.add(batch)
    this.#marks.push({ recipientCount: this.recipientCount, outsideCount })
  }

  truncate(recipientCount: number): void {
    this.#sink.truncate(recipientCount)
    while ((this.#marks.at(-1) ?? NONE).recipientCount > recipientCount) this.#marks.pop()
  }
}

/** The edges belong to the box, and -180 and 180 are the same meridian. */
export function isInside(
  { minLng, minLat, maxLng, maxLat }: Box,
  lng: number,
  lat: number,
): boolean {
  if (lat < minLat || lat > maxLat) return false
  const isAt = (at: number) =>
    minLng <= maxLng ? at >= minLng && at <= maxLng : at >= minLng || at <= maxLng
  return isAt(lng) || (Math.abs(lng) === HALF_TURN && isAt(-lng))
}
