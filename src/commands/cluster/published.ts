/**
 * Whether a snapshot that is made in a data directory becomes that of all machines of its cluster.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openClusterClient } from '../../cluster/client.js'
import type { Published } from '../../cluster/questions.js'
import { type KnownConnection, readConnection, readState } from '../../cluster/state-file.js'
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
  const client = known && (await openClusterClient(known, 'machine'))
  try {
    const reports = (await client?.reports()) ?? []
    if (reports.some((report) => report.name === name)) return
  } finally {
    await client?.close()
  }
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
 * @param open  as `openClusterClient`
 * @throws OperatorError  Failed, as a rejection, where another machine was first
 */
export async function untilPublished(
  dataDirectory: string,
  snapshotId: string,
  open: typeof openClusterClient = openClusterClient,
): Promise<void> {
  const known = readState(dataDirectory) && readConnection(dataDirectory)
  if (known === undefined) return
  const told = await toldBy(known, snapshotId, open).catch(silence)
  if (told.kind === 'announced') return
  if (told.kind === 'refused') {
    throw new OperatorError(
      'Failed',
      `${told.by} has published another snapshot meanwhile: run the command again`,
    )
  }
  const reason = told.kind === 'silent' ? ` (${told.reason})` : ''
  warn(
    `${known.name} has not announced ${snapshotId} yet${reason}: it does so as soon as it can write and NATS takes the ` +
      'files, unless another machine publishes a snapshot first or the service is started again. `hickory cluster status` ' +
      'tells which one each machine serves',
  )
}

type Told = Published | { readonly kind: 'silent'; readonly reason: string }

const silence = ({ message }: Error): Told => ({ kind: 'silent', reason: message })

/** Asks the machine again until it knows, or for as long as a command waits: its service may be starting again. */
async function toldBy(
  known: KnownConnection,
  snapshotId: string,
  open: typeof openClusterClient,
): Promise<Told> {
  const client = await open(known, 'machine')
  const question = { kind: 'published', snapshotId } as const
  const untilMs = monotonicMs() + limits.clusterCommandMs
  try {
    for (;;) {
      const told: Told = await client.ask<'published'>(known.name, question).catch(silence)
      if (told.kind === 'announced' || told.kind === 'refused') return told
      if (monotonicMs() + limits.publishedLookMs >= untilMs) return told
      await sleep(limits.publishedLookMs)
    }
  } finally {
    await client.close()
  }
}
