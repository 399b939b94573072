/**
 * Files that machines of a cluster give each other by way of the object store of NATS. A machine that has one puts it there
 * when it is missing.
 *
 * @module
 */
import { basename } from 'node:path'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { listSnapshots } from '../snapshot/directory.js'
import type { KnownFacts } from './facts.js'
import type { Calls } from './nats/calls.js'
import type { ClusterFiles } from './nats/cluster-files.js'
import type { Opened } from './nats/opened.js'
import type { NodeAnswers, NodeQuestion } from './questions.js'
import { filesHere, filesOfSnapshot } from './snapshot-files.js'
import { DigestFault, type FileDigest } from './verified-file.js'

interface SharedOptions {
  readonly dataDirectory: string
  readonly nats: { readonly files: Opened<ClusterFiles>; readonly calls: Pick<Calls, 'ask'> }
  /** Names of the machines that are asked for what the object store lacks. */
  readonly others: () => readonly string[]
  readonly log: Log
}

export class SharedFiles {
  readonly #options: SharedOptions

  constructor(options: SharedOptions) {
    this.#options = options
  }

  /** @throws DigestFault  where the file is not what it should be; what the object store throws */
  async put(path: string, file: FileDigest): Promise<void> {
    await this.#options.nats.files.use((files) => files.put(path, file))
  }

  /** Whether the object store has a file, and not on one server alone. */
  async isKept(file: FileDigest): Promise<boolean> {
    return await this.#options.nats.files.use(
      async (files) => (await files.copyCount()) > 1 && (await files.has(file)),
    )
  }

  /**
   * Writes a file, as `writeVerified`.
   *
   * @throws OperatorError  where no machine has it; what the disk says, and the object store
   */
  async get(
    file: FileDigest,
    path: string,
    onBytes: (byteCount: number) => void = () => {},
  ): Promise<void> {
    const take = () => this.#options.nats.files.use((files) => files.get(file, path, onBytes))
    const isTaken = await take().catch((fault: unknown) => {
      if (fault instanceof DigestFault) return false
      throw fault
    })
    if (isTaken || ((await this.#isOffered(file)) && (await take()))) return
    throw new OperatorError('Failed', `no machine that is there has ${basename(path)}`)
  }

  /**
   * Puts a file of this machine there; false where it has none, or another one than was written.
   *
   * @param path  where it is; among the snapshots where undefined
   */
  async offer(file: FileDigest, path?: string): Promise<boolean> {
    const found = path ?? (await filesHere(this.#options.dataDirectory)).get(file.sha256)
    if (found === undefined) return false
    try {
      await this.put(found, file)
      return true
    } catch (fault) {
      const { code } = fault as NodeJS.ErrnoException
      if (fault instanceof DigestFault || code === 'ENOENT') return false
      throw fault
    }
  }

  /**
   * Removes what neither the announced snapshot nor the served one has, no member awaits, and was not put there lately. What a
   * machine still asks for then is put there again. Faults are logged.
   */
  async clear(
    { announced, switchedId }: Pick<KnownFacts, 'announced' | 'switchedId'>,
    awaited: readonly FileDigest[],
  ): Promise<void> {
    const { dataDirectory, nats, log } = this.#options
    try {
      const needed = new Set(awaited.map(({ sha256 }) => sha256))
      const here = await listSnapshots(dataDirectory)
      for (const id of [announced?.id, switchedId]) {
        // Which files it has is not known before it is here.
        if (id === undefined || !here.includes(id)) return
        for (const { sha256 } of await filesOfSnapshot(dataDirectory, id)) needed.add(sha256)
      }
      const removedCount = await nats.files.use(async (files) => {
        const sinceMs = Date.now() - limits.sharedFileKeptMs
        const old = (await files.list()).filter(
          ({ sha256, writtenMs }) => writtenMs <= sinceMs && !needed.has(sha256),
        )
        for (const file of old) await files.remove(file)
        return old.length
      })
      if (removedCount > 0) log.info({ removedCount }, 'removed files from the object store')
    } catch (fault) {
      log.warn({ reason: reasonOf(fault) }, 'files cannot be removed from the object store')
    }
  }

  /** Asks one machine after the other to put it there. */
  async #isOffered(file: FileDigest): Promise<boolean> {
    const { nats, others } = this.#options
    const question: NodeQuestion = { kind: 'offer', file }
    for (const name of others()) {
      const answer = await nats.calls.ask(name, question, limits.fileOfferedMs).catch(() => {})
      if ((answer as NodeAnswers['offer'] | undefined)?.isDone) return true
    }
    return false
  }
}

/** Without a path, which errors of the system have in their messages. */
export function reasonOf(fault: unknown): string {
  const { code, message } = fault as { readonly code?: unknown; readonly message: string }
  // Faults of JetStream have numbers.
  return fault instanceof OperatorError || typeof code !== 'string' ? message : code
}
