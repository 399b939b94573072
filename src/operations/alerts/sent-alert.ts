/**
 * An alert as a client sends it to be kept, and its areas as those of a context. Geocodes become the polygons that the
 * gazetteer has now, so that what the alert selects never changes by itself.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { type CapDrawing, type CapOptions, inspectDrawing } from '../../cap/drawing.js'
import { CapFaults } from '../../cap/faults.js'
import type { Alert, AlertArea } from '../../cap/model.js'
import { ServiceError } from '../../errors.js'
import { isTakenAsItLies } from '../../geometry/polygon/antimeridian.js'
import { type DrawnPolygon, drawnPolygons } from '../../geometry/polygon/drawn-polygons.js'
import { UNITS_PER_DEGREE, UNITS_PER_TURN } from '../../geometry/units.js'
import { PutAlertSchema } from '../../interface/alerts.js'
import { bind } from '../../interface/bind.js'
import type { Area } from '../../interface/context.js'
import { limits } from '../../limits.js'
import type { DrawnFeature, Position } from '../../notations/drawn.js'
import type { NamedAreas } from '../../selection/named-areas.js'
import { isObject, type JsonObject, member } from '../../selection/parse.js'
import type { Remarks } from '../../selection/remarks.js'
import { findGeocode } from '../../selection/shapes/area-names.js'
import { alertOf, type DrawnAlert, optionsOf } from '../../selection/shapes/cap.js'
import { xmlText } from '../../xml/read-xml.js'

export interface SentAlert {
  readonly alert: Alert
  /** The text of CAP, or the GeoJSON of api.weather.gov. */
  readonly cap: unknown
  readonly options: CapOptions
  /** A hash of the alert, byte for byte, and of the options. */
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
 * The drawing of an alert. A Cancel may have none, and so may an Update whose parts have all expired, if expired parts
 * are left out: it ends the alerts before it.
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

/**
 * One for each area of the alert of which something is drawn, with its exact `Drawing` and without its outline.
 *
 * @throws ServiceError  UnknownArea, or TooManyVertices where the geocodes have more than can be kept
 */
export function alertAreas(
  alert: Alert,
  { drawing, paths, geocodePaths }: DrawnAlert,
  areas: NamedAreas | undefined,
): Area[] {
  const room = { vertexCount: limits.vertexCount }
  const known = alert.infos.flatMap((info) => info.areas)
  const features = new Map<AlertArea, DrawnFeature[]>()
  for (const [at, feature] of drawing.features.entries()) {
    const path = paths[at]
    const own = known.find((area) => path === area.path || path.startsWith(`${area.path}.`))
    if (own === undefined) throw new Error('each feature is of an area')
    const pathOf = (name: string) => geocodePaths.get(name) ?? path
    const resolved = resolvedFeature(feature, pathOf, areas, room)
    features.set(own, [...(features.get(own) ?? []), resolved])
  }
  return Array.from(features, ([area, list], at) => ({
    Id: String(at + 1),
    Name: area.areaDesc,
    Drawing: { type: 'FeatureCollection', features: list },
  }))
}

/** A feature with a geometry, which selects the same recipients. */
function resolvedFeature(
  feature: DrawnFeature,
  pathOf: (geocode: string) => string,
  areas: NamedAreas | undefined,
  room: { vertexCount: number },
): DrawnFeature {
  const { area } = feature.properties
  if (area === undefined) return feature
  const names = typeof area === 'string' ? [area] : area
  const coordinates = names.flatMap((name) => {
    const path = pathOf(name)
    const { polygons } = findGeocode(areas, name, path)
    room.vertexCount -= polygons.vertices.length / 2
    if (room.vertexCount < 0) {
      const problem = `has geocodes with more than ${limits.vertexCount} positions, too many to be kept`
      throw new ServiceError('TooManyVertices', `${path} ${problem}`, path)
    }
    return drawnPolygons(polygons).map((drawn) => coordinatesOf(drawn, path))
  })
  return { type: 'Feature', geometry: { type: 'MultiPolygon', coordinates }, properties: {} }
}

/** A polygon as it lies, not cut at the antimeridian, since a cut would add positions. */
function coordinatesOf({ shell, holes }: DrawnPolygon, path: string) {
  return [shell, ...holes].map((ring): readonly Position[] => {
    if (ring.isPolar === true) {
      const problem = 'has a geocode whose area holds a pole, which cannot be kept'
      throw new ServiceError('TooComplex', `${path} ${problem}`, path)
    }
    const east = isTakenAsItLies(ring) ? 0 : UNITS_PER_TURN
    const positions: Position[] = []
    for (let at = 0; at < ring.length; at += 2) {
      positions.push([(ring[at] + east) / UNITS_PER_DEGREE, ring[at + 1] / UNITS_PER_DEGREE])
    }
    return [...positions, positions[0]]
  })
}
