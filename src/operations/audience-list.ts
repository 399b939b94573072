/**
 * The list of an audience, in every format of lists.
 *
 * @module
 */
import type { Audiences } from '../audiences/audiences.js'
import type { OpenedAudience } from '../audiences/messages.js'
import { audienceRunner } from '../audiences/runner.js'
import type { Answer, Body } from '../format/answer.js'
import { CSV_RECORD_HEADER, frames, type ListLayout, withMembers } from '../format/recipients.js'
import { warningHeaders } from '../format/warning-headers.js'
import type { QueryRunner } from '../pool/messages.js'
import type { Asker } from '../selection/access.js'
import { List, rowCountOf } from '../selection/list.js'
import type { SourceSelection } from '../selection/merge.js'
import type { Remarks } from '../selection/remarks.js'

interface AudienceListOptions {
  readonly audiences: Audiences
  readonly opened: OpenedAudience
  readonly isPage: boolean
  readonly remarks: Pick<Remarks, 'warnings'>
  readonly caller: Asker
}

/** @throws TooManyRequests  where the key has no such list left */
export function audienceList(options: AudienceListOptions): Answer {
  const { audiences, opened, isPage, remarks, caller } = options
  const { facts, next, suppressedCounts } = opened
  const selections = selectionsOf(opened)
  const rowCount = rowCountOf(selections)
  caller.access.lists?.take(rowCount)
  const runner = audienceRunner(audiences, opened.shards)
  const suppressedCount = suppressedCounts.reduce((sum, count) => sum + count, 0)
  const { warnings } = remarks
  const last = {
    NextAfter: next === undefined ? undefined : String(next),
    AudienceId: facts.id,
    Digest: facts.digest,
    SuppressedCount: suppressedCount,
    Warnings: warnings,
  }
  const write = (layout: ListLayout): Body => {
    const plain = frames[layout].list
    const hasRoom = layout === 'json' || layout === 'geojson'
    const frame = hasRoom ? withMembers(plain, last) : plain
    return new List(runner as QueryRunner, selections, layout, caller, frame)
  }
  const recorded = () => ({
    audienceId: facts.id,
    snapshotId: facts.snapshotId,
    changesSequence: facts.sequence,
    digest: facts.digest,
    sources: selections.map(({ source, count }) => ({ id: source.id, count })),
    suppressedCount,
    rowCount,
  })
  return {
    headers: {
      'X-Snapshot': facts.snapshotId,
      'X-Sequence': String(facts.sequence),
      'X-Audience': facts.id,
      'X-Audience-Digest': facts.digest,
      'X-Audience-Suppressed': String(suppressedCount),
      // Phones and positions of people: no cache on the way may keep them.
      'Cache-Control': 'no-store',
      ...(next !== undefined && { 'X-Next-After': String(next) }),
      ...warningHeaders(warnings),
    },
    heldBytes: opened.shards.reduce((sum, { runs }) => sum + runs.byteLength, 0),
    warnings,
    isPage,
    isList: true,
    records: () => [{ facts: recorded }],
    json: () => write('json'),
    ndjson: () => write('ndjson'),
    geoJson: () => write('geojson'),
    csv: (layout) => write(layout),
    csvRecord: () => ({ header: CSV_RECORD_HEADER, row: write('record') }),
  }
}

/** The shards of a page are named by their position in it. */
function selectionsOf({ facts, suppressedCounts, shards }: OpenedAudience): SourceSelection[] {
  return facts.sources.map(({ id, label, recipientCount }, at) => ({
    source: { id, label },
    count: recipientCount - suppressedCounts[at],
    shards: shards.flatMap(({ sourceId, runs }, shardIndex) =>
      sourceId === id ? [{ shardIndex, runs }] : [],
    ),
  }))
}
