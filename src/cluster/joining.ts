/**
 * Asks to be counted among those whose disks count, once this machine has what the writer has.
 *
 * @module
 */
import type { Agreement } from './agreement/agreement.js'
import type { Member } from './agreement/messages.js'
import type { NodeReports } from './node-reports.js'
import type { AskNode } from './questions.js'

interface JoiningOptions {
  readonly me: Member
  readonly agreement: Agreement
  readonly reports: NodeReports
  readonly ask: AskNode
  readonly isUp: () => boolean
}

export class Joining {
  readonly #options: JoiningOptions
  #isAsking = false

  constructor(options: JoiningOptions) {
    this.#options = options
  }

  /** To be called now and then. */
  look(): void {
    const { me, agreement, reports, ask, isUp } = this.#options
    const { writer, isWriter } = agreement
    if (this.#isAsking || isWriter || agreement.isMember()) return
    if (writer === undefined || !isUp()) return
    const committed = reports.of(writer)?.agreement.committed ?? Number.POSITIVE_INFINITY
    if (agreement.report().matched < committed) return
    this.#isAsking = true
    void ask<'join'>(writer, { kind: 'join', member: me })
      .catch(() => {})
      .finally(() => {
        this.#isAsking = false
      })
  }
}
