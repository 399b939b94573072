/**
 * The drawing of a request whose positions lie in the skeleton of this thread, until the next body
 * is read. Whoever reads it later than that reads a copy of the body, the long way.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { lowerCase } from '../../interface/letter-case.js'
import { isBareDrawing, requestOf } from '../bare-drawing.js'
import { isObject, type JsonObject, parse } from '../parse.js'
import { type Skeleton, skeletonOfThread } from './skeleton.js'

/**
 * Reads the body of a recipient request, which may be a drawing alone. The drawing may be a `SentDrawing`;
 * all else is as `parse` returns it, and nothing refers to the body afterwards.
 *
 * @throws ServiceError  as `parse`
 */
export function parseRequest(body: Uint8Array): JsonObject {
  newest?.outlive()
  newest = undefined
  const skeleton = skeletonOfThread()
  const request = skeleton?.read(body)
  if (skeleton === undefined || !isObject(request)) return requestOf(parse(body))
  if (skeleton.arrayCount === 0) return requestOf(request)
  if (isBareDrawing(request)) {
    newest = new SentDrawing(undefined, request, skeleton)
    return { geoJSON: newest }
  }
  const read = withSentDrawing(request, skeleton)
  if (read === undefined) newest = undefined
  return read ?? requestOf(parse(body))
}

/**
 * A copy, since the request may be that of other bodies as well. Nothing where there is not one
 * drawing: of two, it takes the long way to word what is wrong.
 */
function withSentDrawing(request: JsonObject, skeleton: Skeleton): JsonObject | undefined {
  const members: Record<string, unknown> = {}
  for (const name in request) {
    const value = request[name]
    // It would become what the copy inherits from.
    if (name === '__proto__') return undefined
    // Positions of a topology are none of GeoJSON.
    if (lowerCase(name) === 'topojson') return undefined
    if (name !== 'geoJSON' && lowerCase(name) !== 'geojson') {
      members[name] = value
      continue
    }
    if (newest !== undefined) return undefined
    newest = new SentDrawing(name, value, skeleton)
    members[name] = newest
  }
  return newest === undefined ? undefined : members
}

/** The drawing of the last body, until it is read. */
let newest: SentDrawing | undefined

export class SentDrawing {
  /** Of the member; undefined where the drawing is the whole body. */
  readonly #name: string | undefined
  readonly #value: unknown
  readonly #skeleton: Skeleton
  readonly #bodyIndex: number
  /** A copy, if another body was read before the drawing was. */
  #body: Uint8Array | undefined

  constructor(name: string | undefined, value: unknown, skeleton: Skeleton) {
    this.#name = name
    this.#value = value
    this.#skeleton = skeleton
    this.#bodyIndex = skeleton.bodyCount
  }

  /**
   * Calls `read` with the drawing, in which numbers stand for arrays of positions. Only once, since
   * `read` may change these.
   *
   * @returns undefined, too, when the positions are no longer there
   */
  readShort<Result>(
    path: string,
    read: (value: unknown, path: string, skeleton: Skeleton) => Result | undefined,
  ): Result | undefined {
    if (this.#body !== undefined) return undefined
    assert(newest === this, 'a drawing is read twice')
    newest = undefined
    return read(this.#value, path, this.#skeleton)
  }

  /** The drawing as it was sent. */
  whole(): unknown {
    const isThere = this.#body !== undefined || this.#skeleton.bodyCount === this.#bodyIndex
    assert(isThere, 'a drawing is read after the next body')
    const body = parse(this.#body ?? this.#skeleton.body)
    return this.#name === undefined ? body : body[this.#name]
  }

  /** Keeps the body: another one takes its place. */
  outlive(): void {
    this.#body = Buffer.from(this.#skeleton.body)
  }
}
