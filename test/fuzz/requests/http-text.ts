/**
 * One valid HTTP request of whatever content.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'
import type { FuzzWorld } from '../world.js'
import { type Asked, randomAsked } from './asked.js'
import { randomBody } from './bodies.js'
import { type EncodedBody, encodedBody } from './encodings.js'
import { randomHeaders } from './headers.js'
import { randomTarget } from './targets.js'

export interface HttpText {
  readonly method: string
  /** Request line and headers, up to the empty line. */
  readonly head: Buffer
  /** With a length, since any other is refused, and its connection closed at once. */
  readonly body: Buffer
}

/** @param extraLines  headers, each character one byte */
export function randomHttpText(
  world: FuzzWorld,
  random: Random,
  extraLines: readonly string[] = [],
): HttpText {
  const asked = randomAsked(world, random)
  const { method, url, isBatch } = randomTarget(asked, random)
  const lines = [`${method} ${url} HTTP/1.1`, ...randomHeaders(random), ...extraLines]
  // Most of those that read have no body, and some have one all the same.
  const hasBody = !BODILESS.includes(method) || random.unit() < 0.02
  const body = hasBody ? framedBody(asked, isBatch, lines, random) : Buffer.alloc(0)
  return { method, head: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body }
}

const BODILESS = ['GET', 'HEAD', 'OPTIONS', 'get', 'TRACE']

/** Adds the headers that go with the body. */
function framedBody({ members }: Asked, isBatch: boolean, lines: string[], random: Random): Buffer {
  const { contentType, text } = randomBody(members, isBatch, random)
  const { bytes, contentEncoding }: EncodedBody = encodedBody(text, random)
  if (contentType !== undefined) lines.push(`Content-Type: ${contentType}`)
  if (contentEncoding !== undefined) lines.push(`Content-Encoding: ${contentEncoding}`)
  lines.push(`Content-Length: ${bytes.length}`)
  return bytes
}
