/**
 * Entry point of a thread that loads files of a snapshot, one after the other, until it is told to
 * stop.
 *
 * @module
 */
import { parentPort } from 'node:worker_threads'
import { OperatorError } from '../src/errors.js'
import { givenUp, type LoadPiece, loadRepeats, loadShard } from '../src/snapshot/load-piece.js'
import type { LoadOrder, LoadReport } from '../src/snapshot/load-threads.js'

let isStopping = false

parentPort?.on('message', async (order: LoadOrder) => {
  if (order.kind === 'stop') {
    isStopping = true
    // What is under way finds out; without the port the thread ends once that is over.
    parentPort?.close()
  } else if (!isStopping) report(await carriedOut(order))
})

async function carriedOut(piece: LoadPiece): Promise<LoadReport> {
  try {
    const result = await (piece.kind === 'shard'
      ? loadShard(piece, onRead)
      : loadRepeats(piece, onRead))
    return { kind: 'loaded', result }
  } catch (error) {
    const code = error instanceof OperatorError ? error.code : 'Failed'
    return { kind: 'failed', code, message: (error as Error).message }
  }
}

function onRead(bytes: number): void {
  if (isStopping) throw givenUp()
  if (bytes > 0) report({ kind: 'read', bytes })
}

function report(message: LoadReport): void {
  parentPort?.postMessage(message)
}
