/**
 * The readers of bodies that must agree.
 *
 * @module
 */
import { pathToFileURL } from 'node:url'
import { requestOf } from '../../../src/selection/bare-drawing.js'
import { parse } from '../../../src/selection/parse.js'
import { readShortDrawing } from '../../../src/selection/shapes/short-drawing.js'
import { parseRequest, SentDrawing } from '../../../src/selection/skeleton/sent-drawing.js'
import { validate } from '../../../src/selection/validate.js'
import type { Reader } from './compare.js'

/** As the service reads a body. */
export const shortWay: Reader = (body) => validate(parseRequest(body))

/** The same when another body is read before this one is looked at. */
export const interrupted: Reader = (body) => {
  const request = parseRequest(body)
  parseRequest(OTHER)
  return validate(request)
}

/** As every body was read before there was a short way. */
export const longWay: Reader = (body) => validate(requestOf(parse(body)))

/** The long way of another build, such as one of an older commit. */
export async function longWayOf(dist: string): Promise<Reader> {
  const load = (path: string) => import(pathToFileURL(`${dist}/src/selection/${path}.js`).href)
  const [other, { validate: validateThere }] = await Promise.all([load('parse'), load('validate')])
  return (body) => validateThere(other.parse(body))
}

/** Whether a body is read the short way to its end. */
export function isShort(body: Uint8Array): boolean {
  try {
    const drawing = Object.values(parseRequest(body)).find((value) => value instanceof SentDrawing)
    return drawing?.readShort('geoJSON', readShortDrawing) !== undefined
  } catch {
    return false
  }
}

const OTHER = Buffer.from('{"geoJSON":{"type":"Point","coordinates":[8,47]}}')
