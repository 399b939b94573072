/**
 * What a machine remembers of its cluster, below its data directory:
 *
 *   cluster/state.json   which cluster, and which machine
 *   cluster/facts.json   what the journal says of machines and snapshots up to a sequence: it need not be read again
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
import { clusterDirectory } from './directory.js'
import { type KnownFacts, NO_FACTS } from './facts.js'

const FORMAT = 'hickory-cluster'

/**
 * Why a directory is to begin with what other machines have:
 *
 * - `new`: it has nothing.
 * - `gone`: it lacks what others keep no more.
 * - `damaged`: the journal or the store is not as it was written, or is gone.
 *
 * Or what is to be looked at:
 *
 * - `suspect`: something in the journal could not be read.
 * - `snapshot`: files of a snapshot are not as they were written.
 */
const REASONS = ['new', 'gone', 'damaged', 'suspect', 'snapshot'] as const

export type BeginsAnew = (typeof REASONS)[number]

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const MemberSchema = Type.Object({
  name: Type.String(),
  incarnation: Type.String(),
  maxLagMs: Count,
})

const FileSchema = Type.Object({ file: Type.String(), sha256: Type.String(), byteLength: Count })

const StateSchema = Type.Object({
  format: Type.Literal(FORMAT),
  formatVersion: Type.Literal(2),
  clusterId: Type.String(),
  name: Type.String(),
  incarnation: Type.String(),
  /** Whether the cluster began with it. */
  isFounder: Type.Boolean(),
  /** Where the journal ended then, also of a machine that joined: what it says up to there is in the store, or was of another cluster. */
  foundedSequence: Type.Optional(Count),
  /** What is to be done first; left out where the directory is one of the cluster, and whole as far as is known. */
  beginsAnew: Type.Optional(Type.Enum(REASONS)),
})

const FactsSchema = Type.Object({
  sequence: Count,
  members: Type.Array(MemberSchema),
  leaving: Type.Array(MemberSchema),
  announced: Type.Optional(
    Type.Object({
      id: Type.String(),
      documents: Type.Array(FileSchema),
      by: Type.String(),
      sequence: Count,
    }),
  ),
  switchedId: Type.Optional(Type.String()),
  retention: Type.Optional(Type.Object({ importCount: Count, unneededSequence: Count })),
})

export type ClusterState = Omit<Static<typeof StateSchema>, 'format' | 'formatVersion'>

/** A text with the SHA-256 of what else is in the file: a bit that was flipped must not make it another machine. */
const DIGEST = 'sha256'

const stateValidator = validatorOf(StateSchema)
const factsValidator = validatorOf(FactsSchema)

const statePath = (dataDirectory: string) => join(clusterDirectory(dataDirectory), 'state.json')
const factsPath = (dataDirectory: string) => join(clusterDirectory(dataDirectory), 'facts.json')

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
  if ((value as { formatVersion?: unknown } | undefined)?.formatVersion === 1) {
    throw new OperatorError('Usage', EARLIER)
  }
  throw new StateDamaged(path)
}

const EARLIER =
  'the data directory is that of a cluster of an earlier version, whose machines elected one that writes: let it leave with ' +
  'that version (`hickory cluster leave`), and begin a cluster anew'

/** Whether a directory is still that of a machine; one that cannot be read now is taken for it. */
export function isDirectoryOf(dataDirectory: string, { incarnation }: ClusterState): boolean {
  try {
    return readState(dataDirectory)?.incarnation === incarnation
  } catch {
    return true
  }
}

export class StateDamaged extends OperatorError {
  constructor(path: string) {
    super('Failed', `${path} is not as it was written`)
  }
}

export async function writeState(dataDirectory: string, state: ClusterState): Promise<void> {
  await createDirectory(clusterDirectory(dataDirectory))
  const content = { format: FORMAT, formatVersion: 2, ...state }
  await replaceFile(statePath(dataDirectory), textOf(content))
}

/** Where they are not there or damaged: nothing, up to where the cluster was founded. */
export function readFacts(dataDirectory: string): KnownFacts {
  try {
    const value = readJson(factsPath(dataDirectory))
    if (factsValidator.Check(value)) return value
  } catch {
    // As where there is none.
  }
  return { ...NO_FACTS, sequence: foundedSequenceIn(dataDirectory) ?? 0 }
}

/** What the journal says up to there may be of an earlier cluster. */
export function foundedSequenceIn(dataDirectory: string): number | undefined {
  try {
    return readState(dataDirectory)?.foundedSequence
  } catch {
    // The next one that reads it says what is to be done.
    return undefined
  }
}

export async function writeFacts(dataDirectory: string, facts: KnownFacts): Promise<void> {
  await createDirectory(clusterDirectory(dataDirectory))
  await replaceFile(factsPath(dataDirectory), textOf(facts))
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
