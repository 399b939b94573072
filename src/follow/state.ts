/**
 * How far the server was told that changes are on disk, as a file of the data directory. It is written before the
 * server is told: if the slot is further, somebody else has moved it or made it anew, or the directory was
 * restored from a backup, and changes are missing. With the place is kept what it is a place in.
 *
 * @module
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Type from '#typebox'
import { Compile } from '#typebox/compile'
import { createDirectorySync, replaceFileSync, syncDirectorySync } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import type { RowOptions } from '../sources/batch.js'
import { isBefore, type TableIdentity } from '../sources/postgres/replication/identity.js'
import { formatLsn, parseLsn } from '../sources/postgres/replication/lsn.js'
import type { Commit } from '../sources/postgres/replication/messages.js'

const LSN = { pattern: '^[0-9A-F]{1,8}/[0-9A-F]{1,8}$' }

const ColumnSchema = Type.Object({
  name: Type.String(),
  number: Type.Integer(),
  type: Type.String(),
  row: Type.String(),
  definition: Type.String(),
  before: Type.Optional(Type.Array(Type.Integer())),
  labels: Type.Array(Type.String()),
})

const IdentitySchema = Type.Object({
  horizon: Type.Optional(Type.Integer()),
  table: Type.String(),
  isLogged: Type.Boolean(),
  file: Type.String(),
  toast: Type.String(),
  columns: Type.Object({
    number: Type.Optional(ColumnSchema),
    lat: Type.Optional(ColumnSchema),
    lng: Type.Optional(ColumnSchema),
    contact: Type.Optional(ColumnSchema),
    key: Type.Optional(ColumnSchema),
  }),
  otherColumns: Type.String(),
  unique: Type.Array(Type.String()),
  publication: Type.Optional(
    Type.Object({
      name: Type.String(),
      oid: Type.String(),
      row: Type.String(),
      members: Type.Array(Type.String()),
    }),
  ),
})

/** Members that are optional are missing where an earlier release wrote the file. */
const StateSchema = Type.Object({
  format: Type.Literal('hickory-follow'),
  formatVersion: Type.Literal(1),
  systemId: Type.String(),
  slot: Type.String(),
  table: Type.String(),
  confirmedLsn: Type.String(LSN),
  timeline: Type.Optional(Type.Integer()),
  lastCommit: Type.Optional(
    Type.Object({ lsn: Type.String(LSN), xid: Type.Integer(), time: Type.String() }),
  ),
  identity: Type.Optional(IdentitySchema),
  moved: Type.Optional(Type.Array(Type.Integer())),
  rules: Type.Optional(Type.String()),
  copySequence: Type.Optional(Type.Integer()),
  sequence: Type.Optional(Type.Integer()),
  stopped: Type.Optional(Type.String()),
})

const validator = Compile(StateSchema)

/** What is followed, and how far. */
export interface FollowState {
  readonly systemId: string
  readonly slot: string
  readonly table: string
  readonly confirmedLsn: bigint
  /** Of the server's log. */
  readonly timeline?: number | undefined
  /** The last one that changed the table; its `xid` is 0 where none did since the copy. */
  readonly lastCommit?: Commit | undefined
  /** What the table was when it was compared last; where columns may have been renamed since, before what is still to come. */
  readonly identity?: TableIdentity | undefined
  /** Transactions since then in which a used column came at another place in rows. */
  readonly moved?: readonly number[] | undefined
  /** By which rows are taken. */
  readonly rules?: string | undefined
  /** The last batch of the journal when the copy was made: those of an earlier copy are before it. */
  readonly copySequence?: number | undefined
  /** A batch of the journal up to which there is nothing of transactions behind the place. */
  readonly sequence?: number | undefined
  /** Why the next start must be a copy. */
  readonly stopped?: string | undefined
}

/** What is compared with from now on. */
export function withIdentity(state: FollowState, identity: TableIdentity): FollowState {
  return { ...state, identity, moved: state.moved?.filter((xid) => !isBefore(xid, identity)) }
}

/** Only a copy makes it good: each later start is refused with the same message. */
export class CopyNeeded extends OperatorError {
  constructor(message: string) {
    super('InputRejected', message)
  }
}

/** Options by which rows are taken, as a text that is the same for the same options. */
export function rulesOf({ e164Region, hasDecimalComma, allowsNullIsland }: RowOptions): string {
  const rules = [
    e164Region === undefined ? [] : `--normalize e164:${e164Region}`,
    hasDecimalComma === true ? '--decimal-comma' : [],
    allowsNullIsland === true ? '--allow-null-island' : [],
  ]
  return rules.flat().join(' ')
}

export class StateFile {
  readonly #directory: string
  readonly #path: string

  constructor(dataDirectory: string, sourceId: number) {
    this.#directory = join(dataDirectory, 'follow')
    this.#path = join(this.#directory, `${sourceId}.json`)
  }

  /**
   * @returns undefined where the source was not copied yet
   * @throws OperatorError  where it is not as it was written
   */
  read(): FollowState | undefined {
    let text: string
    try {
      text = readFileSync(this.#path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    const value = parsed(text)
    if (validator.Check(value)) {
      const { lastCommit: last } = value
      const lastCommit = last && { ...last, lsn: parseLsn(last.lsn), time: BigInt(last.time) }
      return { ...value, confirmedLsn: parseLsn(value.confirmedLsn), lastCommit }
    }
    throw new OperatorError(
      'Failed',
      `${this.#path} is not as it was written: start again with --initial-copy`,
    )
  }

  /** On disk when it returns. */
  write({ confirmedLsn, lastCommit: last, ...others }: FollowState): void {
    const content = {
      ...others,
      format: 'hickory-follow',
      formatVersion: 1,
      confirmedLsn: formatLsn(confirmedLsn),
      lastCommit: last && { ...last, lsn: formatLsn(last.lsn), time: `${last.time}` },
    }
    createDirectorySync(this.#directory)
    replaceFileSync(this.#path, `${JSON.stringify(content)}\n`)
  }

  /** From now on each start is refused. A file that cannot be written leaves it to the next start to find out again. */
  stop({ message }: CopyNeeded): void {
    try {
      const state = this.read()
      if (state !== undefined && state.stopped === undefined) {
        this.write({ ...state, stopped: message })
      }
    } catch {}
  }

  /** From now on nothing is followed. */
  remove(): void {
    rmSync(this.#path, { force: true })
    if (existsSync(this.#directory)) syncDirectorySync(this.#directory)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
