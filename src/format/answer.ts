/**
 * The answer of an operation, in every format. It is complete: nothing can be refused any more.
 *
 * @module
 */
import type { SentWarning } from './warning-headers.js'

/** Takes the bytes of an answer, under back-pressure. */
export interface ByteSink {
  /** True when the client has disconnected. */
  readonly gone: boolean
  /**
   * Hands over one piece or copies it. When it returns, the memory of the piece may be used again.
   *
   * @returns false under back-pressure: await `drained` before writing again
   */
  write(piece: Uint8Array): boolean
  /** Resolves when the bytes that were written have been taken, or never will be. */
  drained(): Promise<void>
}

/** A long body, which writes itself. */
export interface BodyWriter {
  /** Writes it piece by piece; returns when all of it is written or the client has disconnected. */
  write(sink: ByteSink): Promise<void>
  /**
   * How many bytes `write` is going to write; undefined where it would take too long to find out. Left
   * out where only writing tells.
   *
   * @throws ServiceError  as a rejection
   */
  byteCount?(): Promise<number | undefined>
}

/** The bytes of an answer or of a part of one. Long ones write themselves. */
export type Body = string | Uint8Array | BodyWriter

/** `flat`: one row a recipient. `sources`: one row a source, its recipients in a nested cell. */
export type CsvLayout = 'flat' | 'sources'

/** One answer among several in a table: each becomes one row. */
export interface CsvRecord {
  /** The names of the columns, ended by CRLF; the same for all answers of an operation. */
  readonly header: string
  /** Ended by CRLF. */
  readonly row: Body
}

/** What an audit says of an answer, or of one of several. Nothing of it is of people. */
export interface AnswerRecord {
  readonly facts: () => RecordedFacts
}

/** Members of a line of an audit. None has the name of a member of the line itself: readers take the last one. */
type RecordedFacts = Readonly<Record<string, unknown>> & {
  readonly [own in OwnMember]?: undefined
}

type OwnMember =
  | 'sequence'
  | 'previous'
  | 'time'
  | 'event'
  | 'phase'
  | 'requestId'
  | 'traceId'
  | 'keyName'
  | 'address'
  | 'operation'
  | 'isBatch'

export interface Answer {
  /** The headers beside those of the format. */
  readonly headers: Readonly<Record<string, string>>
  /** The memory that it takes until it is written. */
  readonly heldBytes: number
  /** What may be wrong with the request; the headers and the bodies that have room say it, too. */
  readonly warnings?: readonly SentWarning[] | undefined
  /** Whether it is a page of a list, whose headers say how to go on. Default false. */
  readonly isPage?: boolean
  /** Whether it is a list of answers. Default false. */
  readonly isBatch?: boolean
  /** Whether it, or one of several, has phones of people. Default false. */
  readonly isList?: boolean
  /** What an audit says of it, one record a list; left out where it says nothing. */
  records?(): readonly AnswerRecord[]
  /** Without line ends. */
  json(): Body
  /** Lines, each ended by LF. Left out where the JSON is the only line. */
  ndjson?(): Body
  /** A FeatureCollection, without line ends. Left out where the answer has no shapes. */
  geoJson?(): Body
  /** A table with a header. */
  csv(layout: CsvLayout): Body
  csvRecord(): CsvRecord
}

/** Writes any body, and waits until there is room for more. */
export async function writeBody(body: Body, sink: ByteSink): Promise<void> {
  if (!isWhole(body)) await body.write(sink)
  // No bytes are no piece: those in front of them may have been the last ones, and the answer over.
  else if (body.length > 0 && !sink.write(typeof body === 'string' ? utf8.encode(body) : body)) {
    await sink.drained()
  }
}

export function isWhole(body: Body): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

const utf8 = new TextEncoder()
