/**
 * A snapshot that is being made, in a directory that is removed if it does not become one.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createFile, syncDirectory } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Log } from '../../log.js'
import { inSharedMemory, type RecipientColumns } from '../../shard/columns.js'
import { findRepeats } from '../../shard/duplicates/find-repeats.js'
import { importThreadCount } from '../../threads/tasks.js'
import { snapshotsDirectory } from '../directory.js'
import { writeRepeatsFile } from '../duplicates/file.js'
import { lookOnThreads } from '../duplicates/look-on-threads.js'
import {
  createManifest,
  encodeManifest,
  filesOf,
  MANIFEST_FILE,
  type Manifest,
  type Manifest2,
  type ManifestFile,
  type ManifestSource,
  REPEATS_FILE,
  readManifest,
} from '../format/manifest.js'
import {
  encodeIdentities,
  IDENTITIES_LIST,
  readIdentities,
  type SourceIdentities,
} from '../identities/list.js'
import { isCorrupt } from '../open-file.js'
import { nextOrigin } from '../retention/next-origin.js'
import { encodeOrigin, ORIGIN_FILE, type Origin } from '../retention/origin.js'
import type { Reference } from '../retention/reference.js'
import { recipientCountOf } from '../snapshot.js'
import { assertNothingLost, type Base, cannotCarryOver } from './base.js'
import { type BuildThreads, startBuildThreads } from './build-tasks.js'
import { assertFreeSpace } from './free-space.js'
import { makeCurrent, prune } from './make-current.js'
import { type RemovalOnExit, removeOnExit } from './remove-on-exit.js'
import { type VerifiedFile, verifyFiles } from './verify-files.js'
import { carryOver, removeSource, type SourceName, writeSource } from './write-source.js'

interface DraftPlace {
  readonly dataDirectory: string
  /** Where it is made. */
  readonly temporary: string
  readonly generation: number
  readonly base: Base
  readonly reference: Reference
  /** Throws if the data directory is not ours any more. */
  readonly assertHeld: () => void
  readonly log: Log
  readonly endsOnSignal: boolean
  readonly onCommit: (() => void) | undefined
  readonly keepCount: number
}

interface PutOptions {
  /** Called with the recipients of the source that are on disk so far. */
  readonly onProgress?: (recipientCount: number) => void
  /** Guards that somebody overruled for it; none unless given. */
  readonly forced?: readonly string[]
  /** The last batch of the journal that the columns have or replace; 0 unless given. */
  readonly appliedSequence?: number
}

interface PublishOptions {
  /** If the current snapshot has the same content, it stays the current one. */
  readonly changedAlone?: boolean
  /** Of a compaction. */
  readonly compaction?: Compaction
}

interface Compaction {
  /** Every source has what the journal says up to this batch. */
  readonly appliedSequence: number
  /** Snapshot of the import whose sources these are. */
  readonly importId: string
}

export interface Published {
  readonly snapshotId: string
  /** Whether it was current before. */
  readonly isUnchanged: boolean
}

/** A snapshot that is being made; one thing is asked of it at a time. */
export class Draft {
  readonly #place: DraftPlace
  readonly #put = new Map<number, ManifestSource>()
  /** Of the sources that were put and whose identities are known. */
  readonly #identities = new Map<number, SourceIdentities>()
  readonly #forced = new Map<number, readonly string[]>()
  readonly #removedIds = new Set<number>()
  readonly #removal: RemovalOnExit
  #threads: BuildThreads | undefined
  #hasEnded = false

  constructor(place: DraftPlace) {
    this.#place = place
    this.#removal = removeOnExit(place.temporary, place.endsOnSignal)
  }

