/**
 * Reads an alert of the Common Alerting Protocol: OASIS CAP 1.2 (1 July 2010). Versions 1.1 and 1.0 are read where
 * they have the same members (src/cap/versions.ts has what differs).
 *
 * @module
 */
import { CapFaults } from './faults.js'
import type { Alert } from './model.js'
import { readAlertElement } from './read-alert.js'

/**
 * @param source  one alert as XML
 * @param path  of the member that it came in, which errors name
 * @throws ServiceError  InvalidXml, TooComplex, or InvalidCap with the path of the member at fault
 */
export function readAlert(source: Uint8Array | string, path: string): Alert {
  const faults = new CapFaults()
  const alert = readAlertElement(source, path, faults)
  faults.refuse()
  return alert
}

/**
 * The same, for whoever is to be told everything that is wrong: where there are faults, the alert is what
 * could be read, and must not be used.
 *
 * @throws ServiceError  of what is no alert at all
 */
export function inspectAlert(
  source: Uint8Array | string,
  path: string,
): { readonly alert: Alert; readonly faults: CapFaults } {
  const faults = new CapFaults()
  return { alert: readAlertElement(source, path, faults), faults }
}
