/**
 * What a machine remembers of its cluster, below its data directory:
 *
 *   cluster/state.json   which cluster, which machine, and what it has promised; written to disk before anybody hears of it
 *   cluster/tail.json    what the journal says of epochs and members up to a sequence, so that it need not be read again
 *
 * @module
 */
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Type, { type Static } from '#typebox'
import { createDirectory, replaceFile } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { validatorOf } from '../validator.js'
import type { Member } from './agreement/messages.js'

const FORMAT = 'hickory-cluster'

/**
 * Why a directory is to begin with what other machines have:
 *
 * - `new`: it has nothing.
 * - `gone`: it lacks what others keep no more.
 * - `diverged`: its journal has what nobody else has.
 * - `damaged`: the journal or the store is not as it was written, or is gone.
 *
 * Or what is to be looked at:
 *
 * - `suspect`: something in the journal could not be read.
 * - `snapshot`: files of a snapshot are not as they were written.
 */
const REASONS = ['new', 'gone', 'diverged', 'damaged', 'suspect', 'snapshot'] as const

export type BeginsAnew = (typeof REASONS)[number]

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
  /** Where the journal ended then: what it says up to there is in the store, or was of another cluster. */
  foundedSequence: Type.Optional(Count),
  /** What is to be done first; left out where the directory is one of the cluster, and whole as far as is known. */
  beginsAnew: Type.Optional(Type.Enum(REASONS)),
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
  /** What need not stay since then. */
  retention: Type.Optional(Type.Object({ importCount: Count, unneededSequence: Count })),
})

export type ClusterState = Omit<Static<typeof StateSchema>, 'format' | 'formatVersion'>
export type LogTail = Static<typeof TailSchema> & { readonly members: readonly Member[] }

/** A text with the SHA-256 of what else is in the file: a bit that was flipped must not change what was promised. */
const DIGEST = 'sha256'

const stateValidator = validatorOf(StateSchema)
const tailValidator = validatorOf(TailSchema)

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
  throw new StateDamaged(path)
}

export class StateDamaged extends OperatorError {
  constructor(path: string) {
    super('Failed', `${path} is not as it was written`)
  }
}

export async function writeState(dataDirectory: string, state: ClusterState): Promise<void> {
  await createDirectory(clusterDirectory(dataDirectory))
  const content = { format: FORMAT, formatVersion: 1, ...state }
  await replaceFile(statePath(dataDirectory), textOf(content))
}

/** What a machine has promised the others, on disk before it is told. */
export class Promises {
  readonly #dataDirectory: string
  #state: ClusterState
  #isOver = false

  constructor(dataDirectory: string, state: ClusterState) {
    this.#dataDirectory = dataDirectory
    this.#state = state
  }

  /** Of the start. */
  get epoch(): number {
    return this.#state.epoch
  }

  /**
   * @throws OperatorError  Failed, where the file is another one by now, or none, or the directory is to be begun anew:
   *   nothing is promised that is not kept
   */
  async promise(epoch: number): Promise<void> {
    if (this.#isOver) throw new OperatorError('Failed', `${this.#dataDirectory} is begun anew`)
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
      // What cannot be read now, or is not as it was written, is known here, and is written again with the next promise.
      return true
    }
  }

  /** For the next start; nothing is promised from now on. */
  async beginAnew(reason: BeginsAnew): Promise<void> {
    this.#isOver = true
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
  await createDirectory(clusterDirectory(dataDirectory))
  await replaceFile(tailPath(dataDirectory), textOf(tail))
}

function textOf(content: object): string {
  const sealed = { ...content, [DIGEST]: digestOf(content) }
  return `${JSON.stringify(sealed, null, 2)}\n`
}

const digestOf = (content: object) => hash('sha256', JSON.stringify(content))

/** @returns undefined where it is not what was written */
function readJson(path: string): unknown {
  try {
    const { [DIGEST]: digest, ...content } = JSON.parse(readFileSync(path, 'utf8'))
    return digest === digestOf(content) ? content : undefined
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined
    const { code } = fault as NodeJS.ErrnoException
    throw new OperatorError('Failed', `${path} cannot be read (${code})`, { cause: fault })
  }
}
