/**
 * Compression of answers, as far as the client accepts it.
 *
 * @module
 */
import type { Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import Negotiator from 'negotiator'
import type { Sink } from '../../selection/reply.js'
import { transformedSink } from './transformed-sink.js'

type Encoding = 'br' | 'gzip'

/**
 * The encoding that an Accept-Encoding header prefers, `br` of equals. Undefined when it accepts none
 * of ours or prefers a plain body. A header that refuses plain bodies as well is ignored.
 */
export function encodingOf(acceptEncoding: string | undefined): Encoding | undefined {
  if (!acceptEncoding) return undefined
  const choice: Choice = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const encoding = choice.encoding([...encodings, 'identity'], { preferred: encodings })
  return encodings.find((name) => name === encoding)
}

/** A sink that compresses what is written to it and hands it on. */
export function compressedSink(sink: Sink, encoding: Encoding): Sink {
  return transformedSink(sink, compressors[encoding]())
}

const encodings: readonly Encoding[] = ['br', 'gzip']

/** The part of the library that is used; its types do not know the option. */
interface Choice {
  encoding(
    available: readonly string[],
    options: { readonly preferred: readonly string[] },
  ): string | undefined
}

/** The size of the pieces in which compressed bytes are handed on. */
const chunkSize = 64 * 1024

/**
 * Chosen for speed on lists of recipients. Higher levels take many times as long for a few percent,
 * and a larger window costs memory and gains nothing. Each compressor takes some 400 KiB.
 */
const compressors: Readonly<Record<Encoding, () => Transform>> = {
  br: () =>
    createBrotliCompress({
      chunkSize,
      params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 16 },
    }),
  gzip: () => createGzip({ chunkSize, level: 1 }),
}
