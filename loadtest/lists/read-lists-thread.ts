/**
 * The thread that reads lists.
 *
 * @module
 */
import { answerTask } from '../generator/thread.js'
import type { Digest } from './digest.js'
import { openListConnection } from './list-connection.js'
import type { ReadFigures, ReadPlan } from './read-lists.js'

await answerTask<ReadPlan, ReadFigures>(async (plan) => {
  const { url, path, body, connectionCount, seconds, expected } = plan
  const startedMs = performance.now()
  let listCount = 0
  let wrongCount = 0
  let byteCount = 0
  const readOn = async () => {
    let connection = await openListConnection(url)
    do {
      const digest = await connection.readList(path, body)
      listCount++
      byteCount += digest?.byteCount ?? 0
      if (isRight(digest, expected)) continue
      wrongCount++
      connection.close()
      connection = await openListConnection(url)
    } while (performance.now() - startedMs < 1000 * seconds)
    connection.close()
  }
  await Promise.all(Array.from({ length: connectionCount }, readOn))
  const elapsedSeconds = (performance.now() - startedMs) / 1000
  return { listCount, wrongCount, megabytesPerSecond: byteCount / 1e6 / elapsedSeconds }
})

function isRight(digest: Digest | undefined, expected: Digest | undefined): boolean {
  if (digest === undefined || expected === undefined) return digest !== undefined
  return digest.byteCount === expected.byteCount && digest.crc === expected.crc
}
