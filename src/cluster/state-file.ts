/**
 * What a machine remembers of its cluster, below its data directory:
 *
 *   cluster/state.json       which cluster, and which machine
 *   cluster/facts.json       what the journal says of machines and snapshots up to a sequence: it need not be read again
 *   cluster/connection.json  how the cluster is reached, for commands: addresses of NATS and names of files, nothing secret
 *
 * Each has the SHA-256 of what else is in it: a bit that was flipped must not make it another machine.
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
import type { NatsSettings } from './nats/connection.js'

/**
 * Why a directory is to begin with what other machines have:
 *
 * - `gone`: it has nothing, or lacks what others keep no more.
 * - `damaged`: the journal or the store is not as it was written, or is gone.
 *
 * Or what is to be looked at:
 *
 * - `suspect`: something in the journal could not be read.
 * - `snapshot`: files of a snapshot are not as they were written.
 */
const REASONS = ['gone', 'damaged', 'suspect', 'snapshot'] as const

export type BeginsAnew = (typeof REASONS)[number]

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Path = Type.Optional(Type.String())

const StateSchema = Type.Object({
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

const MemberSchema = Type.Object({
  name: Type.String(),
  incarnation: Type.String(),
  maxLagMs: Count,
})

const FactsSchema = Type.Object({
  sequence: Count,
  members: Type.Array(MemberSchema),
  leaving: Type.Array(MemberSchema),
  announced: Type.Optional(
    Type.Object({
      id: Type.String(),
      documents: Type.Array(
        Type.Object({ file: Type.String(), sha256: Type.String(), byteLength: Count }),
      ),
      by: Type.String(),
      sequence: Count,
    }),
  ),
  switchedId: Type.Optional(Type.String()),
  retention: Type.Optional(Type.Object({ importCount: Count, unneededSequence: Count })),
})

const ConnectionSchema = Type.Object({
  clusterId: Type.String(),
  /** Of the machine. */
  name: Type.String(),
  nats: Type.Object({
    servers: Type.Array(Type.String()),
    credentials: Path,
    nkey: Path,
    tls: Type.Optional(Type.Object({ authority: Path, certificate: Path, key: Path })),
  }),
  natsMonitors: Type.Array(Type.String()),
})

export type ClusterState = Omit<Static<typeof StateSchema>, 'formatVersion'>

export interface KnownConnection {
  readonly clusterId: string
  readonly name: string
  readonly nats: NatsSettings
  readonly natsMonitors: readonly string[]
}

const states = validatorOf(StateSchema)
const facts = validatorOf(FactsSchema)
const connections = validatorOf(ConnectionSchema)

type File = 'state' | 'facts' | 'connection'

const pathOf = (dataDirectory: string, file: File) =>
  join(clusterDirectory(dataDirectory), `${file}.json`)

/**
 * @returns undefined where the directory is of no cluster
 * @throws OperatorError  Failed, where it cannot be read or is damaged
 */
export function readState(dataDirectory: string): ClusterState | undefined {
  const value = read(dataDirectory, 'state')
  if (value === undefined) return undefined
  if (states.Check(value)) {
    const { formatVersion: _, ...state } = value
    return state
  }
  if ((value as { formatVersion?: unknown } | null)?.formatVersion === 1) {
    throw new OperatorError('Usage', EARLIER)
  }
  throw new StateDamaged(pathOf(dataDirectory, 'state'))
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
  await write(dataDirectory, 'state', { formatVersion: 2, ...state })
}

/** Where they are not there or damaged: nothing, up to where the cluster was founded. */
export function readFacts(dataDirectory: string): KnownFacts {
  try {
    const value = read(dataDirectory, 'facts')
    if (facts.Check(value)) return value
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

export async function writeFacts(dataDirectory: string, known: KnownFacts): Promise<void> {
  await write(dataDirectory, 'facts', known)
}

/**
 * @returns undefined where no service of a cluster has run on the directory
 * @throws OperatorError  Failed, where it cannot be read
 */
export function readConnection(dataDirectory: string): KnownConnection | undefined {
  const value = read(dataDirectory, 'connection')
  if (value === undefined || connections.Check(value)) return value
  throw new OperatorError(
    'Failed',
    `${pathOf(dataDirectory, 'connection')} is not as it was written: start the service, which writes it anew, or say ` +
      '--cluster nats://…',
  )
}

export async function noteConnection(
  dataDirectory: string,
  { clusterId, name, nats, natsMonitors }: KnownConnection,
): Promise<void> {
  await write(dataDirectory, 'connection', { clusterId, name, nats, natsMonitors })
}

async function write(dataDirectory: string, file: File, content: object): Promise<void> {
  await createDirectory(clusterDirectory(dataDirectory))
  const sealed = JSON.stringify({ ...content, sha256: digestOf(content) }, null, 2)
  await replaceFile(pathOf(dataDirectory, file), `${sealed}\n`)
}

const digestOf = (content: object) => hash('sha256', JSON.stringify(content))

/** @returns undefined where there is none, and null where it is not what was written */
function read(dataDirectory: string, file: File): unknown {
  const path = pathOf(dataDirectory, file)
  if (!existsSync(path)) return undefined
  try {
    const { sha256, ...content } = JSON.parse(readFileSync(path, 'utf8'))
    return sha256 === digestOf(content) ? content : null
  } catch (fault) {
    if (fault instanceof SyntaxError) return null
    const { code } = fault as NodeJS.ErrnoException
    throw new OperatorError('Failed', `${path} cannot be read (${code})`, { cause: fault })
  }
}
