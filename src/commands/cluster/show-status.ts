/**
 * Prints what the machines of a cluster tell of themselves.
 *
 * @module
 */
import type { ClusterClient } from '../../cluster/client.js'
import type { ClusterStatus, LogStatus, MachineStatus } from '../../cluster/messages.js'
import { behindCount, heldPart, roleOf } from '../../cluster/status.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { print } from '../output.js'
import { formatTable } from '../table.js'
import { machineToAsk } from './orders.js'

/**
 * @param own  the machine that is asked if it is heard
 * @throws OperatorError  Failed, after printing, where the cluster is not whole
 */
export async function showStatus(
  client: ClusterClient,
  own: string | undefined,
  isJson: boolean,
): Promise<void> {
  const reports = await client.reports()
  const isOwnHeard = reports.some(({ name }) => name === own)
  const asked = isOwnHeard && own !== undefined ? own : machineToAsk(reports)
  const status = await client.ask<'status'>(asked, { kind: 'status' })
  const problems = problemsOf(status)
  if (isJson) print(JSON.stringify({ isWhole: problems.length === 0, ...status }))
  else for (const line of linesOf(status)) print(line)
  if (problems.length > 0) throw new OperatorError('Failed', problems.join('; '))
}

/** Why the cluster is not whole; the reasons are printed before. */
function problemsOf({ name, doubt, log, machines }: ClusterStatus): string[] {
  const missingCount = log?.missingCount ?? 0
  return [
    ...(doubt === undefined ? [] : [`${name} cannot write`]),
    ...(log === undefined ? [`the log does not answer ${name}`] : []),
    ...(missingCount === 0 ? [] : [`${serverOf(log)} lacks ${missingCount} messages of the log`]),
    ...machines.flatMap((machine) => problemOf(machine) ?? []),
  ]
}

function problemOf(machine: MachineStatus): string | undefined {
  const { name, isMember, isLevel, fault } = machine
  if (!isHeard(machine)) return isMember ? `${name} is not heard` : undefined
  if (fault !== undefined) return `${name} does not go on`
  return isMember && !isLevel ? `${name} is not level` : undefined
}

const isHeard = ({ silentMs }: MachineStatus) =>
  silentMs !== undefined && silentMs < limits.clusterSilenceMs

function linesOf(status: ClusterStatus): string[] {
  const { clusterId, name, doubt, log, machines } = status
  const faults = machines
    .filter((machine) => machine.fault !== undefined && isHeard(machine))
    .map(({ name, fault }) => `${name} does not go on: ${fault}`)
  return [
    `cluster ${clusterId}, as ${name} sees it`,
    `log     ${log === undefined ? 'does not answer' : summaryOf(log)}`,
    `writes  ${doubt === undefined ? 'yes' : `no: ${doubt}`}`,
    '',
    ...tableOf(status),
    ...(faults.length > 0 ? ['', ...faults] : []),
  ]
}

function summaryOf({ copyCount, messageCount, missingCount, ...log }: LogStatus): string {
  const copies = copyCount === 1 ? '1 copy' : `${copyCount} copies`
  const messages = messageCount === 1 ? '1 message' : `${messageCount} messages`
  const missing = missingCount === 0 ? '' : `, and ${serverOf(log)} lacks ${missingCount} of them`
  return `${copies}, ${messages}${missing}`
}

function serverOf(log: Pick<LogStatus, 'server'> | undefined): string {
  return `nats-server ${log?.server ?? ''}`.trim()
}

function tableOf(status: ClusterStatus): string[] {
  const rows = status.machines.map((machine) => [
    machine.name,
    roleOf(machine),
    machine.isLevel ? 'yes' : 'no',
    String(machine.answersBy),
    String(behindCount(machine, status)),
    machine.snapshotId ?? '-',
    heldPart(machine) || '-',
    machine.version,
    machine.silentMs === undefined ? 'never' : `${(machine.silentMs / 1_000).toFixed(1)} s ago`,
  ])
  const heads = [
    '<machine',
    '<role',
    '<level',
    'answers by',
    'behind',
    '<snapshot',
    'holds',
    '<version',
  ]
  return formatTable([...heads, 'heard'], rows)
}
