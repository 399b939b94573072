/**
 * What a machine remembers of its cluster, below its data directory:
 *
 *   cluster/state.json   which cluster, which machine, and what it has promised; written to disk before anybody hears of it
 *   cluster/tail.json    what the journal says of epochs and members up to a sequence, so that it need not be read again
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { OperatorError } from '../errors.js'
import { createDirectory, replaceFile } from '../snapshot/directory.js'
import type { Member } from './agreement/messages.js'

const FORMAT = 'hickory-cluster'

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const MemberSchema = Type.Object({ name: Type.String(), incarnation: Type.String() })

const FileSchema = Type.Object({ file: Type.String(), sha256: Type.String(), byteLength: Count })

const StateSchema = Type.Object({
  format: Type.Literal(FORMAT),
  formatVersion: Type.Literal(1),
  clusterId: Type.String(),
  name: Type.String(),
  incarnation: Type.String(),
  epoch: Count,
  /** Whether the cluster began with it. */
  isFounder: Type.Boolean(),
  /** Why the directory is to begin with what other machines have; left out where it is one of the cluster. */
  beginsAnew: Type.Optional(
    Type.Union([
      Type.Literal('new'),
      Type.Literal('gone'),
      Type.Literal('diverged'),
      Type.Literal('damaged'),
    ]),
  ),
})

const TailSchema = Type.Object({
  /** All entries up to here are taken in. It is committed. */
  sequence: Count,
  /** The last entries that began epochs, in order. */
  epochs: Type.Array(Type.Object({ sequence: Count, epoch: Count })),
  members: Type.Array(MemberSchema),
  membersSequence: Count,
  /** The last one that was announced. */
  snapshot: Type.Optional(Type.Object({ id: Type.String(), documents: Type.Array(FileSchema) })),
  switchedId: Type.Optional(Type.String()),
})

export type ClusterState = Omit<Static<typeof StateSchema>, 'format' | 'formatVersion'>
export type LogTail = Static<typeof TailSchema> & { readonly members: readonly Member[] }

const stateValidator = Compile(StateSchema)
const tailValidator = Compile(TailSchema)

export const clusterDirectory = (dataDirectory: string) => join(dataDirectory, 'cluster')
const statePath = (dataDirectory: string) => join(clusterDirectory(dataDirectory), 'state.json')
const tailPath = (dataDirectory: string) => join(clusterDirectory(dataDirectory), 'tail.json')

/**
 * @returns undefined where the directory is of no cluster
 * @throws OperatorError  Failed, where it cannot be read or is damaged
 */
export function readState(dataDirectory: string): ClusterState | undefined {
  const path = statePath(dataDirectory)
  if (!existsSync(path)) return undefined
  const value = readJson(path)
  if (stateValidator.Check(value)) {
    const { format: _, formatVersion: _1, ...state } = value
    return state
  }
  throw new OperatorError(
    'Failed',
    `${path} is damaged: move ${dataDirectory} away, and the machine begins anew with what the others have`,
  )
}

export async function writeState(dataDirectory: string, state: ClusterState): Promise<void> {
  await createDirectory(clusterDirectory(dataDirectory))
  const content = { format: FORMAT, formatVersion: 1, ...state }
  await replaceFile(statePath(dataDirectory), `${JSON.stringify(content, null, 2)}\n`)
}

/** What a machine has promised the others, on disk before it is told. */
export class Promises {
  readonly #dataDirectory: string
  #state: ClusterState

  constructor(dataDirectory: string, state: ClusterState) {
    this.#dataDirectory = dataDirectory
    this.#state = state
  }

  /** Of the start. */
  get epoch(): number {
    return this.#state.epoch
  }

  /** @throws OperatorError  Failed, where the file is another one by now, or none: nothing is promised that is not kept */
  async promise(epoch: number): Promise<void> {
    if (!this.isThere()) {
      throw new OperatorError('Failed', `${statePath(this.#dataDirectory)} is gone`)
    }
    const state = { ...this.#state, epoch }
    await writeState(this.#dataDirectory, state)
    this.#state = state
  }

  /** Whether the directory is the one with which the machine began. */
  isThere(): boolean {
    try {
      return readState(this.#dataDirectory)?.incarnation === this.#state.incarnation
    } catch {
      return false
    }
  }

  /** For the next start. */
  async beginAnew(reason: NonNullable<ClusterState['beginsAnew']>): Promise<void> {
    await writeState(this.#dataDirectory, { ...this.#state, beginsAnew: reason })
  }
}

/** From the beginning of the journal where it is not there or damaged. */
export function readTail(dataDirectory: string): LogTail {
  const path = tailPath(dataDirectory)
  try {
    const value = readJson(path)
    if (tailValidator.Check(value)) return value
  } catch {
    // As where there is none.
  }
  return { sequence: 0, epochs: [], members: [], membersSequence: 0 }
}

export async function writeTail(dataDirectory: string, tail: LogTail): Promise<void> {
  await replaceFile(tailPath(dataDirectory), `${JSON.stringify(tail, null, 2)}\n`)
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined
    const { code } = fault as NodeJS.ErrnoException
    throw new OperatorError('Failed', `${path} cannot be read (${code})`, { cause: fault })
  }
}
