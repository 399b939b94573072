/**
 * The frames of recipient answers. A frame is the text around the rows, which come as bytes from the
 * workers. A frame without rows is the answer to a request for counts.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { CsvLayout } from './answer.js'
import { CSV_LINE_END, csvEscaped, csvField, csvText } from './csv.js'
import { jsvText } from './jsv.js'

/** A source, as an answer describes it. */
export interface SourceSummary {
  readonly sourceId: number
  readonly label: string
  readonly count: number
  /** Whether a part of the source could not be searched. */
  readonly isPartial?: boolean
}

/** `record`: the whole answer in one cell of one row. */
export type ListLayout = 'json' | 'ndjson' | 'geojson' | CsvLayout | 'record'

/** The text around the recipients of each source, and around the sources. */
export interface Frame {
  readonly start: string | ((sources: readonly SourceSummary[]) => string)
  /** @param at  which source of the answer it is, from 0 */
  sourceStart(source: SourceSummary, at: number): string
  readonly sourceEnd: string
  readonly end: string
}

/** The columns of an answer that is one record. */
export const CSV_RECORD_HEADER = `SourceRecords${CSV_LINE_END}`

/** Ok: the source was searched completely. */
const statusOf = ({ isPartial }: SourceSummary) => (isPartial ? 'Partial' : 'Ok')

/** Without rows it is a collection of no features. */
const geoJsonFrame: Frame = {
  start: geoJsonStart,
  sourceStart: () => '',
  sourceEnd: '',
  end: ']}',
}

/** Frames of lists, and of answers that hold counts only. */
export const frames: Readonly<Record<ListLayout, { list: Frame; counts: Frame }>> = {
  json: {
    list: {
      start: '{"SourceRecords":[',
      sourceStart: (source, at) => `${commaBefore(at)}${jsonSource(source)},"Recipients":[`,
      sourceEnd: ']}',
      end: ']}',
    },
    counts: {
      start: '{"SourceRecords":[',
      sourceStart: (source, at) => commaBefore(at) + jsonSource(source),
      sourceEnd: '}',
      end: ']}',
    },
  },
  // Each recipient is a line, which says its source by itself.
  ndjson: {
    list: {
      start: '',
      sourceStart: () => '',
      sourceEnd: '',
      end: '',
    },
    counts: {
      start: '',
      sourceStart: jsonSource,
      sourceEnd: '}\n',
      end: '',
    },
  },
  // One list of features for all sources, so that what is said of these stands before it.
  geojson: { list: geoJsonFrame, counts: geoJsonFrame },
  flat: {
    list: {
      start: `SourceId,Label,Number,Lat,Lng${CSV_LINE_END}`,
      sourceStart: () => '',
      sourceEnd: '',
      end: '',
    },
    counts: {
      start: `SourceId,Label,Count,Status${CSV_LINE_END}`,
      sourceStart: csvSource,
      sourceEnd: CSV_LINE_END,
      end: '',
    },
  },
  sources: {
    list: {
      start: `SourceId,Label,Count,Status,Recipients${CSV_LINE_END}`,
      sourceStart: (source) => `${csvSource(source)},"[`,
      sourceEnd: `]"${CSV_LINE_END}`,
      end: '',
    },
    counts: {
      start: `SourceId,Label,Count,Status,Recipients${CSV_LINE_END}`,
      sourceStart: (source) => `${csvSource(source)},`,
      sourceEnd: CSV_LINE_END,
      end: '',
    },
  },
  record: {
    list: {
      start: '"[',
      sourceStart: (source, at) => `${commaBefore(at)}${jsvSource(source)},Recipients:[`,
      sourceEnd: ']}',
      end: `]"${CSV_LINE_END}`,
    },
    counts: {
      start: '"[',
      sourceStart: (source, at) => commaBefore(at) + jsvSource(source),
      sourceEnd: '}',
      end: `]"${CSV_LINE_END}`,
    },
  },
}

/** A frame that holds no recipients. */
export function framed(frame: Frame, sources: readonly SourceSummary[]): string {
  let text = startOf(frame, sources)
  for (let at = 0; at < sources.length; at++) {
    text += frame.sourceStart(sources[at], at) + frame.sourceEnd
  }
  return text + frame.end
}

export function startOf({ start }: Frame, sources: readonly SourceSummary[]): string {
  return typeof start === 'string' ? start : start(sources)
}

/** A frame of JSON with members at its end; those that are undefined are left out. */
export function withMembers(frame: Frame, members: Readonly<Record<string, unknown>>): Frame {
  // Undefined members have no text.
  const text = JSON.stringify(members).slice(1)
  return { ...frame, end: `${frame.end.slice(0, -1)},${text}` }
}

/** The beginning of every line of a source, up to the phone. */
export function ndjsonRowPrefix(sourceId: number): string {
  return `{"SourceId":${sourceId},"Number":"`
}

/** The beginning of every feature of a source, up to the phone. */
export function geoJsonRowPrefix(sourceId: number): string {
  return `,{"type":"Feature","properties":{"SourceId":${sourceId},"Number":"`
}

/** The beginning of every row of a source in a flat list. */
export function csvRowPrefix(sourceId: number, label: string): string {
  return `${sourceId},${csvText(label)},`
}

function commaBefore(at: number): string {
  return at > 0 ? ',' : ''
}

/** A collection up to its features, with the source records as a foreign member (RFC 7946, 6.1). */
function geoJsonStart(sources: readonly SourceSummary[]): string {
  const records = sources.map((source) => `${jsonSource(source)}}`)
  return `{"type":"FeatureCollection","SourceRecords":[${records.join()}],"features":[`
}

/** A source record without its closing brace. */
function jsonSource(source: SourceSummary): string {
  return `${jsonStart(source)}${source.count},"Status":"${statusOf(source)}"`
}

/** What stands before the count. Sources are few, and each answer has the same ones. */
function jsonStart({ sourceId, label }: SourceSummary): string {
  const known = jsonStarts.get(sourceId)
  if (known?.label === label) return known.text
  const text = `{"SourceId":${sourceId},"Label":${JSON.stringify(label)},"Count":`
  // Those of old snapshots need not be kept.
  if (jsonStarts.size === 2 * limits.sourceCount) jsonStarts.clear()
  jsonStarts.set(sourceId, { label, text })
  return text
}

const jsonStarts = new Map<number, { readonly label: string; readonly text: string }>()

function csvSource(source: SourceSummary): string {
  const { sourceId, label, count } = source
  return [sourceId, csvText(label), count, csvField(statusOf(source))].join(',')
}

/** A source record without its closing brace, within a field of CSV that is quoted. */
function jsvSource(source: SourceSummary): string {
  const { sourceId, label, count } = source
  const text = csvEscaped(jsvText(label))
  return `{SourceId:${sourceId},Label:${text},Count:${count},Status:${statusOf(source)}`
}
