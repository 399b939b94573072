/**
 * What the main thread is asked at each scrape: one function for each reading of the table.
 *
 * @module
 */
import type { Readings } from '../metrics/exposition.js'
import type { ServiceState } from './state.js'

export function serviceReadings(state: ServiceState, version: string): Readings {
  return {
    hickory_build_info: () => [{ labels: { version, node: process.version }, value: 1 }],
    hickory_start_timestamp_seconds: () => state.startedMs / 1_000,
  }
}
