/**
 * Who has founded a cluster, as NATS knows it. Whoever is killed while founding one goes on at the next start.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDirectory, replaceFile } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import { clusterDirectory } from './state-file.js'

interface FoundingOptions {
  readonly dataDirectory: string
  readonly log: Log
  readonly signal: AbortSignal
}

/** Resolves when JetStream answers; undefined where nobody has. */
export async function founderOf(
  options: FoundingOptions,
  { bucket }: Pick<ClusterNats, 'bucket'>,
): Promise<string | undefined> {
  const entry = await untilAnswered(options, () => bucket.use((bucket) => bucket.get(FOUNDED)))
  return entry?.string()
}

/** Whether this directory was being made that of a founder. */
export const isFounding = (dataDirectory: string) => existsSync(markPath(dataDirectory))

/**
 * Says in NATS that the cluster is there, and in the directory that it is being founded.
 *
 * @throws OperatorError  where somebody else was faster
 */
export async function beginFounding(
  options: FoundingOptions,
  { bucket }: Pick<ClusterNats, 'bucket'>,
  name: string,
): Promise<void> {
  const { dataDirectory } = options
  await createDirectory(clusterDirectory(dataDirectory))
  await replaceFile(markPath(dataDirectory), '')
  await untilAnswered(options, () =>
    bucket.use(async (bucket) => {
      try {
        await bucket.create(FOUNDED, name)
      } catch (fault) {
        const entry = await bucket.get(FOUNDED)
        if (entry === null) throw fault
        // By an attempt that was killed, or not heard of.
        if (entry.string() === name) return
        throw new OperatorError('Usage', `${entry.string()} has founded the cluster meanwhile`)
      }
    }),
  )
}

export async function endFounding(dataDirectory: string): Promise<void> {
  await rm(markPath(dataDirectory), { force: true })
}

const markPath = (dataDirectory: string) => join(clusterDirectory(dataDirectory), 'founding')

/** The key that says who founded the cluster. */
const FOUNDED = 'founded'

/** A server of NATS whose disk was full may not answer until it is started again. */
async function untilAnswered<Answer>(
  { log, signal }: FoundingOptions,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (let hasTold = false; ; hasTold = true) {
    try {
      return await ask()
    } catch (fault) {
      if (fault instanceof OperatorError || signal.aborted) throw fault
      const reason = (fault as Error).message
      if (!hasTold) log.warn({ reason }, 'waiting for JetStream of NATS')
    }
    await sleep(limits.natsRetryMs, undefined, { signal })
  }
}
