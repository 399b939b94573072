/**
 * Machines of a cluster as processes, and what commands say of them.
 *
 * @module
 */
import type { Holding } from '../../../src/snapshot/snapshot.js'
import { hickory, type Owner, type Service, serve } from '../../support/service/hickory.js'

/** Small, since several of them share the machine of a test. */
const SMALL = ['--http-threads', '1', '--query-threads', '2'] as const

interface MachineOptions {
  readonly name: string
  readonly data: string
  /** `--cluster` and what goes with it. */
  readonly reach: readonly string[]
}

/** Starts a machine and waits until it is ready; ended with the test. */
export function serveMachine(
  t: Owner,
  { name, data, reach }: MachineOptions,
  ...more: readonly string[]
): Promise<Service> {
  return serve(t, '--data', data, '--name', name, ...SMALL, ...reach, ...more)
}

export interface ToldStatus {
  readonly isWhole: boolean
  readonly log?: { readonly server?: string; readonly messageCount: number }
  readonly machines: readonly {
    readonly name: string
    readonly isMember: boolean
    readonly isLevel: boolean
    readonly written: number
    readonly snapshotId?: string
    readonly isDraining: boolean
    readonly held?: Holding
  }[]
}

/** What `hickory cluster status` prints; it may end with exit code 1. */
export async function statusBy(reach: readonly string[]): Promise<ToldStatus> {
  const { stdout, stderr } = await hickory('cluster', 'status', '--json', ...reach)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as ToldStatus
}

/** A recipient of source 1 comes, within the squares of `countOf`; gives the sequence. */
export async function sendChange(
  { url }: Pick<Service, 'url'>,
  number: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const row = { op: 'upsert', number: `+99977${number}`, lat: 0.2, lng: 0.2 }
  const response = await fetch(`${url}/api/sources/1/changes`, {
    method: 'POST',
    headers: { connection: 'close', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ batchId: `batch ${number}`, changes: [row] }),
  })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return ((await response.json()) as { readonly Sequence: number }).Sequence
}

/** The status of `/readyz`, and the reason where it is 503. */
export async function readinessOf({ url }: Pick<Service, 'url'>): Promise<string> {
  const answer = await fetch(`${url}/readyz`, { headers: { connection: 'close' } })
  const text = await answer.text()
  return answer.status === 200 ? 'ready' : text
}

interface ToldRegion {
  readonly sourceId: number
  readonly regionIndex?: number
  readonly recipientCount: number
  readonly digest: string | null
  readonly holders?: readonly string[]
}

interface ToldComparison {
  readonly isSame: boolean
  readonly sequence: number
  readonly snapshotId: string
  readonly differences: readonly {
    readonly kind: string
    readonly what: string
    readonly values: Readonly<Record<string, string>>
  }[]
  readonly missing: readonly { readonly name: string; readonly reason: string }[]
  readonly machines: readonly { readonly name: string; readonly regions: readonly ToldRegion[] }[]
}

/** What `hickory cluster verify` prints, and its end. */
export async function verifyBy(...reach: readonly string[]) {
  const { code, stdout, stderr } = await hickory('cluster', 'verify', '--json', ...reach)
  if (stdout === '') throw new Error(stderr)
  return { code, stderr, told: JSON.parse(stdout) as ToldComparison }
}

export function countOf(regions: readonly ToldRegion[], sourceId: number): number {
  return regions
    .filter((each) => each.sourceId === sourceId)
    .reduce((sum, { recipientCount }) => sum + recipientCount, 0)
}
