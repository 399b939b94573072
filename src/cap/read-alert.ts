/**
 * Reads an alert from XML.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { readXml, type XmlElement } from '../xml/read-xml.js'
import { type CapTime, readTime } from './date-time.js'
import type { CapFaults } from './faults.js'
import { addingAndHoles } from './geocode-systems.js'
import { CapMembers } from './members.js'
import type { Alert, AlertArea, AlertInfo, NamedValue } from './model.js'
import { readReferences } from './references.js'
import {
  ALERT_MEMBERS,
  AREA_MEMBERS,
  CATEGORIES,
  type CapVersion,
  CERTAINTIES,
  INFO_MEMBERS,
  MESSAGE_TYPES,
  NAMESPACES,
  RESPONSE_TYPES,
  SCOPES,
  SEVERITIES,
  STATUSES,
  URGENCIES,
  VALUE_MEMBERS,
} from './versions.js'

/** @throws ServiceError  of what is no alert; what is wrong within one goes to `faults` */
export function readAlertElement(
  source: Uint8Array | string,
  path: string,
  faults: CapFaults,
): Alert {
  const root = readXml(source, path, BOUNDS)
  const version = NAMESPACES.get(root.namespace)
  if (root.name !== 'alert' || version === undefined) throw notAnAlert(root, path)
  return new AlertReader(version, faults).read(root, path)
}

const BOUNDS = {
  elementCount: limits.capElementCount,
  attributeCount: limits.capElementCount,
  charCount: limits.xmlCharCount,
}

/** What is in a feed or an envelope may be one of several, for others, or outside of what the envelope says. */
function notAnAlert({ name, namespace }: XmlElement, path: string): ServiceError {
  const wrapping = WRAPPINGS.find((each) => each.name === name)
  let problem = 'is no alert of CAP: its root must be <alert>'
  if (name === 'alert') {
    problem =
      'has a root <alert> without a namespace of CAP, such as urn:oasis:names:tc:emergency:cap:1.2'
    if (namespace !== '') problem += ': the one that it has is unknown'
  } else if (wrapping !== undefined) {
    problem = `is ${wrapping.what}, not an alert: take the alert out of it, and send each by itself`
  }
  return new ServiceError('InvalidCap', `${path} ${problem}`, path)
}

const WRAPPINGS = [
  { name: 'feed', what: 'an Atom feed' },
  { name: 'entry', what: 'an entry of an Atom feed' },
  { name: 'rss', what: 'an RSS feed' },
  { name: 'EDXLDistribution', what: 'an EDXL-DE distribution' },
  { name: 'Envelope', what: 'a SOAP envelope' },
  { name: 'alerts', what: 'a list of alerts' },
]

class AlertReader {
  readonly #version: CapVersion
  readonly #faults: CapFaults

  constructor(version: CapVersion, faults: CapFaults) {
    this.#version = version
    this.#faults = faults
  }

  read(root: XmlElement, path: string): Alert {
    const members = new CapMembers(root, path, ALERT_MEMBERS, this.#faults)
    const scope = members.oneOf('scope', SCOPES)
    if (scope === undefined && this.#version !== '1.0') {
      this.#faults.add('InvalidCap', path, 'has no scope')
    }
    return {
      version: this.#version,
      identifier: members.required('identifier'),
      sender: members.required('sender'),
      sent: this.#time(members, 'sent') ?? NEVER,
      status: members.oneOf('status', STATUSES) ?? 'Actual',
      msgType: members.oneOf('msgType', MESSAGE_TYPES) ?? 'Alert',
      scope,
      codes: members.texts('code').map(({ text }) => text),
      ...readReferences(members.text('references')),
      isSigned: root.children.some(({ namespace }) => namespace === SIGNATURES),
      infos: members.elements('info').map((each) => this.#info(each.element, each.path)),
      path,
    }
  }

  #info(element: XmlElement, path: string): AlertInfo {
    const members = new CapMembers(element, path, INFO_MEMBERS, this.#faults)
    const categories = members.someOf('category', CATEGORIES)
    if (categories.length === 0 && this.#version !== '1.0') {
      this.#faults.add('InvalidCap', path, 'has no category')
    }
    return {
      // An empty one is taken for none (CAP 1.2, 3.2.2).
      language: members.text('language') || DEFAULT_LANGUAGE,
      categories,
      event: members.required('event'),
      responseTypes: members.someOf('responseType', RESPONSE_TYPES),
      urgency: members.oneOf('urgency', URGENCIES) ?? 'Unknown',
      severity: members.oneOf('severity', SEVERITIES) ?? 'Unknown',
      certainty: members.oneOf('certainty', CERTAINTIES) ?? 'Unknown',
      eventCodes: this.#values(members, 'eventCode'),
      effective: this.#time(members, 'effective'),
      onset: this.#time(members, 'onset'),
      expires: this.#time(members, 'expires'),
      senderName: members.text('senderName'),
      headline: members.text('headline'),
      parameters: this.#values(members, 'parameter'),
      areas: members.elements('area').map((each) => this.#area(each.element, each.path)),
      path,
    }
  }

  #area(element: XmlElement, path: string): AlertArea {
    const members = new CapMembers(element, path, AREA_MEMBERS, this.#faults)
    return {
      areaDesc: members.text('areaDesc') ?? '',
      polygons: members.texts('polygon'),
      circles: members.texts('circle'),
      ...addingAndHoles(this.#values(members, 'geocode'), this.#faults),
      altitude: this.#decimal(members, 'altitude'),
      ceiling: this.#decimal(members, 'ceiling'),
      path,
    }
  }

  #time(members: CapMembers, name: string): CapTime | undefined {
    const text = members.text(name)
    if (text === undefined) return undefined
    const time = readTime(text)
    if (time === undefined) {
      const problem = 'must be a time with its zone, such as 2026-05-24T16:49:00-07:00'
      this.#faults.add('InvalidCap', `${members.path}.${name}`, problem)
    }
    return time
  }

  #decimal(members: CapMembers, name: string): number | undefined {
    const text = members.text(name)
    if (text === undefined) return undefined
    if (/^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text)) return Number(text)
    this.#faults.add('InvalidCap', `${members.path}.${name}`, 'must be a number of feet')
    return undefined
  }

  /** CAP 1.0 writes `name=value`. */
  #values(members: CapMembers, name: string): readonly NamedValue[] {
    if (this.#version === '1.0') {
      return members.texts(name).map(({ text, path }) => {
        const at = text.indexOf('=')
        if (at < 1) this.#faults.add('InvalidCap', path, 'must be written as name=value')
        return { name: text.slice(0, at).trim(), value: text.slice(at + 1).trim(), path }
      })
    }
    return members.elements(name).map(({ element, path }) => {
      const pair = new CapMembers(element, path, VALUE_MEMBERS, this.#faults)
      return { name: pair.text('valueName') ?? '', value: pair.text('value') ?? '', path }
    })
  }
}

const DEFAULT_LANGUAGE = 'en-US'

const SIGNATURES = 'http://www.w3.org/2000/09/xmldsig#'

/** Where there is a fault already. */
const NEVER: CapTime = { text: '', atMs: 0, isAsWritten: false }
