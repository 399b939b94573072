/**
 * KML 2.0 to 2.3 as GeoJSON: each placemark is a feature, in the order of the document.
 *
 * This maps the elements that the one reader of XML gives, and no library does. Libraries for KML are made to
 * show what they can: they pass over a position that is no number, a link, a ring without a boundary, and make
 * a polygon of an image. To find that out afterwards one has to walk the elements as this does, with a second
 * parser of XML in between. Tests compare it with such a library where that takes everything.
 *
 * What has a place is taken or refused, with its line. What has none is passed over: styles, views, times,
 * and what other programs add. Placemarks that are hidden, or shown only from near or at a time, are taken.
 *
 * @module
 */
import { readXml, type XmlElement } from '../../xml/read-xml.js'
import type { DrawnCollection } from '../drawn.js'
import {
  drawnOf,
  type FileBounds,
  type FileFeature,
  REQUEST_BOUNDS,
  XmlReading,
} from '../file-feature.js'
import { CONTAINERS, childrenOf, isKml, refuseOthers } from './elements.js'
import { extendedDataOf } from './extended-data.js'
import { isGeometry, readGeometry } from './geometry.js'

/**
 * The shapes of a document alone: nothing that a placemark says of itself changes whom it selects.
 *
 * @param source  a document, or one feature or geometry of it
 * @param path  of the member that it came in
 * @throws ServiceError  InvalidKml with the line, InvalidXml, TooComplex or TooManyVertices
 */
export function readKml(source: Uint8Array | string, path: string): DrawnCollection {
  return drawnOf(kmlFeatures(source, path).map(({ geometry }) => geometry))
}

/** The placemarks with names, ids and data; the other values are as above. */
export function kmlFeatures(
  source: Uint8Array | string,
  path: string,
  bounds: FileBounds = REQUEST_BOUNDS,
): FileFeature[] {
  const reading = new XmlReading('InvalidKml', path, bounds)
  const isArchive = typeof source !== 'string' && source[0] === 0x50 && source[1] === 0x4b
  if (isArchive) reading.fail('is an archive: send it as KMZ', { line: 1 })
  const root = readXml(source, path, bounds)
  if (!isKml(root) || !isTaken(root.name)) {
    reading.fail('is not KML: its first element must be kml, of a namespace of KML', root)
  }
  const features: FileFeature[] = []
  readFeature(root, reading, features)
  return features
}

function isTaken(name: string): boolean {
  return CONTAINERS.includes(name) || name === 'Placemark' || isGeometry(name)
}

/** A container or a placemark; a geometry alone, as databases write it, is a placemark without a name. */
function readFeature(element: XmlElement, reading: XmlReading, into: FileFeature[]): void {
  if (isGeometry(element.name)) {
    const geometry = readGeometry(element, reading)
    into.push({ id: undefined, name: undefined, properties: {}, geometry })
  } else if (element.name === 'Placemark') into.push(readPlacemark(element, reading))
  else {
    // One document within another is what stands for a link in a KMZ.
    const isFeature = (name: string) => isTaken(name) && !isGeometry(name)
    refuseOthers(element, isFeature, reading)
    for (const child of element.children) {
      if (isKml(child) && isFeature(child.name)) readFeature(child, reading, into)
    }
  }
}

function readPlacemark(element: XmlElement, reading: XmlReading): FileFeature {
  refuseOthers(element, isGeometry, reading)
  const [geometry, second] = element.children.filter((child) => isGeometry(child.name))
  if (second !== undefined) {
    reading.fail('has a Placemark with two geometries: put them into a MultiGeometry', second)
  }
  return {
    id: element.attributes.get('id'),
    name: childrenOf(element, 'name')[0]?.text.trim(),
    properties: extendedDataOf(element),
    geometry: geometry === undefined ? null : readGeometry(geometry, reading),
  }
}
