/**
 * The members of an alert and their values, as the schemas of OASIS have them (cap12.xsd; CAP 1.1 and 1.0
 * where they differ).
 *
 * @module
 */

export type CapVersion = '1.0' | '1.1' | '1.2'

/** The version that a namespace is of. */
export const NAMESPACES: ReadonlyMap<string, CapVersion> = new Map([
  ['urn:oasis:names:tc:emergency:cap:1.2', '1.2'],
  ['urn:oasis:names:tc:emergency:cap:1.1', '1.1'],
  ['http://www.incident.com/cap/1.0', '1.0'],
])

export const STATUSES = ['Actual', 'Exercise', 'System', 'Test', 'Draft'] as const
export const MESSAGE_TYPES = ['Alert', 'Update', 'Cancel', 'Ack', 'Error'] as const
export const SCOPES = ['Public', 'Restricted', 'Private'] as const
export const URGENCIES = ['Immediate', 'Expected', 'Future', 'Past', 'Unknown'] as const
export const SEVERITIES = ['Extreme', 'Severe', 'Moderate', 'Minor', 'Unknown'] as const
/** `Very Likely` is of CAP 1.0; later versions ask to take it for `Likely`. */
export const CERTAINTIES = [
  'Observed',
  'Likely',
  'Possible',
  'Unlikely',
  'Unknown',
  'Very Likely',
] as const
export const CATEGORIES = [
  'Geo',
  'Met',
  'Safety',
  'Security',
  'Rescue',
  'Fire',
  'Health',
  'Env',
  'Transport',
  'Infra',
  'CBRNE',
  'Other',
] as const
export const RESPONSE_TYPES = [
  'Shelter',
  'Evacuate',
  'Prepare',
  'Execute',
  'Avoid',
  'Monitor',
  'Assess',
  'AllClear',
  'None',
] as const

export type Status = (typeof STATUSES)[number]
export type MessageType = (typeof MESSAGE_TYPES)[number]
export type Scope = (typeof SCOPES)[number]
export type Urgency = (typeof URGENCIES)[number]
export type Severity = (typeof SEVERITIES)[number]
export type Certainty = (typeof CERTAINTIES)[number]

/** How often a member may be there. */
export type Occurrence = 'one' | 'optional' | 'many'

type Members = Readonly<Record<string, Occurrence>>

/** `password` is of CAP 1.0. */
export const ALERT_MEMBERS: Members = {
  identifier: 'one',
  sender: 'one',
  password: 'optional',
  sent: 'one',
  status: 'one',
  msgType: 'one',
  source: 'optional',
  scope: 'optional',
  restriction: 'optional',
  addresses: 'optional',
  code: 'many',
  note: 'optional',
  references: 'optional',
  incidents: 'optional',
  info: 'many',
}

export const INFO_MEMBERS: Members = {
  language: 'optional',
  category: 'many',
  event: 'one',
  responseType: 'many',
  urgency: 'one',
  severity: 'one',
  certainty: 'one',
  audience: 'optional',
  eventCode: 'many',
  effective: 'optional',
  onset: 'optional',
  expires: 'optional',
  senderName: 'optional',
  headline: 'optional',
  description: 'optional',
  instruction: 'optional',
  web: 'optional',
  contact: 'optional',
  parameter: 'many',
  resource: 'many',
  area: 'many',
}

export const AREA_MEMBERS: Members = {
  areaDesc: 'one',
  polygon: 'many',
  circle: 'many',
  geocode: 'many',
  altitude: 'optional',
  ceiling: 'optional',
}

export const VALUE_MEMBERS: Members = { valueName: 'one', value: 'one' }
