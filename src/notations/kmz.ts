/**
 * KMZ: the main KML of an archive, with those that it links to in the same archive, as GDAL and QGIS write a file
 * for each layer.
 *
 * @module
 */
import { limits } from '../limits.js'
import { readXml, xmlText } from '../xml/read-xml.js'
import { hrefOf, networkLinksIn } from './kml/network-links.js'
import { KmzArchive } from './kmz/archive.js'

/**
 * One KML, for the reader of KML: that of the archive, in which other KML of the archive stand in the places of
 * the links to them. Links that are not followed are left, and so refused by that reader. It unpacks on other
 * threads.
 *
 * @param path  of the member that it came in
 * @param bytesMax  what all KML may have together, unpacked
 * @returns UTF-8
 * @throws ServiceError  InvalidKml, InvalidXml or TooComplex
 */
export async function unpackKmz(
  bytes: Uint8Array,
  path: string,
  bytesMax: number = limits.kmzBytes,
): Promise<Uint8Array> {
  const archive = await KmzArchive.open(bytes, path, bytesMax)
  const main = await archive.main()
  const text = xmlText(main, path)
  if (!text.includes('NetworkLink')) return main
  const links = [...networkLinksIn(readXml(text, path))]
  const places = [...text.matchAll(LINK)]
  // A link in a comment is none: what stands for one there could end the comment.
  if (links.length !== places.length) return main
  const pieces: string[] = []
  const taken = new Set<string>()
  let end = 0
  for (const [index, place] of places.entries()) {
    const href = hrefOf(links[index])
    // A hundred links to one file would cost as much as a hundred files.
    if (href === undefined || taken.has(href)) continue
    taken.add(href)
    const linked = await archive.file(href)
    if (linked === undefined) continue
    pieces.push(text.slice(end, place.index), withoutDeclaration(xmlText(linked, path)))
    end = place.index + place[0].length
  }
  pieces.push(text.slice(end))
  return Buffer.from(withoutDeclaration(pieces.join('')))
}

/**
 * Of any prefix. It has no others in it. A tag ends before the next one begins: otherwise each beginning of one in a
 * comment would be looked for an end through all the others.
 */
const LINK = /<((?:[\w.-]+:)?NetworkLink)(?=[\s>])[^<>]*>(?:(?!NetworkLink)[\s\S])*?<\/\1\s*>/g

/** An encoding that it names would not be that of the whole. */
function withoutDeclaration(text: string): string {
  return text.replace(/^\ufeff?\s*<\?xml\s[^>]*\?>/, '')
}
