/**
 * WKT (OGC 06-103r4, 7.2) and EWKT, as PostGIS writes it: longitude before latitude.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import { limits } from '../limits.js'
import type { DrawnGeometry, Position } from './drawn.js'
import { expectWgs84, refuseSurface } from './well-known.js'

/**
 * @param value  a text in any letter case; Z and M, with or without a word for them, are read past
 * @returns an empty geometry has no coordinates, and an empty member of a collection is left out
 * @throws ServiceError  InvalidWkt with the character, UnknownSpatialReference for an SRID other than
 * 4326, UnknownGeometryType for curves and surfaces, TooManyVertices, TooComplex
 */
export function readWkt(value: unknown, path: string): DrawnGeometry {
  if (typeof value !== 'string') {
    throw new ServiceError('InvalidWkt', `${path} must be a text of WKT`, path)
  }
  const parser = new WktParser(value, path)
  parser.spatialReference()
  const geometry = parser.geometry(0)
  parser.end()
  return geometry
}

type Dimensions = 2 | 3 | 4

/** The word beside a type, and how many numbers a position has then. */
const DIMENSIONS: ReadonlyMap<string, Dimensions> = new Map([
  ['Z', 3],
  ['M', 3],
  ['ZM', 4],
])

const TYPE =
  /^(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON|GEOMETRYCOLLECTION)(ZM|Z|M)?$/

const SPACE = /[ \t\r\n]*/y
const WORD = /[A-Za-z]+/y
const SRID = /SRID[ \t\r\n]*=[ \t\r\n]*(\d{1,9})[ \t\r\n]*;/iy
/** What follows it must end it: 1.2.3 and 0x10 are no numbers, nor are two without a space between. */
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?=[ \t\r\n,)]|$)/y

class WktParser {
  readonly #text: string
  readonly #path: string
  #at = 0
  /** Numbers of a position; told by a word, or by the first position of a geometry. */
  #dimensions: Dimensions | undefined
  #positionCount = 0

  constructor(text: string, path: string) {
    this.#text = text
    this.#path = path
  }

  spatialReference(): void {
    const match = this.#match(SRID)
    if (match !== undefined) expectWgs84(Number(match[1]), this.#path)
  }

  geometry(depth: number): DrawnGeometry {
    const type = this.#type()
    switch (type) {
      case 'POINT':
        return { type: 'Point', coordinates: this.#orEmpty(() => this.#bracketedPosition()) }
      case 'LINESTRING':
        return { type: 'LineString', coordinates: this.#orEmpty(() => this.#positions()) }
      case 'POLYGON':
        return { type: 'Polygon', coordinates: this.#orEmpty(() => this.#rings()) }
      case 'MULTIPOINT':
        return { type: 'MultiPoint', coordinates: this.#members(() => this.#point()) }
      case 'MULTILINESTRING':
        return { type: 'MultiLineString', coordinates: this.#members(() => this.#positions()) }
      case 'MULTIPOLYGON':
        return { type: 'MultiPolygon', coordinates: this.#members(() => this.#rings()) }
      default:
        return { type: 'GeometryCollection', geometries: this.#collected(depth) }
    }
  }

  end(): void {
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#fail('must end after one geometry, but goes on')
  }

  /** @returns the type without its dimensions, which are kept */
  #type(): string {
    const word = this.#word()
    if (word === undefined) this.#fail('must have the type of a geometry')
    const match = TYPE.exec(word)
    if (match === null) {
      refuseSurface(word.replace(/(?:ZM|Z|M)$/, ''), this.#path)
      this.#fail('must have the type of a geometry, such as POINT or POLYGON')
    }
    const [, type, suffix] = match
    const at = this.#at
    const beside = suffix ?? this.#word()
    this.#dimensions = beside === undefined ? undefined : DIMENSIONS.get(beside)
    // Another word is none of dimensions: EMPTY, or what nobody knows.
    if (suffix === undefined && this.#dimensions === undefined) this.#at = at
    return type
  }

  #collected(depth: number): readonly DrawnGeometry[] {
    if (depth >= limits.collectionDepthCount) {
      const levels = limits.collectionDepthCount
      this.#refuse('TooComplex', `nests collections deeper than ${levels} levels`)
    }
    return this.#orEmpty(() => this.#list(() => this.geometry(depth + 1)))
  }

  #orEmpty<T>(read: () => T): T | readonly [] {
    return this.#isEmpty() ? [] : read()
  }

  #members<T>(read: () => T): readonly T[] {
    if (this.#isEmpty()) return []
    const members = this.#list(() => (this.#isEmpty() ? undefined : read()))
    return members.filter((member) => member !== undefined)
  }

  #list<T>(read: () => T): T[] {
    this.#expect('(')
    const items = [read()]
    while (this.#takes(',')) items.push(read())
    this.#expect(')')
    return items
  }

  #rings(): Position[][] {
    return this.#list(() => this.#positions())
  }

  #positions(): Position[] {
    return this.#list(() => this.#position())
  }

  #bracketedPosition(): Position {
    this.#expect('(')
    const position = this.#position()
    this.#expect(')')
    return position
  }

  /** A member of a MULTIPOINT is written with brackets of its own, or, as of old, without. */
  #point(): Position {
    this.#skipSpace()
    return this.#text[this.#at] === '(' ? this.#bracketedPosition() : this.#position()
  }

  #position(): Position {
    this.#countPosition()
    const lng = this.#number()
    const lat = this.#number()
    let count = 2
    while (this.#isBeforeNumber()) {
      this.#number()
      count++
    }
    this.#dimensions ??= count === 3 || count === 4 ? count : 2
    if (count !== this.#dimensions) {
      this.#fail(`must have ${this.#dimensions} numbers in each position of the geometry`)
    }
    return [lng, lat]
  }

  #isBeforeNumber(): boolean {
    this.#skipSpace()
    const next = this.#text[this.#at]
    return next !== undefined && next !== ',' && next !== ')'
  }

  #number(): number {
    const match = this.#match(NUMBER)
    const number = Number(match?.[0])
    if (!Number.isFinite(number)) this.#fail(`must have a number${this.#found()}`)
    return number
  }

  #isEmpty(): boolean {
    const at = this.#at
    if (this.#word() === 'EMPTY') {
      this.#countPosition()
      return true
    }
    this.#at = at
    return false
  }

  /** What is empty counts as well, or nothing would bound how many there are. */
  #countPosition(): void {
    if (++this.#positionCount > limits.vertexCount) {
      this.#refuse('TooManyVertices', `has more than ${limits.vertexCount} positions`)
    }
  }

  #word(): string | undefined {
    return this.#match(WORD)?.[0].toUpperCase()
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) this.#fail(`must have "${sign}"${this.#found()}`)
  }

  #takes(sign: string): boolean {
    this.#skipSpace()
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    this.#skipSpace()
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) return undefined
    this.#at = pattern.lastIndex
    return match
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }

  /** What stands there instead: a sign, but no word and no number, which may be a part of a position. */
  #found(): string {
    this.#skipSpace()
    const sign = this.#text[this.#at]
    if (sign === undefined) return ', but ends'
    if (sign === ',') return ', not ",": a position is longitude and latitude with a space between'
    return sign === '(' || sign === ')' ? `, not "${sign}"` : ''
  }

  #fail(problem: string): never {
    return this.#refuse('InvalidWkt', problem)
  }

  #refuse(code: ServiceErrorCode, problem: string): never {
    const message = `${this.#path} ${problem} (character ${this.#at + 1})`
    throw new ServiceError(code, message, this.#path)
  }
}
