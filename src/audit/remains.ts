/**
 * What lies behind the head of an audit: lines of a writer that died, or lost power, before the head was
 * moved, or was moved for good.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import type { FileNumber } from '../chain/numbered-files.js'
import { type GoingOn, recover } from '../chain/remains.js'
import { completeLines, follows, hashOf, previousOf } from './chain.js'
import { auditPath } from './files.js'
import type { Head } from './head.js'

interface RecoveredLines {
  readonly head: Head
  readonly takenLineCount: number
  /** Of a line that was torn, or does not go on with the chain. */
  readonly cutBytes: number
}

/**
 * Takes the lines that go on with the chain, and cuts off what comes then in the file of the head.
 *
 * @param refused  the file in which a write of this process failed
 */
export function recoverLines(
  directory: string,
  head: Head,
  refused: FileNumber | undefined,
): RecoveredLines {
  let link: Link = head
  let { day } = head
  const { end, taken, cutBytes } = recover<Link>(head, {
    pathOf: (number) => auditPath(directory, number),
    goingOn(bytes, _file, start) {
      const going = goingOn(bytes, link)
      link = going.taken.at(-1) ?? link
      if (start === 0 && going.taken.length > 0) day = dayOf(bytes)
      return going
    },
    refused,
  })
  const { sequence, hash } = link
  const recovered = { ...head, ...end, sequence, hash, day }
  return { head: recovered, takenLineCount: taken.length, cutBytes }
}

/** The lines that go on with the chain, and where they end. */
function goingOn(bytes: Uint8Array, head: Link): GoingOn<Link> {
  const taken: Link[] = []
  let end = 0
  for (const line of completeLines(bytes).lines) {
    const previous = taken.at(-1) ?? head
    if (!follows(line, previous)) break
    taken.push({ sequence: previous.sequence + 1, hash: hashOf(line) })
    end += line.length + 1
  }
  return { taken, end }
}

/** Of the first line, on which its file was begun. */
function dayOf(bytes: Buffer): string {
  const start = bytes.subarray(0, 256).toString('latin1')
  return previousOf(bytes) === undefined ? '' : (/"time":"(\d{4}-\d\d-\d\d)/.exec(start)?.[1] ?? '')
}
