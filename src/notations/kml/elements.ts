/**
 * What the elements of KML are to a reader of shapes: taken, refused, or without a place.
 *
 * @module
 */
import type { XmlElement } from '../../xml/read-xml.js'
import type { XmlReading } from '../file-feature.js'

/** Of KML 2.0 to 2.3, of Google's extensions, or of no namespace, as PostGIS writes geometries. */
export function isKml({ namespace }: XmlElement): boolean {
  return namespace === '' || NAMESPACE.test(namespace)
}

const NAMESPACE =
  /^https?:\/\/(?:(?:www\.opengis\.net|earth\.google\.com)\/kml\/2(?:\.\d)?|www\.google\.com\/kml\/ext\/2\.\d)$/

/** What holds features. */
export const CONTAINERS: readonly string[] = ['kml', 'Document', 'Folder']

/** The children of this name. */
export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name && isKml(child))
}

/** The one child of this name. */
export function childOf(element: XmlElement, name: string, reading: XmlReading): XmlElement {
  const [child, second] = childrenOf(element, name)
  if (child === undefined) reading.fail(`has a ${element.name} without ${name}`, element)
  if (second !== undefined) reading.fail(`has a ${element.name} with more than one ${name}`, second)
  return child
}

/**
 * Refuses what an element holds beside what is taken of it, where that has a place, and text.
 *
 * @param element  one of KML, whose name is known
 * @param taken  names of children that are taken, or looked at elsewhere
 */
export function refuseOthers(
  element: XmlElement,
  taken: (name: string) => boolean,
  reading: XmlReading,
): void {
  for (const child of element.children) {
    if (!isKml(child) || !taken(child.name)) refuseUnlessPlaceless(child, reading)
  }
  if (/[^ \t\r\n]/.test(element.text)) {
    reading.fail(`has text between the elements of a ${element.name}`, element)
  }
}

/**
 * Of an element that is not taken: views, styles, times and data are of no concern here, and neither is
 * what other programs add, unless there is a place in it.
 */
function refuseUnlessPlaceless(element: XmlElement, reading: XmlReading): void {
  if (isKml(element)) {
    const refusal = REFUSED.get(element.name)
    if (refusal !== undefined) reading.fail(`has a ${element.name}, ${refusal}`, element)
    if (OPAQUE.has(element.name)) return
  }
  if (PLACES.has(element.name.toLowerCase())) {
    reading.fail('has a place, or an element of that name, where KML has none', element)
  }
  for (const child of element.children) refuseUnlessPlaceless(child, reading)
}

/** What has a place and cannot be taken, and what to do. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['NetworkLink', 'which is not followed: send what it links to'],
  ['NetworkLinkControl', 'which changes what is elsewhere: send the shapes themselves'],
  ['GroundOverlay', 'which is an image: draw its area as a Polygon'],
  ['PhotoOverlay', 'which is an image: draw its area as a Polygon'],
  ['Model', 'which is no shape on the ground: draw its area as a Polygon'],
])

/** What may hold names of places, and yet is about what is looked at, or is data. */
const OPAQUE: ReadonlySet<string> = new Set([
  'ExtendedData',
  'Metadata',
  'Region',
  'Tour',
  'ScreenOverlay',
])

/** In lower case, so that what is nearly one of them is not passed over. */
const PLACES: ReadonlySet<string> = new Set(
  [
    'Placemark',
    'Point',
    'LineString',
    'LinearRing',
    'Polygon',
    'MultiGeometry',
    'Track',
    'MultiTrack',
    'outerBoundaryIs',
    'innerBoundaryIs',
    'coordinates',
    'coord',
    'LatLonBox',
    'LatLonAltBox',
    'LatLonQuad',
    ...REFUSED.keys(),
  ].map((name) => name.toLowerCase()),
)
