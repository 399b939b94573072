/**
 * What a machine knows of its cluster, put together for an operator.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Member } from './entries.js'
import type { ClusterSettings, ClusterStatus, MachineStatus } from './messages.js'
import type { NodeReport, NodeReports } from './reports.js'

interface Known extends Pick<ClusterStatus, 'isConnected' | 'doubt' | 'log' | 'isSwitching'> {
  readonly settings: Pick<ClusterSettings, 'clusterId' | 'name'>
  readonly members: readonly Member[]
  readonly own: NodeReport
  readonly reports: NodeReports
}

export function clusterStatus(known: Known): ClusterStatus {
  const { settings, isConnected, doubt, log, isSwitching, members, own, reports } = known
  const { clusterId, name } = settings
  const memberNames = new Set(members.map((member) => member.name))
  const statusOf = (report: NodeReport, silentMs: number): MachineStatus => ({
    name: report.name,
    version: report.version,
    isMember: memberNames.has(report.name),
    isLevel: report.levelMs > silentMs,
    written: report.last.sequence,
    answersBy: report.answersBy,
    fault: report.fault,
    snapshotId: report.snapshotId,
    held: report.held,
    isDraining: report.isDraining,
    silentMs,
  })
  const others = reports.all().filter(({ report, silentMs }) => {
    const isThere = memberNames.has(report.name) || silentMs < limits.clusterSilenceMs
    return report.name !== name && isThere
  })
  const heard = new Set([name, ...others.map(({ report }) => report.name)])
  return {
    clusterId,
    name,
    isConnected,
    doubt,
    log,
    isSwitching,
    machines: [
      statusOf(own, 0),
      ...others.map(({ report, silentMs }) => statusOf(report, silentMs)),
      ...[...memberNames].filter((member) => !heard.has(member)).map(unheard),
    ],
  }
}

function unheard(name: string): MachineStatus {
  return {
    name,
    version: 'unknown',
    isMember: true,
    isLevel: false,
    written: 0,
    answersBy: 0,
    fault: undefined,
    snapshotId: undefined,
    isDraining: false,
    silentMs: undefined,
  }
}

/** What a machine does, for people. */
export function roleOf({ isMember, isDraining }: MachineStatus): string {
  const role = isMember ? 'member' : 'joining'
  return isDraining ? `${role}, draining` : role
}

/** How much of the recipients a machine holds, for people; rounded down, so that `100 %` is all of them. */
export function heldPart({ held }: MachineStatus): string {
  if (held === undefined) return ''
  const { recipientCount, ofRecipientCount } = held
  if (recipientCount === ofRecipientCount) return '100 %'
  return `${Math.floor((100 * recipientCount) / ofRecipientCount)} %`
}

/**
 * The place of this machine among those that are there and level, by name: they are due to make a snapshot at the same
 * time, and the first one does. Undefined of one that is not level; where none is, as while NATS is away, of all that are
 * there. Undefined during a switch, too: a snapshot that is announced before the one before it is served takes its place,
 * and with many changes the machines would prepare one after the other and never switch.
 */
export function compactionRank(status: ClusterStatus): number | undefined {
  const { name, machines, isSwitching } = status
  if (isSwitching) return undefined
  const there = machines.filter(
    ({ silentMs = Number.POSITIVE_INFINITY }) => silentMs < limits.clusterSilenceMs,
  )
  const level = there.filter(({ isLevel }) => isLevel)
  const names = (level.length > 0 ? level : there).map((machine) => machine.name)
  const rank = names.sort().indexOf(name)
  return rank < 0 ? undefined : rank
}

/** Batches that some machine has in its journal, and by which this one does not answer yet. */
export function behindCount({ answersBy }: MachineStatus, { machines }: ClusterStatus): number {
  return Math.max(0, ...machines.map(({ written }) => written - answersBy))
}
