/**
 * The audiences of a machine of a cluster, which all machines have. The main thread shares them with the other machines, for
 * the front threads.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Caller } from '../pool/tasks.js'
import { type MadeAudience, unknownAudience } from '../store/audiences.js'
import { callsOver } from '../threads/calls.js'
import { openPort } from '../threads/thread.js'
import type { Audiences } from './audiences.js'
import type { AudienceAnswers, AudienceOrder, OpenOrder } from './messages.js'

interface ClusteredOptions {
  /** The audiences of this machine. */
  readonly own: Audiences
  readonly shared: SharedAudiences
  /** Whether this machine may lack audiences that others have made. */
  readonly isLagging: () => boolean
}

/**
 * An audience that this machine freezes is announced to all machines before the answer, and the files of one that it lacks are
 * fetched when a request needs them.
 */
export function clusteredAudiences({ own, shared, isLagging }: ClusteredOptions): Audiences {
  async function open(order: OpenOrder, caller: Caller): Promise<AudienceAnswers['open']> {
    try {
      return await own.ask<'open'>(order, caller)
    } catch (fault) {
      const { code } = fault as { code?: string }
      const isDamaged = code === 'AudienceDamaged'
      if (!isDamaged && code !== 'AudienceNotHere') throw fault
      // Leaves time to read what was fetched.
      const leftMs = caller.deadlineMs - performance.now() - limits.audienceReadMs
      await shared.bring(
        order.id,
        isDamaged,
        Math.max(1, Math.min(limits.audienceBroughtMs, leftMs)),
      )
      return await own.ask<'open'>(order, caller)
    }
  }

  async function carryOut(
    order: AudienceOrder,
    caller: Caller,
  ): Promise<AudienceAnswers[AudienceOrder['kind']]> {
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

/** All rejections are `ServiceError`s. */
export interface SharedAudiences {
  /** Announces an audience of this machine; resolves when enough machines have it that one of them may die. */
  share(made: MadeAudience): Promise<void>
  /** Removes one from all machines. */
  remove(id: string): Promise<void>
  /**
   * Fetches the files of one that this machine lacks.
   *
   * @param isDamaged  whether they are here, but damaged
   * @param waitMs  after which this rejects, while fetching goes on
   */
  bring(id: string, isDamaged: boolean, waitMs: number): Promise<void>
}

/**
 * The main thread's end.
 *
 * @param onFault  called with what is not a `ServiceError`
 * @returns the other end, for a front thread
 */
export function serveSharedAudiences(
  shared: SharedAudiences,
  onFault: (fault: unknown) => void,
): MessagePort {
  const done = async (work: Promise<void>) => {
    try {
      await work
    } catch (fault) {
      if (fault instanceof ServiceError) throw fault
      onFault(fault)
      throw new ServiceError('Unavailable', NOT_DONE)
    }
  }
  const own: SharedAudiences = {
    share: (made) => done(shared.share(made)),
    remove: (id) => done(shared.remove(id)),
    bring: (...args) => done(shared.bring(...args)),
  }
  return openPort((port) => {
    callsOver(port, own)
    // The threads at the other ends keep the process alive.
    port.unref()
  })
}

const NOT_DONE =
  'the audience could not be shared with the other machines; the log of the service says why'

/** The front thread's end. */
export function requestSharedAudiences(port: MessagePort): SharedAudiences {
  const { askWithin } = callsOver<SharedAudiences>(port)
  port.unref()
  const within = (waitMs: number) => askWithin(waitMs, () => new ServiceError('Unavailable', LATE))
  return {
    share: (made) => within(limits.storeChangeMs + limits.audienceSpreadMs).share(made),
    remove: (id) => within(limits.storeChangeMs + limits.entryEverywhereMs).remove(id),
    bring: (id, isDamaged, waitMs) =>
      within(waitMs + limits.clusterCallMs).bring(id, isDamaged, waitMs),
  }
}

const LATE =
  'the machines of the cluster take too long: it may be done all the same, so look at the audiences before you try again'
