/**
 * The frame of a recipient answer; the rows between its parts come as bytes from the workers.
 *
 * @module
 */
import { CSV_LINE_END, csvField, csvText } from './csv.js'

/** What is said of a source in an answer. */
export interface SourceSummary {
  readonly sourceId: number
  readonly label: string
  readonly count: number
}

/** Every source was searched whole; there is no other status, since half an answer is none. */
const SOURCE_STATUS = 'Ok'

export function jsonCounts(sources: readonly SourceSummary[]): string {
  return `{"SourceRecords":[${sources.map((source) => jsonSourceStart(source) + JSON_SOURCE_END).join(',')}]}`
}

const JSON_SOURCE_END = '}'

/** A source record without its closing brace, so that recipients can follow. */
export function jsonSourceStart({ sourceId, label, count }: SourceSummary): string {
  return (
    `{"SourceId":${sourceId},"Label":${JSON.stringify(label)},"Count":${count},` +
    `"Status":"${SOURCE_STATUS}"`
  )
}

export function csvCounts(sources: readonly SourceSummary[]): string {
  const rows = sources.map(({ sourceId, label, count }) =>
    [sourceId, csvText(label), count, csvField(SOURCE_STATUS)].join(','),
  )
  return ['SourceId,Label,Count,Status', ...rows, ''].join(CSV_LINE_END)
}

export const CSV_LIST_HEADER = `SourceId,Label,Number,Lat,Lng${CSV_LINE_END}`

/** What every row of a source begins with. */
export function csvRowPrefix(sourceId: number, label: string): string {
  return `${sourceId},${csvText(label)},`
}
