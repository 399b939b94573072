/**
 * The audiences of a machine of a cluster: those that it freezes become known to all machines before anybody is answered,
 * and what it lacks of others it gets when somebody asks for it.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Caller } from '../pool/tasks.js'
import { unknownAudience } from '../store/audiences.js'
import type { Audiences } from './audiences.js'
import type { AudienceAnswers, AudienceOrder, OpenOrder } from './messages.js'
import type { SharedAudiences } from './shared-port.js'

interface ClusteredOptions {
  /** Of this machine, whose thread goes by what the cluster knows. */
  readonly own: Audiences
  readonly shared: SharedAudiences
  /** Whether this machine may not have heard of what others made. */
  readonly isLagging: () => boolean
}

type AnyAnswer = AudienceAnswers[AudienceOrder['kind']]

export function clusteredAudiences({ own, shared, isLagging }: ClusteredOptions): Audiences {
  async function open(order: OpenOrder, caller: Caller): Promise<AudienceAnswers['open']> {
    try {
      return await own.ask<'open'>(order, caller)
    } catch (fault) {
      const { code } = fault as { code?: string }
      const isDamaged = code === 'AudienceDamaged'
      if (!isDamaged && code !== 'AudienceNotHere') throw fault
      // Time is left to read what has come.
      const leftMs = caller.deadlineMs - performance.now() - limits.audienceReadMs
      await shared.bring(
        order.id,
        isDamaged,
        Math.max(1, Math.min(limits.audienceBroughtMs, leftMs)),
      )
      return await own.ask<'open'>(order, caller)
    }
  }

  async function carryOut(order: AudienceOrder, caller: Caller): Promise<AnyAnswer> {
    switch (order.kind) {
      case 'freeze': {
        const facts = await own.ask<'freeze'>(order, caller)
        const { id } = facts
        const made = await own.ask<'describe'>({ kind: 'describe', id }, caller)
        if (made === undefined) throw unknownAudience()
        await shared.share(made)
        return facts
      }
      case 'open':
        return await open(order, caller)
      case 'remove': {
        const facts = await own.ask<'remove'>(order, caller)
        await shared.remove(order.id)
        return facts
      }
      default:
        return await own.ask(order as never, caller)
    }
  }

  return {
    ...own,
    async ask(order, caller) {
      try {
        return (await carryOut(order, caller)) as never
      } catch (fault) {
        if ((fault as { code?: string }).code !== 'UnknownAudience' || !isLagging()) throw fault
        throw new ServiceError('Lagging', LAGGING)
      }
    },
  }
}

const LAGGING =
  'this machine has been cut off from the cluster for too long, and does not know this audience: another machine may have ' +
  'made it meanwhile, so ask that'
