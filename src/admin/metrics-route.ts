/**
 * `/metrics`: all metrics, in the form that the scraper asks for. What was written a moment ago is given to
 * further scrapers, so that many of them cost as much as one.
 *
 * @module
 */
import { limits } from '../limits.js'
import {
  createExposition,
  type ExpositionForm,
  OPEN_FORM,
  type Readings,
  TEXT_FORM,
} from '../metrics/exposition.js'
import type { MetricsMemory } from '../metrics/memory.js'
import type { AdminRoute } from './listener.js'

export function metricsRoute(memory: MetricsMemory, readings: Readings): AdminRoute {
  const write = createExposition(memory, readings)
  const known = new Map<ExpositionForm, { readonly atMs: number; text: Promise<Uint8Array> }>()
  return async ({ accept }) => {
    const form = accept.split(',').some(isOpen) ? OPEN_FORM : TEXT_FORM
    let last = known.get(form)
    if (last === undefined || performance.now() - last.atMs >= limits.scrapeKeptMs) {
      last = { atMs: performance.now(), text: write(form).then((text) => Buffer.from(text)) }
      known.set(form, last)
    }
    return { status: 200, contentType: form, body: await last.text }
  }
}

/** An entry of Accept with the weight 0 is one that is not wanted (RFC 9110, 12.4.2). */
function isOpen(entry: string): boolean {
  const [type, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
  return (
    type === 'application/openmetrics-text' && !parameters.some((each) => NOT_WANTED.test(each))
  )
}

const NOT_WANTED = /^q=0(\.0*)?$/
