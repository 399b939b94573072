/**
 * An alert as a client sends it to be kept.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { type CapDrawing, type CapOptions, inspectDrawing } from '../../cap/drawing.js'
import { CapFaults } from '../../cap/faults.js'
import type { Alert } from '../../cap/model.js'
import { ServiceError } from '../../errors.js'
import { PutAlertSchema } from '../../interface/alerts.js'
import { bind } from '../../interface/bind.js'
import { limits } from '../../limits.js'
import { isObject, type JsonObject, member } from '../../selection/parse.js'
import type { Remarks } from '../../selection/remarks.js'
import { alertOf, optionsOf } from '../../selection/shapes/cap.js'
import { xmlText } from '../../xml/read-xml.js'

export interface SentAlert {
  readonly alert: Alert
  /** The text of CAP, or the GeoJSON of api.weather.gov. */
  readonly cap: unknown
  readonly options: CapOptions
  /** A hash of the alert, byte for byte, and of what of it is to count. */
  readonly digest: string
}

/** A Feature of api.weather.gov may be all of the body. */
export function alertRequestOf(members: JsonObject): JsonObject {
  return members.type === 'Feature' && isObject(members.properties) ? { cap: members } : members
}

/** @throws ServiceError  of the alert, or naming the member at fault */
export function readSentAlert(request: JsonObject, { onUnknown }: Remarks): SentAlert {
  const cap = capOf(member(request, CAP))
  const others = Object.entries(request).filter(([name]) => name.toLowerCase() !== CAP)
  const { Identifier, ...given } = bind(PutAlertSchema, Object.fromEntries(others), onUnknown)
  const options = optionsOf(given)
  const alert = alertOf(cap)
  refuse(alert)
  if (Identifier === undefined) fail('InvalidRequest', 'is missing', 'Identifier')
  if (Identifier !== alert.identifier) {
    fail('InvalidRequest', 'is not the identifier of the alert in cap', 'Identifier')
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([cap, given]))
    .digest('hex')
  return { alert, cap, options, digest }
}

/**
 * What an alert draws. A Cancel need not draw anything, and neither need an Update that says that all is over, where
 * what is over is left out: it tells of the alerts before it that nobody is concerned any more.
 *
 * @throws ServiceError  the first thing that is wrong
 */
export function drawingOf({ alert, options }: SentAlert): CapDrawing {
  const faults = new CapFaults()
  const drawn = inspectDrawing(alert, options, faults)
  const isWithoutArea = alert.infos.every(({ areas }) => areas.length === 0)
  const isFault = ({ code }: ServiceError) =>
    !(isWithoutArea && alert.msgType === 'Cancel' && code === 'CapAreaMissing') &&
    !(alert.msgType !== 'Alert' && code === 'CapEnded')
  const fault = faults.list.find(isFault)
  if (fault !== undefined) throw fault
  return drawn
}

const CAP = 'cap'

function capOf(value: unknown): unknown {
  if (value === undefined || value === null) return fail('InvalidRequest', 'is missing', CAP)
  return value instanceof Uint8Array ? xmlText(value, CAP) : value
}

function refuse({ path, msgType, identifier, sender, references }: Alert): void {
  if (msgType === 'Ack' || msgType === 'Error') {
    fail('InvalidCap', `is ${msgType}, and only alerts are kept`, `${path}.msgType`)
  }
  if (references.length > limits.alertReferenceCount) {
    const problem = `has more than ${limits.alertReferenceCount} alerts`
    fail('TooComplex', problem, `${path}.references`)
  }
  const isLong = (name: string) => name.length > limits.alertNameCharCount
  if (
    isLong(identifier) ||
    isLong(sender) ||
    references.some((reference) => isLong(reference.identifier) || isLong(reference.sender))
  ) {
    const problem = `has an identifier or a sender of more than ${limits.alertNameCharCount} characters`
    fail('TooComplex', problem, path)
  }
}

function fail(
  code: 'InvalidRequest' | 'InvalidCap' | 'TooComplex',
  problem: string,
  path: string,
): never {
  throw new ServiceError(code, `${path} ${problem}`, path)
}
