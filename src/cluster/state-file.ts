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
import { createDirectory, replaceFile } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { clusterDirectory } from './directory.js'
import { type Facts, type KnownFacts, NO_FACTS } from './facts.js'
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
export type BeginsAnew = 'gone' | 'damaged' | 'suspect' | 'snapshot'

export interface ClusterState {
  readonly clusterId: string
  readonly name: string
  readonly incarnation: string
  /** Whether the cluster began with it. */
  readonly isFounder: boolean
  /** Where the journal ended then, also of a machine that joined: what it says up to there is in the store, or was of another cluster. */
  readonly foundedSequence?: number | undefined
  /** What is to be done first; undefined where the directory is one of the cluster, and whole as far as is known. */
  readonly beginsAnew?: BeginsAnew | undefined
}

export interface KnownConnection {
  readonly clusterId: string
  /** Of the machine. */
  readonly name: string
  readonly nats: NatsSettings
  readonly natsMonitors: readonly string[]
}

/**
 * @returns undefined where the directory is of no cluster
 * @throws OperatorError  Failed, where it cannot be read or is damaged
 */
export function readState(dataDirectory: string): ClusterState | undefined {
  const found = read<ClusterState & { formatVersion: number }>(dataDirectory, 'state')
  if (found === undefined) return undefined
  const { formatVersion, ...state } = found.content ?? {}
  if (formatVersion === FORMAT_VERSION) return state as ClusterState
  if (formatVersion === 1) throw new OperatorError('Usage', EARLIER)
  throw new StateDamaged(found.path)
}

const FORMAT_VERSION = 2

const EARLIER =
  'the data directory is that of a cluster of an earlier version, whose machines elected one that writes: let it leave with ' +
  'that version (`hickory cluster leave`), and begin a cluster anew'

export class StateDamaged extends OperatorError {
  constructor(path: string) {
    super('Failed', `${path} is not as it was written`)
  }
}

/** Whether a directory is still that of a machine; one that cannot be read now is taken for it. */
export function isDirectoryOf(dataDirectory: string, { incarnation }: ClusterState): boolean {
  try {
    return readState(dataDirectory)?.incarnation === incarnation
  } catch {
    return true
  }
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

export async function writeState(dataDirectory: string, state: ClusterState): Promise<void> {
  await write(dataDirectory, 'state', { formatVersion: FORMAT_VERSION, ...state })
}

/** Where they are not there or damaged: nothing, up to where the cluster was founded. */
export function readFacts(dataDirectory: string): KnownFacts {
  const nothing = () => ({ ...NO_FACTS, sequence: foundedSequenceIn(dataDirectory) ?? 0 })
  try {
    return read<KnownFacts>(dataDirectory, 'facts')?.content ?? nothing()
  } catch {
    return nothing()
  }
}

export async function writeFacts(dataDirectory: string, facts: KnownFacts): Promise<void> {
  await write(dataDirectory, 'facts', facts)
}

/**
 * @returns undefined where no service of a cluster has run on the directory
 * @throws OperatorError  Failed, where it cannot be read
 */
export function readConnection(dataDirectory: string): KnownConnection | undefined {
  const found = read<KnownConnection>(dataDirectory, 'connection')
  if (found === undefined || found.content !== undefined) return found?.content
  throw new OperatorError(
    'Failed',
    `${found.path} is not as it was written: start the service, which writes it anew, or say --cluster nats://…`,
  )
}

export async function noteConnection(
  dataDirectory: string,
  { clusterId, name, nats, natsMonitors }: KnownConnection,
): Promise<void> {
  const known: KnownConnection = { clusterId, name, nats, natsMonitors }
  await write(dataDirectory, 'connection', known)
}

type File = 'state' | 'facts' | 'connection'

const pathOf = (dataDirectory: string, file: File) =>
  join(clusterDirectory(dataDirectory), `${file}.json`)

async function write(dataDirectory: string, file: File, content: object): Promise<void> {
  await createDirectory(clusterDirectory(dataDirectory))
  const sealed = JSON.stringify({ ...content, sha256: digestOf(content) }, null, 2)
  await replaceFile(pathOf(dataDirectory, file), `${sealed}\n`)
}

const digestOf = (content: object) => hash('sha256', JSON.stringify(content))

interface Found<Content> {
  readonly path: string
  /** Undefined where it is not as it was written. */
  readonly content?: Content
}

/** @returns undefined where there is no such file */
function read<Content>(dataDirectory: string, file: File): Found<Content> | undefined {
  const path = pathOf(dataDirectory, file)
  if (!existsSync(path)) return undefined
  try {
    const { sha256, ...content } = JSON.parse(readFileSync(path, 'utf8'))
    return sha256 === digestOf(content) ? { path, content } : { path }
  } catch (fault) {
    if (fault instanceof SyntaxError) return { path }
    const { code } = fault as NodeJS.ErrnoException
    throw new OperatorError('Failed', `${path} cannot be read (${code})`, { cause: fault })
  }
}

interface KeeperOptions {
  readonly dataDirectory: string
  readonly facts: Facts
  /** Called with faults of what no caller waits for. */
  readonly onFault: (fault: unknown) => void
}

/**
 * Keeps what the journal says of the cluster beside it: now and then, and at once when machines have come or gone, or switch
 * to another snapshot. A machine whose journal is damaged knows only by that whether another one has what was in it.
 */
export class FactsKeeper {
  readonly #options: KeeperOptions
  #known = ''
  #last: Promise<void> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** To be called often. */
  look(): void {
    const { members, switchedId } = this.#options.facts
    const known = JSON.stringify([members, switchedId])
    if (known === this.#known) return
    this.#known = known
    void this.tryToKeep()
  }

  /** Never rejects. */
  tryToKeep(): Promise<void> {
    return this.keep().catch(this.#options.onFault)
  }

  /** On disk when it resolves. */
  keep(): Promise<void> {
    const { dataDirectory, facts } = this.#options
    const write = () => writeFacts(dataDirectory, facts.known())
    this.#last = this.#last.then(write, write)
    return this.#last
  }
}
