/**
 * Compression of answers, if the client accepts it.
 *
 * @module
 */
import type { Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import Negotiator from 'negotiator'
import type { Sink } from '../../selection/reply.js'
import { NOT_COMPRESSED } from '../observe.js'
import { Room } from './back-pressure.js'

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
export const compressors: Readonly<Record<Encoding, () => Transform>> = {
  br: () =>
    createBrotliCompress({
      chunkSize,
      params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 16 },
    }),
  gzip: () => createGzip({ chunkSize, level: 1 }),
}

/**
 * A sink behind a transform. Both give back-pressure, so memory holds only one piece of the writer and the buffers of the
 * transform.
 *
 * @param transform  of bytes; destroyed once the body has ended, or never will
 */
export function transformedSink(sink: Sink, transform: Transform): Sink {
  let sinkIsFull = false
  let waiting: Room | undefined

  const mayWrite = () => transform.destroyed || (!sinkIsFull && !transform.writableNeedDrain)
  const wake = () => {
    if (!mayWrite()) return
    waiting?.resolve()
    waiting = undefined
  }
  const release = () => {
    transform.destroy()
    wake()
  }
  const abort = (reason?: string) => {
    sink.abort(reason)
    release()
  }
  const pass = async (piece: Uint8Array) => {
    if (sink.write(piece)) return
    sinkIsFull = true
    transform.pause()
    await sink.drained()
    sinkIsFull = false
    if (sink.gone) release()
    else {
      transform.resume()
      wake()
    }
  }
  // The sink goes on watching its client, and cuts it off if it takes nothing.
  const finish = async () => {
    await sink.drained()
    if (!sink.gone) sink.end()
  }
  /** Asked in every call: nothing tells that a client has left while it keeps up. */
  const isGone = () => {
    if (sink.gone) release()
    return sink.gone
  }

  transform.on('data', pass)
  transform.once('end', finish)
  transform.on('drain', wake)
  transform.once('error', () => abort(NOT_COMPRESSED))
  return {
    get gone() {
      return isGone()
    },
    write(chunk) {
      if (isGone()) return false
      // The transform reads the chunk later, when its memory may hold other bytes.
      transform.write(Buffer.from(chunk))
      return mayWrite()
    },
    drained() {
      if (isGone() || mayWrite()) return Promise.resolve()
      waiting ??= new Room()
      return waiting.promise
    },
    end() {
      if (!isGone()) transform.end()
    },
    abort,
  }
}
