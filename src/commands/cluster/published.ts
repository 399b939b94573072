/**
 * Whether a snapshot that is made in a data directory becomes that of all machines of its cluster.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openClusterClient } from '../../cluster/client.js'
import { openCommandNats } from '../../cluster/command-nats.js'
import { type KnownConnection, readConnection } from '../../cluster/connection-file.js'
import type { Published } from '../../cluster/questions.js'
import { readState } from '../../cluster/state-file.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { monotonicMs } from '../../monotonic.js'
import { warn } from '../output.js'

/**
 * To be called before the work: the service of the directory is to announce what comes of it.
 *
 * @throws OperatorError  Failed, as a rejection, where the directory is of a cluster and its service is not heard
 */
export async function assertServed(dataDirectory: string): Promise<void> {
  const state = readState(dataDirectory)
  if (state === undefined) return
  const { name, clusterId } = state
  const known = readConnection(dataDirectory)
  const isHeard = known !== undefined && (await heardNames(known)).includes(name)
  if (isHeard) return
  throw new OperatorError(
    'Failed',
    `${dataDirectory} is that of ${name} in the cluster ${clusterId}, and the service of ${name} is not heard, which tells ` +
      'the other machines of a new snapshot: start it, or run the command on a machine whose service runs',
  )
}

/**
 * To be called after the work: resolves when all machines serve the snapshot, or will. Where that is not known in time, it
 * warns.
 *
 * @param open  as `openCommandNats`
 * @throws OperatorError  Failed, as a rejection, where another machine was first
 */
export async function untilPublished(
  dataDirectory: string,
  snapshotId: string,
  open: typeof openCommandNats = openCommandNats,
): Promise<void> {
  const known = readState(dataDirectory) && readConnection(dataDirectory)
  if (known === undefined) return
  let published: Published | undefined
  let fault: string | undefined
  try {
    published = await askedUntilKnown(known, snapshotId, open)
  } catch (thrown) {
    fault = (thrown as Error).message
  }
  if (published?.kind === 'announced') return
  if (published?.kind === 'refused') {
    throw new OperatorError(
      'Failed',
      `${published.by} has published another snapshot meanwhile: run the command again`,
    )
  }
  const reason = fault === undefined ? '' : ` (${fault})`
  warn(
    `${known.name} has not announced ${snapshotId} yet${reason}: it does so as soon as it can write and NATS takes the ` +
      'files, unless another machine publishes a snapshot first or the service is started again. `hickory cluster status` ' +
      'tells which one each machine serves',
  )
}

async function heardNames(known: KnownConnection): Promise<string[]> {
  const client = await openClusterClient(known)
  try {
    return (await client.reports()).map(({ name }) => name)
  } finally {
    await client.close()
  }
}

/** @throws Error  as a rejection, where nothing was answered in the end */
async function askedUntilKnown(
  known: KnownConnection,
  snapshotId: string,
  open: typeof openCommandNats,
): Promise<Published> {
  const { nats, denied } = await open(known, 'machine')
  const question = { kind: 'published', snapshotId } as const
  try {
    return await untilKnown(
      () => nats.calls.ask(known.name, question, limits.clusterCallMs) as Promise<Published>,
    )
  } catch (fault) {
    throw new Error(denied() ?? (fault as Error).message)
  } finally {
    await nats.close()
  }
}

/**
 * @param ask  may reject: the service may be starting again
 * @throws Error  as a rejection, what the last attempt did
 */
async function untilKnown(ask: () => Promise<Published>): Promise<Published> {
  const untilMs = monotonicMs() + limits.clusterCommandMs
  for (;;) {
    const answer = await ask().catch((fault: Error) => fault)
    const isLast = monotonicMs() + limits.publishedLookMs >= untilMs
    if (answer instanceof Error) {
      if (isLast) throw answer
    } else if (isLast || answer.kind !== 'waiting') return answer
    await sleep(limits.publishedLookMs)
  }
}
