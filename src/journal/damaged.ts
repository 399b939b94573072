/**
 * What is wrong with a journal, and what an operator can do.
 *
 * @module
 */
import { OperatorError, RESTORE } from '../errors.js'

/** The first place at which a journal is not as it was written. */
interface JournalDamage {
  readonly directory: string
  readonly file: string
  /** Undefined where the whole file is meant. */
  readonly offset: number | undefined
  /** The first batch that is not there as it was written; undefined where nobody can say. */
  readonly sequence: number | undefined
  readonly problem: string
}

export class JournalDamaged extends OperatorError {
  readonly damage: JournalDamage
  /** What is wrong, and where. */
  readonly found: string
  /** What an operator can do. */
  readonly advice: string

  constructor(damage: JournalDamage) {
    const { directory, file, offset, sequence, problem } = damage
    const place = offset === undefined ? '' : ` at byte ${offset}`
    const batch = sequence === undefined ? '' : ` (batch ${sequence})`
    const good =
      sequence === undefined
        ? 'changes since the last snapshot'
        : `changes from batch ${sequence} on that are in no snapshot`
    const found = `the journal ${directory} is damaged: ${file}${place}${batch} ${problem}`
    const advice = `${RESTORE}, or move ${directory} away and import the sources again: the ${good} are lost then`
    super('JournalDamaged', `${found}; ${advice}`)
    this.damage = damage
    this.found = found
    this.advice = advice
  }
}

/** A journal that begins anew beside snapshots that go on from another one. */
export function journalEndsBefore(sequence: number, knownSequence: number): OperatorError {
  return new OperatorError(
    'JournalDamaged',
    `the journal of changes ends at batch ${sequence}, and a snapshot has those up to ${knownSequence}: put the ` +
      'journal back that belongs to it, or import all sources again',
  )
}

/** Somebody asks for batches that were removed since snapshots have them. */
export class JournalGone extends Error {
  /** The first batch that is kept. */
  readonly firstSequence: number

  constructor(since: number, firstSequence: number) {
    super(`batch ${since + 1} is no more in the journal, which begins with ${firstSequence}`)
    this.firstSequence = firstSequence
  }
}

/** The log says something else than it said before. */
export class LogContradicted extends Error {
  /** The first batch that was another one. */
  readonly sequence: number

  constructor(sequence: number) {
    super(`batch ${sequence} was another one when this machine read it from the log before`)
    this.sequence = sequence
  }
}

export function writtenByCluster(directory: string, isClustered: boolean): OperatorError {
  return new OperatorError(
    'Usage',
    isClustered
      ? `the journal ${directory} is of no cluster any more: start the service again`
      : `the journal ${directory} is of a cluster, and only its service writes to it: send the changes to that, or let ` +
          'the directory leave with `hickory cluster leave`',
  )
}
