/**
 * A sink behind a transform: what is written goes through it on its way. Whoever writes waits for
 * both, so that memory holds a piece of the writer's and the buffers of the transform, no more.
 *
 * @module
 */
import type { Transform } from 'node:stream'
import type { Sink } from '../selection/reply.js'
import { Deferred } from './deferred.js'

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
  const abort = () => {
    sink.abort()
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
  // Waits, so that a client that takes nothing is still cut off by the sink.
  const finish = async () => {
    await sink.drained()
    if (!sink.gone) sink.end()
  }
  /** Nothing tells that the client leaves while it keeps up, so it is looked at in every call. */
  const isGone = () => {
    if (sink.gone) release()
    return sink.gone
  }

  transform.on('data', pass)
  transform.once('end', finish)
  transform.on('drain', wake)
  transform.once('error', abort)
  return {
    get gone() {
      return isGone()
    },
    write(chunk) {
      if (isGone()) return false
      // A transform reads it later, when its memory may hold something else.
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
