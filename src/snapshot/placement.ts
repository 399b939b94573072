/**
 * Which machines hold which shards of a snapshot in memory: `placement.json` beside its manifest, which has the machines
 * and how many of them hold each shard. Where each shard is follows from that, on every machine alike. Without the file,
 * every machine holds all shards.
 *
 * By rendezvous hashing each machine has a score for each shard, so that few shards move when a machine comes or goes
 * (Thaler and Ravishankar 1998). A machine that has its share is passed over, so that none has much more than the others
 * (consistent hashing with bounded loads, Mirrokni et al. 2018).
 *
 * @module
 */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from '#typebox'
import { replaceFile } from '../durable-files.js'
import { validatorOf } from '../validator.js'
import { snapshotsDirectory } from './directory.js'
import { corrupt, readFault } from './open-file.js'

const FORMAT = 'hickory-placement'

const PlacementSchema = Type.Object(
  {
    format: Type.Literal(FORMAT),
    formatVersion: Type.Literal(1),
    /** By name. */
    machines: Type.Array(Type.String(), { minItems: 1 }),
    /** How many of them hold each shard. */
    copies: Type.Integer({ minimum: 1 }),
    /** Of the JSON of all members above, without white space. */
    sha256: Type.String(),
  },
  { additionalProperties: false },
)

export type Placement = Pick<Static<typeof PlacementSchema>, 'copies'> & {
  readonly machines: readonly string[]
}

const validator = validatorOf(PlacementSchema)

/** @returns undefined where every machine holds all */
export function placementOn(
  machines: readonly { readonly name: string }[],
  copies: number | undefined,
): Placement | undefined {
  if (copies === undefined || copies >= machines.length) return undefined
  return { machines: machines.map(({ name }) => name), copies }
}

/**
 * @returns undefined of a snapshot that every machine holds whole
 * @throws OperatorError `SnapshotCorrupt`, or `Failed` where the system does not let it be read
 */
export async function readPlacement(
  dataDirectory: string,
  snapshotId: string,
): Promise<Placement | undefined> {
  const path = placementPath(dataDirectory, snapshotId)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw readFault(path, fault)
  }
  const value = parsed(text)
  if (validator.Check(value) && encodePlacement(value) === text) {
    const { machines, copies } = value
    return { machines, copies }
  }
  throw corrupt(path, 'it is not as it was written')
}

/** To be called before anybody has heard of the snapshot. */
export async function writePlacement(
  dataDirectory: string,
  snapshotId: string,
  placement: Placement,
): Promise<void> {
  await replaceFile(placementPath(dataDirectory, snapshotId), encodePlacement(placement))
}

const placementPath = (dataDirectory: string, snapshotId: string) =>
  join(snapshotsDirectory(dataDirectory), snapshotId, 'placement.json')

function encodePlacement({ machines, copies }: Placement): string {
  const content = { format: FORMAT, formatVersion: 1, machines, copies }
  const sha256 = hash('sha256', JSON.stringify(content))
  return `${JSON.stringify({ ...content, sha256 }, null, 2)}\n`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A shard, as far as its place depends on it. */
interface PlacedShard {
  readonly sourceId: number
  /** Among the shards of its source. */
  readonly regionIndex: number
  readonly recipientCount: number
}

/**
 * @param shards  all of the snapshot
 * @returns of each shard the machines that hold it, those with the highest scores first
 */
export function holdersOf(
  { machines, copies }: Placement,
  shards: readonly PlacedShard[],
): readonly (readonly string[])[] {
  const wantedCount = Math.min(copies, machines.length)
  const total = shards.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
  const share = ((wantedCount * total) / machines.length) * (1 + SPARE)
  const loads = new Map(machines.map((machine) => [machine, 0]))
  const loadOf = (machine: string) => loads.get(machine) ?? 0
  const holders: string[][] = shards.map(() => [])
  // Large ones first: the others find their places beside them.
  const order = [...shards.keys()].sort(
    (left, right) => shards[right].recipientCount - shards[left].recipientCount || left - right,
  )
  for (const place of order) {
    const { recipientCount } = shards[place]
    const ranked = rankedFor(shards[place], machines)
    const roomy = ranked.filter((machine) => loadOf(machine) + recipientCount <= share)
    // Where nobody has room, whoever has least.
    const others = ranked
      .filter((machine) => !roomy.includes(machine))
      .sort((left, right) => loadOf(left) - loadOf(right))
    const chosen = [...roomy, ...others].slice(0, wantedCount)
    for (const machine of chosen) loads.set(machine, loadOf(machine) + recipientCount)
    holders[place] = ranked.filter((machine) => chosen.includes(machine))
  }
  return holders
}

/** Of its share, what a machine may hold beyond it. */
const SPARE = 0.1

function rankedFor({ sourceId, regionIndex }: PlacedShard, machines: readonly string[]): string[] {
  const scores = new Map(
    machines.map((machine) => {
      return [machine, hash('sha256', `${sourceId}/${regionIndex}\n${machine}`)]
    }),
  )
  const scoreOf = (machine: string) => scores.get(machine) ?? ''
  return [...machines].sort((left, right) => (scoreOf(left) < scoreOf(right) ? 1 : -1))
}
