/**
 * An alert of the Common Alerting Protocol, as far as it says who it is for: OASIS CAP 1.2 (1 July 2010), 3.2.
 *
 * @module
 */
import type { CapTime } from './date-time.js'
import type {
  CapVersion,
  Certainty,
  MessageType,
  Scope,
  Severity,
  Status,
  Urgency,
} from './versions.js'

export interface Alert {
  readonly version: CapVersion
  readonly identifier: string
  readonly sender: string
  readonly sent: CapTime
  readonly status: Status
  readonly msgType: MessageType
  /** CAP 1.0 and api.weather.gov may leave it out. */
  readonly scope: Scope | undefined
  readonly codes: readonly string[]
  readonly references: readonly AlertReference[]
  /** False where `references` has less than the alert has, since that is not in the form of CAP. */
  readonly areReferencesWhole: boolean
  /** There is a signature. It is not checked. */
  readonly isSigned: boolean
  readonly infos: readonly AlertInfo[]
  /** Of the member that the alert came in. */
  readonly path: string
}

/** An earlier alert that this one updates, cancels or acknowledges. */
export interface AlertReference {
  readonly sender: string
  readonly identifier: string
  readonly sent: string
}

export interface AlertInfo {
  /** en-US where the alert has none (CAP 1.2, 3.2.2). */
  readonly language: string
  readonly categories: readonly string[]
  readonly event: string
  readonly responseTypes: readonly string[]
  readonly urgency: Urgency
  readonly severity: Severity
  readonly certainty: Certainty
  readonly eventCodes: readonly NamedValue[]
  readonly effective: CapTime | undefined
  readonly onset: CapTime | undefined
  readonly expires: CapTime | undefined
  readonly senderName: string | undefined
  readonly headline: string | undefined
  readonly parameters: readonly NamedValue[]
  readonly areas: readonly AlertArea[]
  readonly path: string
}

export interface AlertArea {
  readonly areaDesc: string
  /** Each a list of pairs `lat,lon`, as the alert has it. */
  readonly polygons: readonly AlertText[]
  /** Each `lat,lon radius`, the radius in kilometres. */
  readonly circles: readonly AlertText[]
  /** Those that add to it. */
  readonly geocodes: readonly NamedValue[]
  /** What is cut out of its polygons, each written as one: geocodes EXCLUDE_POLYGON. */
  readonly holes: readonly AlertText[]
  /** Feet above mean sea level. */
  readonly altitude: number | undefined
  readonly ceiling: number | undefined
  readonly path: string
}

export interface AlertText {
  readonly text: string
  readonly path: string
}

export interface NamedValue {
  readonly name: string
  readonly value: string
  readonly path: string
}
