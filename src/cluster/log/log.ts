/**
 * The log of a cluster: messages in one order, which all machines read alike. An engine outside this program keeps it on the
 * disks of a majority of its servers. `test/cluster/log/log-contract.ts` is what every implementation must keep to.
 *
 * Appends are blind: they expect no place and have no id. A message that was acknowledged is in the log; one that was not may
 * be there all the same, and one that is sent twice may be there twice. Each reader decides from the order of the log alone
 * what becomes of a message (Schneider, "Implementing Fault-Tolerant Services Using the State Machine Approach", 1990).
 *
 * @module
 */
import { hash } from 'node:crypto'
import type { Link } from '../../chain/link.js'

/** A message in its place. */
export interface LogMessage {
  /** 1 for the first message of a log; each is one more than that of the message before it. */
  readonly place: number
  /** Milliseconds since 1970 at which the engine took it, by the clock of one of its servers: the same for all readers. */
  readonly timeMs: number
  readonly bytes: Uint8Array
}

/** What is said of a log when it is made. */
export interface LogFounding {
  /** 16 hexadecimal digits, drawn for it: another log of the same name has others. */
  readonly generation: string
  /** The machine that makes it. */
  readonly founder: string
  /** The batch behind which its first message goes on. */
  readonly base: Link
}

export interface LogInfo {
  /** The first message that is kept. */
  readonly first: number
  /** Behind the last one: the log has the places of [first, end). */
  readonly end: number
  /** As it was founded; undefined of a log that others have made. */
  readonly generation: string | undefined
  readonly founder?: string | undefined
  readonly base?: Link | undefined
  /** Messages that the server that was asked lacks between the first and the last one. */
  readonly missingCount: number
  /** On so many servers it is kept. */
  readonly copyCount: number
  /** The server that was asked. */
  readonly server: string | undefined
}

/** Why a follower gets nothing more, until the log is as it should be. */
export type LogFault =
  /** The server that was asked lacks messages that other ones may have: its disk is damaged. */
  | { readonly kind: 'hole'; readonly place: number; readonly server: string | undefined }
  /** What comes next is kept no more. */
  | { readonly kind: 'gone'; readonly place: number; readonly first: number }
  /** The log ends before what was read from it. */
  | { readonly kind: 'lost'; readonly place: number; readonly end: number }
  /** What was read last is another message by now. */
  | { readonly kind: 'changed'; readonly place: number }
  /** It is a log of another generation. */
  | {
      readonly kind: 'other'
      readonly generation: string | undefined
      readonly base: Link | undefined
    }
  /** The engine answers that there is no log. */
  | { readonly kind: 'missing' }

/** Where a reader begins. */
export interface LogStart {
  /** Messages behind this place; 0 for all of them. */
  readonly after: number
  /** So many before are told, too, if they are kept. */
  readonly beforeCount?: number
  /** The log that is meant; undefined for any. */
  readonly generation?: string | undefined
  /** That of the message at `after`, which an earlier process has read: another one there is `changed`. */
  readonly digest?: string | undefined
}

export interface LogReader {
  /**
   * The next messages: there are none between them and those before. The next call is made when this one is done. A reader
   * that cannot go on waits. What it throws ends the process: it is not told these messages again.
   */
  onMessages(messages: readonly LogMessage[]): void | Promise<void>
  /** Comes again for as long as it lasts; undefined when it is over, and when all is read that there is. */
  onFault(fault: LogFault | undefined): void
}

export interface Log {
  /** A message may take so many bytes. */
  readonly messageBytes: number

  /**
   * Appends a message. Messages of one caller that are not waited for come in the order of the calls, or not at all.
   *
   * @returns its place, when it is on the disks of a majority of the servers
   * @throws  as a rejection, where that is not known: it may be there, or come later
   */
  append(bytes: Uint8Array): Promise<number>

  /**
   * Reads the messages behind a place, those that are there and those that come, each once and in their order.
   *
   * @returns stops it
   */
  follow(start: LogStart, reader: LogReader): () => void

  /**
   * Reads the messages of [start, end); undefined in the place of one that the server lacks that was asked.
   *
   * @throws  where no server answers
   */
  read(start: number, end: number): AsyncIterable<LogMessage | undefined>

  /**
   * @returns undefined where there is no log; a server that was just elected may not know of it yet
   * @throws  as a rejection, where no server answers
   */
  info(): Promise<LogInfo | undefined>
}

/** SHA-256 in hexadecimal digits. */
export function digestOf({ bytes }: Pick<LogMessage, 'bytes'>): string {
  return hash('sha256', bytes, 'hex')
}
