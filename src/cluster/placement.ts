/**
 * Which machines hold which shards of a snapshot in memory. The machine that announces the snapshot decides on which
 * machines and how often; where each shard is follows from that, on every machine alike.
 *
 * By rendezvous hashing each machine has a score for each shard, so that few shards move when a machine comes or goes
 * (Thaler and Ravishankar 1998). A machine that has its share is passed over, so that none has much more than the others
 * (consistent hashing with bounded loads, Mirrokni et al. 2018).
 *
 * @module
 */
import { createHash } from 'node:crypto'

export interface Placement {
  /** The names of the machines. */
  readonly machines: readonly string[]
  /** How many of them hold each shard. */
  readonly copies: number
}

/** A shard, as far as its place depends on it. */
export interface PlacedShard {
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
      const hash = createHash('sha256').update(`${sourceId}/${regionIndex}\n${machine}`)
      return [machine, hash.digest('hex')]
    }),
  )
  const scoreOf = (machine: string) => scores.get(machine) ?? ''
  return [...machines].sort((left, right) => (scoreOf(left) < scoreOf(right) ? 1 : -1))
}
