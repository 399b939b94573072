/**
 * What a machine answers other machines and commands.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type PreparedBatch, prepared } from '../journal/batch.js'
import { limits } from '../limits.js'
import type { ChangeDesk } from '../live/desk.js'
import type { Agreement } from './agreement/agreement.js'
import { DONE, type Done, type Member, type Question, undone } from './agreement/messages.js'
import type { ClusterLog } from './cluster-log.js'
import type { EverywhereDesk } from './everywhere.js'
import { appendHere } from './handed-batches.js'
import type { HandingOver } from './handing-over.js'
import type { DigestsAnswer, DigestsQuestion, LocalDigests } from './machine-digests.js'
import type { ClusterStatus, Entered } from './messages.js'
import type { OwnLevel } from './own-level.js'
import type { OwnReports } from './own-reports.js'
import type { NodeAnswers, NodeQuestion } from './questions.js'
import { newSalt, saltedDigests } from './salted-digests.js'
import { makeSeed, type Seed } from './seed.js'
import type { SharedFiles } from './shared-files.js'

interface AnsweringOptions {
  readonly dataDirectory: string
  readonly me: Member
  readonly agreement: Agreement
  readonly journal: ClusterLog
  /** To the thread of changes. */
  readonly desk: ChangeDesk
  readonly everywhere: EverywhereDesk
  readonly files: SharedFiles
  readonly own: OwnReports
  readonly level: OwnLevel
  readonly handingOver: HandingOver
  /** See `retaining.ts`. */
  readonly stored: () => Promise<number>
  readonly enter: (entry: Uint8Array) => Promise<Entered>
  readonly status: () => ClusterStatus
  readonly digests: AskDigests
}

/** Asks the main thread. */
export type AskDigests = (question: DigestsQuestion) => Promise<DigestsAnswer<LocalDigests>>

export class NodeAnswering {
  readonly #options: AnsweringOptions

  constructor(options: AnsweringOptions) {
    this.#options = options
  }

  /** @throws  as a rejection, what whoever asked is told */
  async answer(question: NodeQuestion): Promise<NodeAnswers[NodeQuestion['kind']]> {
    const { files, me, status, agreement } = this.#options
    switch (question.kind) {
      case 'append':
        return await this.append(prepared(question.batch))
      case 'everywhere':
        return await this.#everywhereHere(question.sequence, question.waitMs)
      case 'seed':
        return await this.#seed()
      case 'offer':
        return { isDone: await files.offer(question.file) }
      case 'piece':
        return { bytes: await files.piece(question.file, question.offset) }
      case 'drain':
        return await this.#drain(question.isOn)
      case 'enter':
        return await this.#options.enter(question.entry)
      case 'status':
        return status()
      case 'compare':
        return await this.#compare()
      case 'digests':
        return await this.#digests(question)
      case 'hello':
        return { incarnation: me.incarnation, pid: process.pid }
      default:
        return await agreement.answer(question as Question)
    }
  }

  /** Writes a batch, if this machine is the one that writes. */
  async append(batch: PreparedBatch): Promise<NodeAnswers['append']> {
    const { agreement, desk } = this.#options
    return agreement.isWriter ? await appendHere(desk, batch) : { isElsewhere: true }
  }

  async #everywhereHere(sequence: number, waitMs: number): Promise<NodeAnswers['everywhere']> {
    const { agreement, everywhere } = this.#options
    if (!agreement.isWriter) return { isElsewhere: true, isEverywhere: false, waitingFor: [] }
    return await everywhere.until(sequence, waitMs)
  }

  async #seed(): Promise<Seed> {
    const { dataDirectory, journal, files, stored } = this.#options
    return await makeSeed({
      dataDirectory,
      journal,
      files,
      untilStored: async (sequence) => {
        while ((await stored()) < sequence) await sleep(limits.handAgainMs)
      },
    })
  }

  /** Notes in the journal where machines are to be compared. */
  async #compare(): Promise<NodeAnswers['compare']> {
    const { agreement, journal, me } = this.#options
    if (!agreement.isWriter) return { ...undone(`${me.name} is not the writer`) }
    const sequence = await journal.enter({ kind: 'comparison', salt: newSalt() })
    if (sequence === undefined) return { ...undone(`${me.name} has taken its entry back`) }
    agreement.wrote()
    return { ...DONE, at: { sequence, snapshotId: journal.switchedIdAt(sequence) } }
  }

  async #digests({ sequence, snapshotId }: DigestsQuestion): Promise<DigestsAnswer> {
    const { digests, journal } = this.#options
    const answer = await digests({ sequence, snapshotId })
    if (answer.kind !== 'done') return answer
    const chainHash = journal.linkAt(sequence)?.hash
    if (chainHash === undefined) return { kind: 'failed', reason: `it keeps ${sequence} no more` }
    return { kind: 'done', digests: saltedDigests(answer.digests, chainHash) }
  }

  async #drain(isOn: boolean): Promise<Done> {
    const { own, level, handingOver } = this.#options
    own.isDraining = isOn
    level.tell()
    if (isOn) await handingOver.leave()
    return DONE
  }
}
