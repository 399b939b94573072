/**
 * What a machine knows of its cluster, put together for whoever asks.
 *
 * @module
 */
import type { Agreement } from './agreement/agreement.js'
import type { ClusterSettings, ClusterStatus, MachineStatus } from './messages.js'
import type { NodeReport } from './node-report.js'
import type { NodeReports } from './node-reports.js'

interface Known {
  readonly settings: ClusterSettings
  readonly isConnected: boolean
  readonly agreement: Agreement
  readonly own: NodeReport
  readonly reports: NodeReports
  readonly carried: number | undefined
}

export function clusterStatus(known: Known): ClusterStatus {
  const { settings, isConnected, agreement, own, reports, carried } = known
  const { clusterId, name, acks, silenceMs } = settings
  const members = new Set(agreement.members().map((member) => member.name))
  const statusOf = (report: NodeReport, silentMs: number): MachineStatus => ({
    name: report.agreement.name,
    version: report.version,
    isMember: members.has(report.agreement.name),
    isWriter: report.agreement.isWriter && silentMs < silenceMs,
    isLevel: report.levelMs > silentMs,
    epoch: report.agreement.epoch,
    written: report.agreement.written.sequence,
    committed: report.agreement.committed,
    answersBy: report.answersBy,
    snapshotId: report.snapshotId,
    held: report.held,
    isDraining: report.isDraining,
    silentMs,
  })
  const unheard = (member: string): MachineStatus => ({
    name: member,
    version: 'unknown',
    isMember: true,
    isWriter: false,
    isLevel: false,
    epoch: 0,
    written: 0,
    committed: 0,
    answersBy: 0,
    snapshotId: undefined,
    isDraining: false,
    silentMs: undefined,
  })
  const others = reports.all().filter(({ report: { agreement }, silentMs }) => {
    const isOther = agreement.name !== name
    return isOther && (members.has(agreement.name) || silentMs < silenceMs)
  })
  const heard = new Set([name, ...others.map(({ report }) => report.agreement.name)])
  const { epoch, writer } = agreement
  const { committed } = own.agreement
  return {
    clusterId,
    name,
    isConnected,
    epoch,
    writer,
    acks,
    committed,
    carried,
    machines: [
      statusOf(own, 0),
      ...others.map(({ report, silentMs }) => statusOf(report, silentMs)),
      ...[...members].filter((member) => !heard.has(member)).map(unheard),
    ],
  }
}

/** What a machine does, for people. */
export function roleOf({ isWriter, isMember, isDraining }: MachineStatus): string {
  const role = isWriter ? 'writer' : isMember ? 'member' : 'joining'
  return isDraining ? `${role}, draining` : role
}

/** How much of the recipients a machine holds, for people; rounded down, so that `100 %` is all of them. */
export function heldPart({ held }: MachineStatus): string {
  if (held === undefined) return ''
  const { recipientCount, ofRecipientCount } = held
  if (recipientCount === ofRecipientCount) return '100 %'
  return `${Math.floor((100 * recipientCount) / ofRecipientCount)} %`
}

/** Batches that are committed, as far as the machines tell, and by which a machine does not answer yet. */
export function behindCount({ answersBy }: MachineStatus, { committed, machines }: ClusterStatus) {
  const most = Math.max(committed, ...machines.map((machine) => machine.committed))
  return Math.max(0, most - answersBy)
}
