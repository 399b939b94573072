/**
 * How commands are connected to NATS.
 *
 * @module
 */
import type { KnownConnection } from './connection-file.js'
import { drawnCommandName, type Serves } from './nats/calls.js'
import type { ClusterNats } from './nats/cluster-nats.js'

interface CommandNats {
  readonly nats: ClusterNats
  /** What NATS has not let the command do, which it does not say to whoever waits for it; undefined where there is none. */
  denied(): string | undefined
}

/** @throws OperatorError  as a rejection */
export async function openCommandNats(
  { nats: settings, clusterId }: Pick<KnownConnection, 'nats' | 'clusterId'>,
  asksAs: keyof Serves,
): Promise<CommandNats> {
  // Only where there is a cluster: commands that run alone start faster without the library.
  const { ClusterNats } = await import('./nats/cluster-nats.js')
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
  return { nats, denied: () => denied }
}
