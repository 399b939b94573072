/**
 * What a command does with a cluster that others run.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { openCommandNats } from './command-nats.js'
import type { KnownConnection } from './connection-file.js'
import type { NodeReport } from './node-report.js'
import type { AskOperator } from './questions.js'

export interface ClusterClient {
  readonly clusterId: string
  /** @throws OperatorError  Failed, naming the machine */
  readonly ask: AskOperator
  /** What machines tell of themselves, by name: each of them does so several times in this time. */
  reports(): Promise<NodeReport[]>
  close(): Promise<void>
}

/** @throws OperatorError  as a rejection */
export async function openClusterClient(
  connection: Pick<KnownConnection, 'nats' | 'clusterId'>,
): Promise<ClusterClient> {
  const { clusterId } = connection
  const { nats, denied } = await openCommandNats(connection, 'operator')
  const assertPermitted = () => {
    const reason = denied()
    if (reason === undefined) return
    throw new OperatorError(
      'Failed',
      `NATS permits no commands for the cluster ${clusterId} with this nkey or these credentials: ${reason}`,
    )
  }
  return {
    clusterId,
    async ask(to, question, waitMs = limits.clusterCallMs) {
      try {
        return (await nats.calls.ask(to, question, waitMs)) as never
      } catch (fault) {
        assertPermitted()
        throw new OperatorError('Failed', (fault as Error).message, { cause: fault })
      }
    },
    async reports() {
      const heard = new Map<string, NodeReport>()
      const stop = nats.hear((report) => heard.set(report.name, report))
      await sleep(limits.clusterHeardMs)
      stop()
      assertPermitted()
      return [...heard.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    close: () => nats.close(),
  }
}
