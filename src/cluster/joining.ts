/**
 * A machine that is no member asks the writer to be counted.
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
}

export class Joining {
  readonly #options: JoiningOptions
  #isAsking = false

  constructor(options: JoiningOptions) {
    this.#options = options
  }

  /** To be called now and then: asks once this machine has what the writer has. */
  look(): void {
    const { me, agreement, reports, ask } = this.#options
    const { writer, isWriter } = agreement
    if (this.#isAsking || isWriter || agreement.isMember() || writer === undefined) return
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
