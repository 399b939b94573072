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
    const form = accept.includes('application/openmetrics-text') ? OPEN_FORM : TEXT_FORM
    let last = known.get(form)
    if (last === undefined || performance.now() - last.atMs >= limits.scrapeKeptMs) {
      last = { atMs: performance.now(), text: write(form).then((text) => Buffer.from(text)) }
      known.set(form, last)
    }
    return { status: 200, contentType: form, body: await last.text }
  }
}
