/**
 * How far the server was told that changes are on disk, as a file of the data directory. It is written before the
 * server is told: if the slot is further, somebody else has moved it or made it anew, or the directory was
 * restored from a backup, and changes are missing.
 *
 * @module
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Type, { type Static } from '#typebox'
import { Compile } from '#typebox/compile'
import { createDirectorySync, replaceFileSync, syncDirectorySync } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { formatLsn, parseLsn } from '../sources/postgres/replication/lsn.js'

const StateSchema = Type.Object({
  format: Type.Literal('hickory-follow'),
  formatVersion: Type.Literal(1),
  systemId: Type.String(),
  slot: Type.String(),
  table: Type.String(),
  confirmedLsn: Type.String({ pattern: '^[0-9A-F]{1,8}/[0-9A-F]{1,8}$' }),
})

const validator = Compile(StateSchema)

/** What is followed, and how far. */
export interface FollowState {
  readonly systemId: string
  readonly slot: string
  readonly table: string
  readonly confirmedLsn: bigint
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
    if (validator.Check(value)) return { ...value, confirmedLsn: parseLsn(value.confirmedLsn) }
    throw new OperatorError(
      'Failed',
      `${this.#path} is not as it was written: start again with --initial-copy`,
    )
  }

  /** On disk when it returns. */
  write({ systemId, slot, table, confirmedLsn }: FollowState): void {
    const content: Static<typeof StateSchema> = {
      format: 'hickory-follow',
      formatVersion: 1,
      systemId,
      slot,
      table,
      confirmedLsn: formatLsn(confirmedLsn),
    }
    createDirectorySync(this.#directory)
    replaceFileSync(this.#path, `${JSON.stringify(content)}\n`)
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
