/**
 * Reads XML into elements, safely by construction: a document type is refused, so that there are no entities
 * but those of XML itself and nothing outside of the document is ever read. Depth, elements, attributes and
 * bytes are bounded while it is read.
 *
 * @module
 */
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { textDecoder } from '../text-decoder.js'

export interface XmlElement {
  /** Without its prefix. */
  readonly name: string
  /** The URI of its namespace; empty for none. */
  readonly namespace: string
  /** By their names without prefixes; declarations of namespaces are left out. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  /** Its own text and CDATA, without that of its children. */
  readonly text: string
  /** Where it begins; 1 is the first line. */
  readonly line: number
}

/** What a document may have in all. */
interface XmlBounds {
  readonly elementCount: number
  readonly attributeCount: number
  /** Where it is bounded in length. */
  readonly charCount?: number
}

const OF_A_BODY: XmlBounds = {
  elementCount: limits.xmlElementCount,
  attributeCount: limits.xmlAttributeCount,
  charCount: limits.xmlCharCount,
}

/**
 * @param source  bytes in UTF-8, UTF-16, ISO-8859-1, Windows-1252 or US-ASCII, or a text
 * @param path  of the member that it came in, which an error names
 * @param bounds  those of a body unless given; a file of an import may have more
 * @returns the root element
 * @throws ServiceError  InvalidXml, with the line and without a word of the document, or TooComplex
 */
export function readXml(
  source: Uint8Array | string,
  path: string,
  bounds: XmlBounds = OF_A_BODY,
): XmlElement {
  const text = typeof source === 'string' ? source : xmlText(source, path)
  const { charCount = Number.POSITIVE_INFINITY } = bounds
  if (text.length > charCount) {
    const problem = `has more than ${charCount} characters`
    throw new ServiceError('TooComplex', `${path} ${problem}`, path)
  }
  const builder = new TreeBuilder(path, bounds)
  const space = /^\s*/.exec(text)?.[0] ?? ''
  if (space.length < text.length && text[space.length] !== '<') {
    builder.fail('is no XML, which begins with <', space.split('\n').length)
  }
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', () => builder.fail('is not well-formed XML', parser.line))
  parser.on('doctype', () => {
    builder.fail('has a document type, which is not read: leave out <!DOCTYPE …>', parser.line)
  })
  parser.on('opentagstart', () => builder.begin(parser.line))
  parser.on('attribute', () => builder.attribute())
  parser.on('opentag', (tag) => builder.open(tag))
  parser.on('text', (value) => builder.text(value))
  parser.on('cdata', (value) => builder.text(value))
  parser.on('closetag', () => builder.close())
  // In pieces, so that bounds hold before the rest is looked at. A leading byte order mark is no text.
  const begin = text.charCodeAt(0) === 0xfeff ? 1 : 0
  for (let at = begin; at < text.length; at += PIECE_CHAR_COUNT) {
    parser.write(text.slice(at, at + PIECE_CHAR_COUNT))
  }
  parser.close()
  return builder.root()
}

/**
 * The text of a document, by its byte order mark, its declaration, or else UTF-8; nothing of it is parsed.
 *
 * @throws ServiceError  InvalidXml
 */
export function xmlText(bytes: Uint8Array, path: string): string {
  const encoding = encodingOf(bytes)
  const label = ENCODINGS.get(encoding)
  const problem = label === undefined ? 'is in an encoding that is not read' : undefined
  try {
    if (label !== undefined) return textDecoder(label, { fatal: true })(bytes)
  } catch {
    // As below.
  }
  const why = problem ?? 'is not in the encoding that it says, or that is assumed: UTF-8'
  throw new ServiceError('InvalidXml', `${path} ${why}`, path)
}

const PIECE_CHAR_COUNT = 16_384

class TreeBuilder {
  readonly #path: string
  readonly #bounds: XmlBounds
  readonly #open: GrowingElement[] = []
  #root: GrowingElement | undefined
  #elementCount = 0
  #attributeCount = 0
  #line = 1

  constructor(path: string, bounds: XmlBounds) {
    this.#path = path
    this.#bounds = bounds
  }

  begin(line: number): void {
    this.#line = line
    if (++this.#elementCount > this.#bounds.elementCount) {
      this.#tooComplex(`has more than ${this.#bounds.elementCount} elements`)
    }
    if (this.#open.length >= limits.xmlDepthCount) {
      this.#tooComplex(`nests elements deeper than ${limits.xmlDepthCount} levels`)
    }
  }

  attribute(): void {
    if (++this.#attributeCount > this.#bounds.attributeCount) {
      this.#tooComplex(`has more than ${this.#bounds.attributeCount} attributes`)
    }
  }

  open({ local, uri, attributes }: SaxesTagNS): void {
    const own = new Map<string, string>()
    for (const each of Object.values(attributes)) {
      if (each.prefix === 'xmlns' || each.name === 'xmlns') continue
      // One of another vocabulary does not take the place of the element's own.
      if (each.prefix === '' || !own.has(each.local)) own.set(each.local, each.value)
    }
    const element = new GrowingElement(local, uri, own, this.#line)
    this.#open.at(-1)?.children.push(element)
    this.#root ??= element
    this.#open.push(element)
  }

  text(value: string): void {
    this.#open.at(-1)?.texts.push(value)
  }

  close(): void {
    this.#open.pop()
  }

  root(): XmlElement {
    return this.#root ?? this.fail('has no element', 1)
  }

  fail(problem: string, line: number): never {
    throw new ServiceError('InvalidXml', `${this.#path} ${problem} (line ${line})`, this.#path)
  }

  #tooComplex(problem: string): never {
    throw new ServiceError('TooComplex', `${this.#path} ${problem}`, this.#path)
  }
}

class GrowingElement implements XmlElement {
  readonly children: GrowingElement[] = []
  readonly texts: string[] = []
  readonly name: string
  readonly namespace: string
  readonly attributes: ReadonlyMap<string, string>
  readonly line: number

  constructor(
    name: string,
    namespace: string,
    attributes: ReadonlyMap<string, string>,
    line: number,
  ) {
    this.name = name
    this.namespace = namespace
    this.attributes = attributes
    this.line = line
  }

  get text(): string {
    return this.texts.join('')
  }
}

/** What its byte order mark or its declaration says, in lower case. */
function encodingOf(bytes: Uint8Array): string {
  const [first, second, third] = bytes
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  const start = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1')
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']/.exec(start)
  return declared?.[1].toLowerCase() ?? 'utf-8'
}

/** More than any declaration takes. */
const DECLARATION_BYTES = 256

/** Names of encodings, and how a TextDecoder calls them. */
const ENCODINGS: ReadonlyMap<string, string> = new Map([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['us-ascii', 'utf-8'],
  ['ascii', 'utf-8'],
  ['utf-16', 'utf-16le'],
  ['utf-16le', 'utf-16le'],
  ['utf-16be', 'utf-16be'],
  ['iso-8859-1', 'windows-1252'],
  ['latin1', 'windows-1252'],
  ['windows-1252', 'windows-1252'],
])
