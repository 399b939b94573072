/**
 * Counts requests that were refused for their keys, by reason.
 *
 * @module
 */
import { type Page, slotOf } from '../metrics/slots.js'
import { type KeyRefusal, keyRefusals } from '../metrics/table.js'

export function keyRefusalCounts(page: Page): (why: KeyRefusal) => void {
  return (why) => {
    page[slots[why]]++
  }
}

const slots = Object.fromEntries(
  keyRefusals.map((why) => [why, slotOf('hickory_keys_refused_total', why)]),
) as Readonly<Record<KeyRefusal, number>>
