/**
 * What a machine answers other machines and commands.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../chain/link.js'
import { JournalGone } from '../journal/damaged.js'
import { limits } from '../limits.js'
import type { AudienceDesk } from './audience-desk.js'
import type { DigestsAnswer, DigestsQuestion, LocalDigests } from './comparison.js'
import { newSalt, saltedDigests } from './comparison.js'
import { processSession } from './directory.js'
import type { Entry, Member } from './entries.js'
import type { ClusterJournal } from './journal.js'
import type { LogFounding } from './log/log.js'
import type { ClusterStatus, Entered } from './messages.js'
import {
  type CopiedGroups,
  DONE,
  type Done,
  type NodeAnswers,
  type NodeQuestion,
  undone,
} from './questions.js'
import type { NodeReports, OwnReports } from './reports.js'
import { makeSeed, type Seed } from './seed.js'
import { seedLog } from './seed-log.js'
import type { SharedFiles } from './shared-files.js'
import type { SnapshotDesk } from './snapshot-desk.js'

interface AnsweringOptions {
  readonly dataDirectory: string
  readonly me: Member
  readonly journal: ClusterJournal
  readonly files: SharedFiles
  readonly audiences: Pick<AudienceDesk, 'pathOf'>
  readonly own: OwnReports
  readonly snapshots: Pick<SnapshotDesk, 'published'>
  /** As in `seed-log.ts`. */
  readonly replaceLog: (founding: LogFounding, replaced: string) => Promise<number>
  readonly reports: NodeReports
  /** See `retaining.ts`. */
  readonly stored: () => Promise<number>
  /** Puts an entry into the log; undefined where it was not read back in time. */
  readonly append: (entry: Entry) => Promise<number | undefined>
  readonly enter: (entry: Uint8Array) => Promise<Entered>
  readonly status: () => ClusterStatus
  readonly digests: AskDigests
  readonly onDrain: () => void
}

/** Asks the main thread. */
export type AskDigests = (question: DigestsQuestion) => Promise<DigestsAnswer<LocalDigests>>

export class NodeAnswering {
  readonly #options: AnsweringOptions

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  /** @throws  as a rejection, what the machine or command is told */
  async answer(question: NodeQuestion): Promise<NodeAnswers[NodeQuestion['kind']]> {
    const { files, audiences, me, status, journal, snapshots } = this.#options
    switch (question.kind) {
      case 'groups':
        return this.#groups(question.after, question.generation)
      case 'seed':
        return await this.#seed()
      case 'offer':
        return { isDone: await files.offer(question.file, audiences.pathOf(question.file.sha256)) }
      case 'drain':
        return this.#drain(question.isOn)
      case 'remove':
        return await this.#remove(question.name)
      case 'seedLog':
        return await seedLog(this.#options, question)
      case 'published':
        return snapshots.published(question.snapshotId)
      case 'enter':
        return await this.#options.enter(question.entry)
      case 'status':
        return status()
      case 'compare':
        return await this.#compare()
      case 'digests':
        return await this.#digests(question)
      case 'hello':
        return {
          incarnation: me.incarnation,
          session: processSession,
          facts: journal.facts.known(),
        }
    }
  }

  #groups({ sequence, hash }: Link, generation: string): CopiedGroups {
    const { journal } = this.#options
    const { logPlace: place, beginning } = journal
    if (place === undefined || generation !== journal.generation) {
      throw new Error('this machine does not follow that log')
    }
    if (sequence > journal.last.sequence) throw new Error('this machine has less')
    if (sequence < beginning.sequence) return { isGone: true }
    if (journal.hashAt(sequence) !== hash) return { isOther: true }
    try {
      const groups = journal.groupsBehind(sequence)
      const isAll = groups === undefined || groups.last.sequence === journal.last.sequence
      return { groups: groups?.bytes, ...(isAll && { log: { generation, place } }) }
    } catch (fault) {
      if (fault instanceof JournalGone) return { isGone: true }
      throw fault
    }
  }

  async #seed(): Promise<Seed> {
    const { dataDirectory, journal, files, stored } = this.#options
    return await makeSeed({
      dataDirectory,
      journal,
      files,
      untilStored: async (sequence) => {
        while ((await stored()) < sequence) await sleep(limits.storedLookMs)
      },
    })
  }

  /** Notes in the journal where machines are to be compared. */
  async #compare(): Promise<NodeAnswers['compare']> {
    const { append, journal } = this.#options
    const sequence = await append({ kind: 'comparison', salt: newSalt() })
    if (sequence === undefined) return undone(NOT_WRITTEN)
    return { ...DONE, at: { sequence, snapshotId: journal.facts.switchedId } }
  }

  async #digests({ sequence, snapshotId }: DigestsQuestion): Promise<DigestsAnswer> {
    const { digests, journal } = this.#options
    const answer = await digests({ sequence, snapshotId })
    if (answer.kind !== 'done') return answer
    const chainHash = journal.hashAt(sequence)
    if (chainHash === undefined) return { kind: 'failed', reason: `it keeps ${sequence} no more` }
    return { kind: 'done', digests: saltedDigests(answer.digests, chainHash) }
  }

  #drain(isOn: boolean): Done {
    this.#options.own.serves({ isDraining: isOn })
    this.#options.onDrain()
    return DONE
  }

  async #remove(name: string): Promise<Done> {
    const { journal, reports, me, append } = this.#options
    if (!journal.facts.members.some((member) => member.name === name)) {
      return undone(`${name} is no member`)
    }
    const isThere = name === me.name || reports.ofThoseThere().some((one) => one.name === name)
    if (isThere) return undone(`${name} is there, and would join again: stop it first`)
    return (await append({ kind: 'left', name })) === undefined ? undone(NOT_WRITTEN) : DONE
  }
}

const NOT_WRITTEN =
  'the log could not be written in time: look whether it is done before you repeat it'
