/**
 * Areas of KML 2.2 (OGC 07-147r2): its placemarks, with their names and the data that they are extended
 * by. KML is always in WGS 84, longitude before latitude.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { DrawnGeometry, Position } from '../../notations/drawn.js'
import { readXml, type XmlElement } from '../../xml/read-xml.js'
import { type AreaFeature, type AreaFile, readingFrom, refuse } from './area-file.js'
import { readWhole } from './whole-file.js'

export async function openKml(path: string, file: string): Promise<AreaFile> {
  const bytes = await readWhole(path, file, 'KML', limits.areaTextBytes)
  const placemarks: XmlElement[] = []
  collect(documentOf(bytes, file), file, placemarks)
  const fields = new Set<string>()
  for (const placemark of placemarks) {
    for (const name of Object.keys(propertiesOf(placemark))) fields.add(name)
  }
  return {
    fields: [...fields],
    crs: { kind: 'wgs84' },
    featureCount: placemarks.length,
    features: readingFrom(file, 'KML', features(placemarks, file)),
    close: async () => undefined,
  }
}

function* features(placemarks: readonly XmlElement[], file: string): Generator<AreaFeature> {
  let position = 0
  for (const placemark of placemarks) {
    position++
    const geometries = placemark.children.flatMap((child) => {
      const geometry = geometryOf(child, `${file}: feature ${position}`)
      return geometry === undefined ? [] : [geometry]
    })
    const [geometry = null] = geometries
    yield {
      properties: propertiesOf(placemark),
      geometry: geometries.length > 1 ? { type: 'GeometryCollection', geometries } : geometry,
    }
  }
}

const BOUNDS = {
  elementCount: limits.areaElementCount,
  attributeCount: limits.areaElementCount,
}

function documentOf(bytes: Uint8Array, file: string): XmlElement {
  try {
    const root = readXml(bytes, file, BOUNDS)
    return root.name === 'kml' || root.name === 'Document' || root.name === 'Folder'
      ? root
      : refuse(file, `it is XML, and no KML: its root is <${root.name.slice(0, 40)}>`)
  } catch (error) {
    if (error instanceof ServiceError) return refuse(file, error.message.slice(file.length).trim())
    throw error
  }
}

function collect(element: XmlElement, file: string, into: XmlElement[]): void {
  for (const child of element.children) {
    if (child.name === 'Placemark') into.push(child)
    else if (CONTAINERS.has(child.name)) collect(child, file, into)
    else if (child.name === 'NetworkLink') {
      refuse(
        file,
        `it links to another file (line ${child.line}), which is not read: export all in one file`,
      )
    }
  }
}

const CONTAINERS: ReadonlySet<string> = new Set(['Document', 'Folder'])

function propertiesOf(placemark: XmlElement): Record<string, string> {
  const properties: Record<string, string> = {}
  const add = (name: string | undefined, value: string) => {
    if (name === undefined) return
    Object.defineProperty(properties, name, { value, enumerable: true, configurable: true })
  }
  const visit = ({ name, text, attributes, children }: XmlElement) => {
    if (name === 'name' || name === 'description') add(name, text.trim())
    else if (name === 'SimpleData') add(attributes.get('name'), text.trim())
    else if (name === 'Data') {
      const value = children.find((child) => child.name === 'value')
      add(attributes.get('name'), value?.text.trim() ?? '')
    } else if (name === 'ExtendedData' || name === 'SchemaData') children.forEach(visit)
  }
  placemark.children.forEach(visit)
  return properties
}

/** Undefined for what is no geometry. */
function geometryOf(element: XmlElement, where: string): DrawnGeometry | undefined {
  const { name, children, line } = element
  if (name === 'Polygon') return { type: 'Polygon', coordinates: ringsOf(element, where) }
  if (name === 'MultiGeometry') {
    const geometries = children.flatMap((child) => geometryOf(child, where) ?? [])
    return { type: 'GeometryCollection', geometries }
  }
  if (name === 'Point') return { type: 'Point', coordinates: [] }
  if (name === 'LineString' || name === 'LinearRing') return { type: 'LineString', coordinates: [] }
  if (OTHER_GEOMETRIES.has(name))
    refuse(where, `it has a <${name}> (line ${line}), which is no area`)
  return undefined
}

const OTHER_GEOMETRIES: ReadonlySet<string> = new Set(['Model', 'Track', 'MultiTrack'])

function ringsOf({ children, line }: XmlElement, where: string): Position[][] {
  const shells: Position[][] = []
  const holes: Position[][] = []
  for (const boundary of children) {
    const into =
      boundary.name === 'outerBoundaryIs'
        ? shells
        : boundary.name === 'innerBoundaryIs'
          ? holes
          : undefined
    const rings = boundary.children.filter(({ name }) => name === 'LinearRing')
    into?.push(...rings.map((ring) => positionsOf(ring, where)))
  }
  if (shells.length !== 1)
    refuse(where, `a polygon has ${shells.length} outer boundaries (line ${line})`)
  return [...shells, ...holes]
}

function positionsOf({ children, line }: XmlElement, where: string): Position[] {
  const text = children.find(({ name }) => name === 'coordinates')?.text ?? ''
  return text
    .trim()
    .split(/\s+/)
    .map((tuple) => {
      const [lng, lat] = POSITION.exec(tuple)?.slice(1).map(Number) ?? []
      if (lng === undefined) {
        refuse(where, `a ring has coordinates that are no longitude,latitude (after line ${line})`)
      }
      return [lng, lat] as const
    })
}

const NUMBER = '([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?)'
/** A height is left out. */
const POSITION = new RegExp(`^${NUMBER},${NUMBER}(?:,[^,]*)?$`)
