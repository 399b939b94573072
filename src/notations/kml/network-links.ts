/**
 * Links from one KML to another. Only such as show all of a file of the same archive, always, are followed: a
 * link with a region or a time shows a part, or another file later.
 *
 * @module
 */
import type { XmlElement } from '../../xml/read-xml.js'
import { CONTAINERS, childrenOf, isKml } from './elements.js'

/** Those of a document that would be read, in their order. */
export function* networkLinksIn(element: XmlElement): Generator<XmlElement> {
  for (const child of element.children) {
    if (!isKml(child)) continue
    if (child.name === 'NetworkLink') yield child
    else if (CONTAINERS.includes(child.name)) yield* networkLinksIn(child)
  }
}

/** The name of the file in the archive, or undefined if the link is another one. */
export function hrefOf(link: XmlElement): string | undefined {
  if (childrenOf(link, 'Region').length > 0) return undefined
  const [target, second] = ['Link', 'Url'].flatMap((name) => childrenOf(link, name))
  if (target === undefined || second !== undefined || target.children.length !== 1) return undefined
  const href = childrenOf(target, 'href')[0]?.text.trim()
  // Nothing of it but a name: no scheme, no host, no query, no way up.
  if (href === undefined || !/^[^:?#%\\]+\.kml$/i.test(href)) return undefined
  return href.replace(/^\.\//, '')
}
