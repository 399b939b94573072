/**
 * Texts that are not UTF-8, as UTF-8.
 *
 * DuckDB reads some encodings itself, but the lines of a file are surveyed beside it, and the line of
 * each rejected row is told by both. So a text is written as UTF-8 first.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1'] as const
export type Encoding = (typeof encodings)[number]

/** The encoding that the mark at the beginning of a text tells, if it is not UTF-8. */
export function markedEncoding([first, second]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

/**
 * The same text as UTF-8, without its mark.
 *
 * @throws OperatorError  `InputRejected` where the bytes are not of the encoding
 */
export async function* toUtf8(
  name: string,
  content: AsyncIterable<Uint8Array>,
  encoding: Exclude<Encoding, 'utf-8'>,
): AsyncGenerator<Uint8Array> {
  if (encoding === 'iso-8859-1') {
    // What TextDecoder calls by this name is windows-1252.
    for await (const bytes of content) yield Buffer.from(Buffer.from(bytes).toString('latin1'))
    return
  }
  const decoder = new TextDecoder(encoding, { fatal: true })
  try {
    for await (const bytes of content) yield Buffer.from(decoder.decode(bytes, { stream: true }))
    yield Buffer.from(decoder.decode())
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new OperatorError(
      'InputRejected',
      `${name} is not ${encoding}: it is cut off or damaged, or name another --encoding`,
    )
  }
}
