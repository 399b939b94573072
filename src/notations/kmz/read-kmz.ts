/**
 * KMZ: the main KML of an archive, with those that it links to in the same archive, as programs write a file
 * for each layer.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { readXml, type XmlElement } from '../../xml/read-xml.js'
import type { DrawnCollection } from '../drawn.js'
import {
  drawnOf,
  type FileBounds,
  type FileFeature,
  REQUEST_BOUNDS,
  XmlReading,
} from '../file-feature.js'
import { hrefOf, networkLinksIn } from '../kml/network-links.js'
import { kmlRoot, placemarksOf } from '../kml/read-kml.js'
import { KmzArchive } from './archive.js'

/**
 * The shapes alone, as those of KML. It unpacks on another thread, and reads on this one.
 *
 * @param path  of the member that it came in
 * @throws ServiceError  InvalidKml, InvalidXml, TooComplex or TooManyVertices
 */
export async function readKmz(bytes: Uint8Array, path: string): Promise<DrawnCollection> {
  return drawnOf((await kmzFeatures(bytes, path)).map(({ geometry }) => geometry))
}

export interface KmzBounds extends FileBounds {
  /** What all KML of the archive may have together, unpacked. */
  readonly unpackedBytes: number
}

/** The placemarks with names, ids and data; the other values are as above. */
export async function kmzFeatures(
  bytes: Uint8Array,
  path: string,
  bounds: KmzBounds = { ...REQUEST_BOUNDS, unpackedBytes: limits.kmzBytes },
): Promise<FileFeature[]> {
  const archive = await KmzArchive.open(bytes, path, bounds.unpackedBytes)
  const reading = new XmlReading('InvalidKml', path, bounds)
  const root = kmlRoot(readXml(await archive.main(), path, bounds), reading)
  const linked = new Map<XmlElement, XmlElement>()
  const hrefs = new Set<string>()
  for (const link of networkLinksIn(root)) {
    const href = hrefOf(link)
    // One of a hundred links to one file would cost as much as a hundred files.
    if (href === undefined || hrefs.has(href)) continue
    hrefs.add(href)
    const content = await archive.file(href)
    if (content === undefined) continue
    const own = readXml(content, path, bounds)
    linked.set(
      link,
      reading.linked(() => kmlRoot(own, reading)),
    )
  }
  return placemarksOf(root, reading, linked)
}
