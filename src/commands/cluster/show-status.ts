/**
 * Prints what the machines of a cluster tell of themselves.
 *
 * @module
 */
import type { ClusterClient } from '../../cluster/client.js'
import type { ClusterStatus, MachineStatus } from '../../cluster/messages.js'
import { behindCount, heldPart, roleOf } from '../../cluster/status.js'
import { OperatorError } from '../../errors.js'
import { print } from '../output.js'
import { formatTable } from '../table.js'
import { writerOf } from './roles.js'

/** @throws OperatorError  Failed, after printing, where the cluster is not whole */
export async function showStatus(client: ClusterClient, isJson: boolean): Promise<void> {
  const reports = await client.reports()
  const writer = writerOf(reports)
  const status = await statusOf(client, writer ?? reports[0]?.agreement.name)
  const machines = status?.machines ?? []
  const problems = problemsOf(writer, machines)
  if (isJson) {
    print(
      JSON.stringify({ clusterId: client.clusterId, isWhole: problems.length === 0, ...status }),
    )
  } else if (status !== undefined) {
    const { clusterId, epoch, acks, committed } = status
    print(`cluster ${clusterId}, epoch ${epoch}, --acks ${acks === 'one' ? 1 : acks}`)
    print(`writer  ${writer ?? 'none'}`)
    print(`changes ${committed} committed`)
    print()
    for (const line of tableOf(status)) print(line)
  }
  if (problems.length > 0) throw new OperatorError('Failed', problems.join('; '))
}

async function statusOf(client: ClusterClient, name: string | undefined) {
  if (name === undefined) return undefined
  return await client.ask<'status'>(name, { kind: 'status' })
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

function problemsOf(writer: string | undefined, machines: readonly MachineStatus[]): string[] {
  if (machines.length === 0) return ['no machine is heard']
  const missing = machines.filter(({ isMember, isLevel }) => isMember && !isLevel)
  return [
    ...(writer === undefined ? ['no machine writes'] : []),
    ...missing.map(({ name }) => `${name} is not level`),
  ]
}
