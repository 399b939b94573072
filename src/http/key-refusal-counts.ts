/**
 * Counts requests that were refused for their keys, by reason.
 *
 * @module
 */
import { type MetricSlots as Page, slotOf } from '../metrics/memory.js'
import { type KeyRefusal, keyRefusals } from '../metrics/table.js'

export function keyRefusalCounts(page: Page): (why: KeyRefusal) => void {
  return (why) => {
    page[slots[why]]++
  }
}

const slots = Object.fromEntries(
  keyRefusals.map((why) => [why, slotOf('hickory_keys_refused_total', why)]),
) as Readonly<Record<KeyRefusal, number>>
