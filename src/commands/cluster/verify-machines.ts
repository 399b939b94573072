/**
 * `hickory cluster verify`: whether all machines have the same.
 *
 * @module
 */
import type { ClusterClient } from '../../cluster/client.js'
import { type Difference, differencesOf } from '../../cluster/comparison.js'
import { OperatorError } from '../../errors.js'
import type { Log } from '../../log.js'
import { print } from '../output.js'
import { formatTable } from '../table.js'
import { type Comparison, compareMachines } from './compare-machines.js'

/** @throws OperatorError  Failed, after printing, where they do not, or one cannot be asked */
export async function verifyMachines(
  client: ClusterClient,
  log: Log,
  isJson: boolean,
): Promise<void> {
  const comparison = await compareMachines(client, log)
  const { sequence, snapshotId, compared, missing } = comparison
  const differences = differencesOf(
    compared,
    missing.map(({ name }) => name),
  )
  const isSame = differences.length === 0 && missing.length === 0
  if (isJson) {
    const { clusterId } = client
    print(
      JSON.stringify({
        ...{ clusterId, isSame, sequence, snapshotId, differences, missing },
        machines: compared.map(({ name, digests }) => ({ name, ...digests })),
      }),
    )
  } else {
    print(`cluster ${client.clusterId}, change ${sequence}, snapshot ${snapshotId}`)
    print(`machines ${compared.map(({ name }) => name).join(', ') || 'none'}`)
    for (const { name, reason } of missing) print(`missing  ${name}: ${reason}`)
    for (const line of heldBy(comparison)) print(line)
    print()
    if (differences.length > 0) for (const line of tableOf(comparison, differences)) print(line)
    else for (const line of summaryOf(comparison)) print(line)
  }
  if (isSame) return
  const kinds = new Set(differences.map(({ kind }) => kind))
  const problems = [
    ...(kinds.has('content') ? ['the machines do not have the same'] : []),
    ...(kinds.has('copies') ? [TOO_FEW_COPIES] : []),
    ...missing.map(({ name, reason }) => `${name} cannot be compared: ${reason}`),
  ]
  throw new OperatorError('Failed', problems.join('; '))
}

const TOO_FEW_COPIES =
  'fewer machines hold some regions than are to hold them: hickory cluster move places them on the members of now'

/** How many regions each machine holds, where not every one holds all. */
function heldBy({ compared }: Comparison): string[] {
  const held = compared.map(({ name, digests: { regions } }) => {
    const ofSnapshot = regions.filter(({ regionIndex }) => regionIndex !== undefined)
    const heldCount = ofSnapshot.filter(({ digest }) => digest !== null).length
    return { name, heldCount, totalCount: ofSnapshot.length }
  })
  if (held.every(({ heldCount, totalCount }) => heldCount === totalCount)) return []
  const each = held.map(
    ({ name, heldCount, totalCount }) => `${name} holds ${heldCount} of ${totalCount}`,
  )
  return [`regions  ${each.join(', ')}`]
}

/** One line for each thing that differs. */
function tableOf({ compared }: Comparison, differences: readonly Difference[]): string[] {
  const names = compared.map(({ name }) => name)
  const rows = differences.map(({ what, values }) => [
    what,
    ...names.map((name) => values[name] || '-'),
  ])
  return formatTable(['<differs', ...names], rows)
}

function summaryOf({ compared }: Comparison): string[] {
  const [first] = compared
  if (first === undefined) return []
  const { store, regions } = first.digests
  const counts = new Map<number, number>()
  for (const { sourceId, recipientCount } of regions) {
    counts.set(sourceId, (counts.get(sourceId) ?? 0) + recipientCount)
  }
  const rows = [
    ...[...counts].map(([id, count]) => [`recipients of source ${id}`, String(count)]),
    ['suppressed numbers', String(store.suppressions.count)],
    ['keys', String(store.keys.count)],
    ['contexts', String(store.contexts.count)],
  ]
  return formatTable(['<the same on all', 'count'], rows)
}
