/**
 * Bodies of answers as text.
 *
 * @module
 */
import { type Body, writeBody } from '../../../src/format/answer.js'
import { memorySink } from './memory-sink.js'

export async function bodyText(body: Body): Promise<string> {
  const sink = memorySink()
  await writeBody(body, sink)
  return sink.bytes().toString()
}
