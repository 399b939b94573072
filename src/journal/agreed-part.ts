/**
 * The part of a journal on which the machines of a cluster agree. What is written behind it may be taken back, so
 * that readers do not see it.
 *
 * @module
 */
import { closeSync, existsSync, fdatasyncSync, ftruncateSync, openSync, rmSync } from 'node:fs'
import { syncDirectorySync } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { committedPath, journalFileNumbers, journalPath } from './files.js'
import { firstPlace, type JournalHead, type JournalPlace, NO_HEAD } from './head.js'
import { PositionFile } from './position.js'
import { damagedAt, recordsBetween } from './walk.js'

export class AgreedPart {
  readonly #directory: string
  readonly #file: PositionFile
  /** The ends of the groups behind it; undefined where they are to be looked for. */
  #behind: JournalPlace[] | undefined

  /**
   * @param head  of the journal
   * @throws JournalDamaged  where the journal ends before it
   */
  constructor(directory: string, head: JournalHead) {
    this.#directory = directory
    this.#file = PositionFile.openToWrite(committedPath(directory))
    const { sequence } = this.place()
    if (sequence > head.sequence) {
      throw damagedAt(directory, head, `is missing: the cluster agreed on those up to ${sequence}`)
    }
    // After a power failure it may be an older one, whose files are gone.
    if (sequence < head.first.after.sequence) this.#write(firstPlace(head))
  }

  /** Where it ends. */
  place(): JournalPlace {
    return this.#file.read() ?? NO_HEAD
  }

  /** A group was written behind the last one. */
  note(end: JournalPlace): void {
    this.#behind?.push(end)
  }

  /**
   * Takes in the groups that end with a batch or before it.
   *
   * @param written  the end of the journal
   * @returns the sequence with which it ends then
   */
  reach(sequence: number, written: JournalPlace): number {
    const before = this.place()
    if (sequence <= before.sequence) return before.sequence
    this.#behind ??= groupEnds(this.#directory, before, written)
    const behindCount = this.#behind.findIndex((end) => end.sequence > sequence)
    const reached = behindCount < 0 ? this.#behind : this.#behind.slice(0, behindCount)
    const end = reached.at(-1)
    if (end === undefined) return before.sequence
    this.#write(end)
    this.#behind = this.#behind.slice(reached.length)
    return end.sequence
  }

  close(): void {
    this.#file.close()
  }

  /** Where the journal begins its position says. */
  #write(place: JournalPlace): void {
    this.#file.write({ ...place, first: NO_HEAD.first })
  }
}

/** Whether a journal is of a cluster. */
export const hasAgreedPart = (directory: string) => existsSync(committedPath(directory))

/** From now on all that is written is seen by readers, as without a cluster. */
export function endAgreedPart(directory: string): void {
  if (!hasAgreedPart(directory)) return
  rmSync(committedPath(directory))
  syncDirectorySync(directory)
}

/** Where a batch ends that is in the journal, or the beginning where it is the one before. */
export function placeOf(directory: string, sequence: number, head: JournalHead): JournalPlace {
  if (sequence === head.sequence) return head
  const first = firstPlace(head)
  if (sequence === first.sequence) return first
  for (const { place } of recordsBetween(directory, first, head)) {
    if (place.sequence === sequence) return place
  }
  throw new Error(`batch ${sequence} is not in the journal`)
}

/** Removes all that is written behind a place. */
export function cutFiles(directory: string, { file, bytes }: JournalPlace): void {
  const later = journalFileNumbers(directory).filter((number) => number > file)
  for (const number of later) rmSync(journalPath(directory, number))
  if (existsSync(journalPath(directory, file))) {
    const fd = openSync(journalPath(directory, file), 'r+')
    try {
      ftruncateSync(fd, bytes)
      fdatasyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
  syncDirectorySync(directory)
}

export function writtenByCluster(directory: string, isClustered: boolean): OperatorError {
  return new OperatorError(
    'Usage',
    isClustered
      ? `the journal ${directory} is of no cluster any more: start the service again`
      : `the journal ${directory} is of a cluster, and only its services write to it: send the changes to one of ` +
          'them, or let the directory leave with `hickory cluster leave`',
  )
}

function groupEnds(directory: string, from: JournalPlace, to: JournalPlace): JournalPlace[] {
  const ends: JournalPlace[] = []
  for (const { record, place } of recordsBetween(directory, from, to)) {
    if (record.groupIndex + 1 === record.groupCount) ends.push(place)
  }
  return ends
}
