/**
 * The main thread's end of what the thread of a cluster does about audiences.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { Questions } from '../questions.js'
import type { SharedAudience } from '../store/audiences.js'
import type { AudienceAsk, AudienceReply, AudienceTold } from './audience-messages.js'
import type { ClusterOrder } from './messages.js'

type AskOf<Kind extends AudienceAsk['kind']> = Extract<AudienceAsk, { kind: Kind }>

export interface AudienceAsks {
  /** @throws OperatorError  Failed, as a rejection */
  ask<Kind extends AudienceAsk['kind']>(ask: AskOf<Kind>): Promise<AudienceTold[Kind]>
  /** Says which audiences there are, by all entries up to one. */
  know(upTo: number, audiences: readonly SharedAudience[]): void
  /** To be called with each reply. */
  settle(reply: AudienceReply): void
  /** Nobody replies any more. */
  fail(fault: unknown): void
}

export function audienceAsks(send: (order: ClusterOrder) => void): AudienceAsks {
  const questions = new Questions<AudienceReply>()
  return {
    async ask(ask) {
      const { told, fault } = await questions.ask((number) =>
        send({ kind: 'audience', number, ask }),
      )
      if (fault !== undefined) throw new OperatorError('Failed', fault)
      return told as never
    },
    know: (upTo, audiences) => send({ kind: 'audiences', upTo, audiences }),
    settle: (reply) => questions.settle(reply.number, reply),
    fail: (fault) => questions.fail(fault),
  }
}