  /**
   * Writes a source, in the place of any that has its id. If that fails, the draft goes on without
   * it: the source is carried over as it was.
   */
  async put(
    source: SourceName,
    columns: RecipientColumns,
    { onProgress, forced = [], appliedSequence = 0 }: PutOptions = {},
  ): Promise<void> {
    const { temporary } = this.#place
    const others = this.#sources().filter(({ id }) => id !== source.id)
    if (others.length >= limits.sourceCount) {
      throw new OperatorError('Usage', `a snapshot has at most ${limits.sourceCount} sources`)
    }
    await this.#told(async () => {
      try {
        this.#identities.delete(source.id)
        if (this.#put.delete(source.id)) await removeSource(temporary, source.id)
        await assertFreeSpace(temporary, columns, recipientCountOf(others))
        const threads = this.#threadsFor(columns.recipientCount)
        const isThreaded = threads === this.#threads
        const placed = isThreaded ? inSharedMemory(columns) : columns
        // Collecting the columns took as much memory as building takes now.
        if (isThreaded) releaseMemory()
        this.#forced.set(source.id, forced)
        const written = await writeSource(temporary, source, placed, threads, { onProgress })
        this.#put.set(source.id, written.source)
        if (written.identities === undefined) this.#identities.delete(source.id)
        else {
          const applied = appliedSequence === 0 ? {} : { appliedSequence }
          this.#identities.set(source.id, { ...written.identities, ...applied })
        }
      } catch (error) {
        await this.#endThreads()
        await removeSource(temporary, source.id).catch(() => undefined)
        throw error
      }
    })
  }

  /** Leaves out a source that would be carried over. */
  remove(sourceId: number): void {
    this.#removedIds.add(sourceId)
  }

  /**
   * Makes it the current snapshot, with the sources that were neither put nor removed; the draft ends
   * either way.
   */
  async publish(options: PublishOptions = {}): Promise<Published> {
    const { dataDirectory, temporary, base, assertHeld, onCommit, log } = this.#place
    const { keepCount } = this.#place
    try {
      const manifest = await this.#told(() => this.#complete(options))
      if (manifest === undefined) return { snapshotId: base.id ?? '', isUnchanged: true }
      const { id, sources } = manifest
      assertHeld()
      // From here on it goes by its name, and must not do so without CURRENT.
      this.#removal.hold()
      onCommit?.()
      try {
        await makeCurrent(dataDirectory, temporary, id)
      } catch (error) {
        throw error instanceof OperatorError ? error : this.#unchanged(error as Error)
      }
      log.debug({ snapshot: id, sources: sources.length }, 'published')
      await prune(dataDirectory, { currentId: id, keepCount }, log)
      return { snapshotId: id, isUnchanged: false }
    } finally {
      await this.discard()
    }
  }

  /** Ends the draft and leaves nothing of it, unless it has ended already. */
  async discard(): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    // Files that threads still write would come back.
    await this.#endThreads()
    await rm(this.#place.temporary, { recursive: true, force: true })
    this.#removal.forget()
  }

  /** Everything that belongs to it, on disk and verified; undefined if it is unchanged. */
  async #complete({ changedAlone, compaction }: PublishOptions): Promise<Manifest | undefined> {
    const { temporary, generation } = this.#place
    const carried = await this.#carryOver()
    const sources = this.#sources()
    const repeats = await this.#verifyAndFindRepeats(sources)
    const manifest = createManifest(generation, new Date().toISOString(), sources, repeats)
    const known = [...carried, ...this.#identities.values()]
      .map((source) => (compaction === undefined ? source : reaching(source, compaction)))
      .sort((left, right) => left.id - right.id)
    const identities = encodeIdentities(known, compaction?.importId)
    if (changedAlone && (await this.#isUnchanged(manifest, identities))) return undefined
    const list = Buffer.from(identities)
    await createFile(join(temporary, IDENTITIES_LIST), [list])
    const origin = Buffer.from(encodeOrigin(this.#origin()))
    await createFile(join(temporary, ORIGIN_FILE), [origin])
    const text = Buffer.from(encodeManifest(manifest))
    await createFile(join(temporary, MANIFEST_FILE), [text])
    const documents = [
      digestOf(IDENTITIES_LIST, list),
      digestOf(ORIGIN_FILE, origin),
      digestOf(MANIFEST_FILE, text),
    ]
    const files = [repeats, ...documents]
    await this.#verify(files, sources)
    await syncDirectory(temporary)
    return manifest
  }

  #origin(): Origin {
    const put = [...this.#put].map(([id, { recipientCount }]) => {
      return [id, { recipientCount, forced: this.#forced.get(id) ?? [] }] as const
    })
    return nextOrigin(this.#place.reference, new Map(put), this.#removedIds)
  }

  /** Whether the current snapshot has the same files and labels, and is intact. */
  async #isUnchanged({ sources, repeats }: Manifest2, identities: string): Promise<boolean> {
    const { dataDirectory, base } = this.#place
    if (base.id === undefined) return false
    const current = await readManifest(dataDirectory, base.id)
    if (JSON.stringify(current.sources) !== JSON.stringify(sources)) return false
    if (!('repeats' in current) || current.repeats.sha256 !== repeats.sha256) return false
    const threads = this.#threadsFor(recipientCountOf(sources))
    try {
      const known = await readIdentities(dataDirectory, base.id)
      if (encodeIdentities(known) !== identities) return false
      const files = [...filesOf(current), ...known.flatMap(({ files }) => files)]
      await verifyFiles(join(snapshotsDirectory(dataDirectory), base.id), files, threads)
      return true
    } catch (error) {
      // An import of the same rows repairs it.
      if (!isCorrupt(error)) throw error
      return false
    }
  }

  /** Those that were put, and the others as they were. */
  #sources(): ManifestSource[] {
    return [...this.#carried(), ...this.#put.values()].sort((left, right) => left.id - right.id)
  }

  #carried(): ManifestSource[] {
    const isCarried = (id: number) => !this.#put.has(id) && !this.#removedIds.has(id)
    return this.#place.base.sources.filter(({ id }) => isCarried(id))
  }

  /** @returns the identities that are carried over, too */
  async #carryOver(): Promise<SourceIdentities[]> {
    const { dataDirectory, temporary, base } = this.#place
    assertNothingLost(dataDirectory, base, new Set(this.#put.keys()))
    if (base.id === undefined) return []
    const from = join(snapshotsDirectory(dataDirectory), base.id)
    const carried: SourceIdentities[] = []
    for (const source of this.#carried()) {
      try {
        const known = await readIdentities(dataDirectory, base.id)
        const identities = known.find(({ id }) => id === source.id)
        const files = [...source.shards, ...(identities?.files ?? [])]
        await carryOver(from, temporary, files)
        await this.#verify(files, [source], from)
        if (identities !== undefined) carried.push(identities)
      } catch (error) {
        if (!isCorrupt(error)) throw error
        throw cannotCarryOver(dataDirectory, error, [source.id])
      }
    }
    return carried
  }

  /** Both at a time: the threads go on with one where the other waits. */
  async #verifyAndFindRepeats(sources: readonly ManifestSource[]): Promise<ManifestFile> {
    const { temporary } = this.#place
    const shards = sources.flatMap((source) => source.shards)
    const look = lookOnThreads(this.#threadsFor(recipientCountOf(sources)), temporary, shards)
    const put = [...this.#put.values()]
    const [found, verified] = await Promise.allSettled([
      findRepeats(
        shards.map(({ recipientCount }) => recipientCount),
        look,
      ),
      this.#verify(
        put.flatMap(({ id, shards }) => [...shards, ...(this.#identities.get(id)?.files ?? [])]),
        put,
      ),
    ])
    if (verified.status === 'rejected') throw verified.reason
    if (found.status === 'rejected') throw found.reason
    return await writeRepeatsFile(join(temporary, REPEATS_FILE), found.value)
  }

  /**
   * @param sources  the sources to which the files belong
   * @param from  the directory to name, if it is not the one that is read
   */
  async #verify(
    files: readonly VerifiedFile[],
    sources: readonly ManifestSource[],
    from?: string,
  ): Promise<void> {
    const threads = this.#threadsFor(recipientCountOf(sources))
    await verifyFiles(this.#place.temporary, files, threads, from)
  }

  #threadsFor(recipientCount: number): BuildThreads {
    if (recipientCount < limits.threadlessRecipientCount) return startBuildThreads(0)
    this.#threads ??= startBuildThreads(importThreadCount())
    return this.#threads
  }

  async #endThreads(): Promise<void> {
    const threads = this.#threads
    this.#threads = undefined
    await threads?.close()
  }

  /** Says of any failure that nothing has changed. */
  async #told<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw this.#unchanged(error as Error)
    }
  }

  #unchanged(error: Error): OperatorError {
    return new OperatorError(
      error instanceof OperatorError ? error.code : 'Failed',
      `no snapshot was published in ${this.#place.dataDirectory}, the current one stays: ` +
        error.message,
      { cause: error },
    )
  }
}

/**
 * Gives back shared memory that nobody refers to any more. V8 does not count it, so that gigabytes of
 * it would not make it look for garbage.
 */
function releaseMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect()
}

function reaching(source: SourceIdentities, { appliedSequence }: Compaction): SourceIdentities {
  return {
    ...source,
    appliedSequence: Math.max(source.appliedSequence ?? 0, appliedSequence),
  }
}

function digestOf(file: string, text: Uint8Array): VerifiedFile {
  return { file, sha256: createHash('sha256').update(text).digest('hex') }
}
