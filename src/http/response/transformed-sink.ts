/**
 * A sink behind a transform. Both give back-pressure, so memory holds only one piece of the writer
 * and the buffers of the transform.
 *
 * @module
 */
import type { Transform } from 'node:stream'
import type { Sink } from '../../selection/reply.js'
import { NOT_COMPRESSED } from '../cut-reasons.js'
import { Deferred } from '../deferred.js'

/** @param transform  of bytes; destroyed once the body has ended, or never will */
export function transformedSink(sink: Sink, transform: Transform): Sink {
  let sinkIsFull = false
  let waiting: Deferred<void> | undefined

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
      waiting ??= new Deferred()
      return waiting.promise
    },
    end() {
      if (!isGone()) transform.end()
    },
    abort,
  }
}
