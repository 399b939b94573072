/**
 * Who is affected when one area takes the place of another: by runs of both, at one moment.
 *
 * @module
 */
import type { Shapes } from '../geometry/shapes.js'
import type { ChangedPart } from '../interface/alerts.js'
import { commonRuns } from '../shard/mask.js'
import { normalise, RunList, recipientCountOf, subtract } from '../shard/runs.js'
import type { Asker } from './access.js'
import { type SelectionService, select } from './answer.js'
import type { SourceSelection } from './merge.js'
import type { Query } from './validate.js'

interface Areas {
  /** Who is in any of them was inside. One at least. */
  readonly before: readonly Query[]
  /** For the same sources. */
  readonly after: Query
}

interface Differences {
  /** By source, in the order of the catalogue. */
  readonly parts: Readonly<Record<ChangedPart, readonly SourceSelection[]>>
  /** All that was asked for. */
  readonly shapes: Shapes
}

/**
 * Recipients are compared, each phone at its place, whatever else counts as one. Whoever is suppressed, or is
 * suppressed no longer, while this goes on is as if not there: they would be inside at one look and not at the other.
 *
 * @throws ServiceError  as a rejection
 */
export async function selectDifferences(
  service: SelectionService,
  { before, after }: Areas,
  caller: Asker,
): Promise<Differences> {
  const boundary = service.boundaryRule.for(undefined, caller.access)
  const selecting = { countMode: 'ContactLocation', boundary } as const
  const look = async (queries: readonly Query[]) => {
    const selections: (readonly SourceSelection[])[] = []
    for (const query of queries) selections.push(await select(service, query, selecting, caller))
    return selections
  }
  const first = runsByShard(await look(before))
  const [selected] = await look([after])
  const inside = runsByShard([selected])
  const again = runsByShard(await look(before))
  const part = (runsOf: (first: Runs, inside: Runs, again: Runs) => Runs) =>
    selected.map(({ source }, at) => {
      const indexes = [...new Set([first, inside, again].flatMap((each) => [...each[at].keys()]))]
      const shards = indexes
        .sort((a, b) => a - b)
        .map((shardIndex) => ({
          shardIndex,
          runs: runsOf(
            first[at].get(shardIndex) ?? NOBODY,
            inside[at].get(shardIndex) ?? NOBODY,
            again[at].get(shardIndex) ?? NOBODY,
          ),
        }))
        .filter(({ runs }) => runs.length > 0)
      const count = shards.reduce((sum, { runs }) => sum + recipientCountOf(runs), 0)
      return { source, count, shards }
    })
  return {
    parts: {
      new: part((was, is, stillWas) => without(without(is, was), stillWas)),
      gone: part((was, is, stillWas) => without(commonRuns(was, stillWas), is)),
      staying: part((was, is, stillWas) => commonRuns(commonRuns(was, stillWas), is)),
    },
    shapes: {
      included: [...before, after].flatMap(({ shapes }) => shapes.included),
      excluded: [],
      nearest: [],
    },
  }
}

type Runs = Uint32Array

const NOBODY = new Uint32Array(0)

/** Of each source who is in any of several selections, by the index of the shard. */
function runsByShard(selections: readonly (readonly SourceSelection[])[]): Map<number, Runs>[] {
  const [first = []] = selections
  return first.map((_, at) => {
    const all = new Map<number, Runs[]>()
    for (const selection of selections) {
      for (const { shardIndex, runs } of selection[at].shards) {
        if (runs.length > 0) all.set(shardIndex, [...(all.get(shardIndex) ?? []), runs])
      }
    }
    return new Map(Array.from(all, ([shardIndex, lists]) => [shardIndex, joined(lists)]))
  })
}

function joined(lists: readonly Runs[]): Runs {
  if (lists.length === 1) return lists[0]
  const all = new RunList()
  for (const runs of lists) {
    for (let i = 0; i < runs.length; i += 2) all.append(runs[i], runs[i + 1])
  }
  normalise(all)
  return all.toPairs()
}

function without(runs: Runs, others: Runs): Runs {
  if (runs.length === 0 || others.length === 0) return runs
  const left = new RunList()
  subtract(listOf(runs), listOf(others), left)
  return left.toPairs()
}

function listOf(runs: Runs): RunList {
  const list = new RunList()
  list.appendPairs(runs)
  return list
}
