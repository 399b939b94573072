/**
 * What a command does with a cluster that others run.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { drawnCommandName, type Serves } from './nats/calls.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import type { AskNode } from './questions.js'
import type { NodeReport } from './reports.js'
import type { KnownConnection } from './state-file.js'

export interface ClusterClient extends Pick<ClusterNats, 'connection' | 'close'> {
  readonly clusterId: string
  /** @throws OperatorError  Failed, naming the machine; its cause has the `kind` of a fault of `Calls` */
  readonly ask: AskNode
  /** What machines tell of themselves, by name: each of them does so several times in this time. */
  reports(): Promise<NodeReport[]>
}

/**
 * @param asksAs  who asks: most questions are for machines alone, and their commands
 * @throws OperatorError  as a rejection
 */
export async function openClusterClient(
  { nats: settings, clusterId }: Pick<KnownConnection, 'nats' | 'clusterId'>,
  asksAs: keyof Serves,
): Promise<ClusterClient> {
  // Only where there is a cluster: commands that run alone start faster without the library.
  const { ClusterNats } = await import('./nats/cluster-nats.js')
  /** What NATS has not let the command do, which it does not say to whoever waits for it. */
  let denied: string | undefined
  const nats = await ClusterNats.open({
    settings,
    clusterId,
    name: drawnCommandName(),
    onChange() {},
    onDenied(reason) {
      denied = reason
    },
    serves: undefined,
    asksAs,
  })
  const assertPermitted = () => {
    if (denied === undefined) return
    throw new OperatorError(
      'Failed',
      `NATS permits no commands for the cluster ${clusterId} with this nkey or these credentials: ${denied}`,
    )
  }
  return {
    clusterId,
    connection: nats.connection,
    async ask(to, question, waitMs = limits.clusterCallMs) {
      try {
        return (await nats.calls.ask(to, question, waitMs)) as never
      } catch (fault) {
        assertPermitted()
        throw new OperatorError('Failed', (fault as Error).message, { cause: fault })
      }
    },
    async reports() {
      const reports = await heardReports(nats, limits.clusterHeardMs)
      assertPermitted()
      return reports
    },
    close: () => nats.close(),
  }
}

/** By name. */
export async function heardReports(
  nats: Pick<ClusterNats, 'hear'>,
  waitMs: number,
): Promise<NodeReport[]> {
  const heard = new Map<string, NodeReport>()
  const stop = nats.hear((report) => heard.set(report.name, report))
  await sleep(waitMs)
  stop()
  return [...heard.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
