/**
 * What machines of a cluster tell of themselves.
 *
 * @module
 */
import type { ClusterStatus, MachineStatus } from '../../../src/cluster/messages.js'
import type { NodeReport } from '../../../src/cluster/reports.js'

/** A member that is level and was heard. */
export const machineOf = (name: string, more: Partial<MachineStatus> = {}): MachineStatus => ({
  name,
  version: '1.2.3',
  isMember: true,
  isLevel: true,
  written: 90,
  answersBy: 90,
  fault: undefined,
  snapshotId: '000007-0123abcd',
  isDraining: false,
  silentMs: 250,
  ...more,
})

/** As the first machine sees it. */
export const statusOf = (
  machines: readonly MachineStatus[],
  more: Partial<ClusterStatus> = {},
): ClusterStatus => ({
  clusterId: 'main',
  name: machines[0].name,
  isConnected: true,
  doubt: undefined,
  isSwitching: false,
  log: { generation: 'g', messageCount: 7, missingCount: 0, copyCount: 3, server: 'nats-a' },
  machines,
  ...more,
})

/** Of a machine that has all up to a batch, and goes on with the log. */
export const reportOf = (
  name: string,
  sequence: number,
  more: Partial<NodeReport> = {},
): NodeReport => {
  const last = { sequence, hash: `of ${sequence}` }
  return {
    name,
    incarnation: `of ${name}`,
    session: 's',
    version: '1.2.3',
    log: { generation: 'g', place: 7 },
    last,
    kept: last,
    answersBy: sequence,
    storedBy: sequence,
    levelMs: 1,
    isDraining: false,
    snapshotId: undefined,
    preparedId: undefined,
    ...more,
  }
}
