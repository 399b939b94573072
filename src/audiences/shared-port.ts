/**
 * What front threads of a machine of a cluster have the main thread do with audiences that all machines know.
 *
 * @module
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import { limits } from '../limits.js'
import type { MadeAudience } from '../store/audiences.js'
import { Questions } from '../threads/calls.js'

/** Everything rejects with a `ServiceError`. */
export interface SharedAudiences {
  /** Tells all machines of an audience of this one; resolves when it is there although one of them dies. */
  share(made: MadeAudience): Promise<void>
  /** Ends one on all machines. */
  remove(id: string): Promise<void>
  /**
   * Gets the files of one that this machine lacks.
   *
   * @param isDamaged  whether they are here, and not as they were written
   * @param waitMs  after which this rejects, and goes on all the same
   */
  bring(id: string, isDamaged: boolean, waitMs: number): Promise<void>
}

type SharedOrder =
  | { readonly kind: 'share'; readonly made: MadeAudience }
  | { readonly kind: 'remove'; readonly id: string }
  | {
      readonly kind: 'bring'
      readonly id: string
      readonly isDamaged: boolean
      readonly waitMs: number
    }

interface SharedRequest {
  readonly number: number
  readonly order: SharedOrder
}

interface SharedReply {
  readonly number: number
  readonly fault?: SharedFault
}

/** A value, since an error loses its code between threads. */
interface SharedFault {
  readonly code: ServiceErrorCode
  readonly message: string
  readonly field: string | undefined
}

/**
 * The main thread's end.
 *
 * @param onFault  is told what is not a `ServiceError`
 * @returns the other end, to be handed to a front thread
 */
export function serveSharedAudiences(
  shared: SharedAudiences,
  onFault: (fault: unknown) => void,
): MessagePort {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', async ({ number, order }: SharedRequest) => {
    const reply: SharedReply = await carryOut(shared, order).then(
      () => ({ number }),
      (fault: unknown) => ({ number, fault: faultOf(fault, onFault) }),
    )
    port1.postMessage(reply)
  })
  // Asked for by threads that have ends of their own.
  port1.unref()
  return port2
}

async function carryOut(shared: SharedAudiences, order: SharedOrder): Promise<void> {
  switch (order.kind) {
    case 'share':
      return await shared.share(order.made)
    case 'remove':
      return await shared.remove(order.id)
    case 'bring':
      return await shared.bring(order.id, order.isDamaged, order.waitMs)
  }
}

function faultOf(fault: unknown, onFault: (fault: unknown) => void): SharedFault {
  if (fault instanceof ServiceError) {
    const { code, message, field } = fault
    return { code, message, field }
  }
  onFault(fault)
  return { code: 'Unavailable', message: NOT_DONE, field: undefined }
}

const NOT_DONE =
  'the audience could not be shared with the other machines; the log of the service says why'

/** The front thread's end. */
export function requestSharedAudiences(port: MessagePort): SharedAudiences {
  const questions = new Questions<SharedReply>()
  port.on('message', (reply: SharedReply) => questions.settle(reply.number, reply))
  port.unref()

  async function ask(order: SharedOrder, waitMs: number): Promise<void> {
    const fault = () => new ServiceError('Unavailable', LATE)
    const send = (number: number) => port.postMessage({ number, order } satisfies SharedRequest)
    const { fault: found } = await questions.ask(send, { waitMs, fault })
    if (found !== undefined) throw new ServiceError(found.code, found.message, found.field)
  }

  return {
    share: (made) => ask({ kind: 'share', made }, limits.storeChangeMs + limits.audienceSpreadMs),
    remove: (id) => ask({ kind: 'remove', id }, limits.storeChangeMs + limits.entryEverywhereMs),
    bring: (id, isDamaged, waitMs) =>
      ask({ kind: 'bring', id, isDamaged, waitMs }, waitMs + limits.clusterCallMs),
  }
}

const LATE =
  'the machines of the cluster take too long: it may be done all the same, so look at the audiences before you try again'
