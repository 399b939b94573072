/**
 * The open files of an audience thread: shard files and audiences, of which the least recently used are closed.
 *
 * @module
 */
import { limits } from '../limits.js'
import { FormatFault } from '../snapshot/format/blocks.js'
import type { RowsPlace } from './messages.js'
import { ShardColumns } from './shard-columns.js'

interface OpenShard {
  readonly columns: Promise<ShardColumns>
  userCount: number
  /** Whether its last user closes it. */
  isLeft: boolean
}

export class OpenShards {
  readonly #dataDirectory: string
  /** By snapshot and name, or by audience and source, the most recently used at the end. */
  readonly #open = new Map<string, OpenShard>()

  constructor(dataDirectory: string) {
    this.#dataDirectory = dataDirectory
  }

  /**
   * Keeps a file open while `work` goes on.
   *
   * @throws OperatorError or FormatFault, as a rejection
   */
  async use<Value>(
    place: RowsPlace,
    work: (columns: ShardColumns) => Value | Promise<Value>,
  ): Promise<Value> {
    const shard = this.#take(place)
    shard.userCount++
    try {
      return await work(await shard.columns)
    } catch (error) {
      // The right file may be put in its place.
      if (error instanceof FormatFault) this.#leave(keyOf(place), shard)
      throw error
    } finally {
      shard.userCount--
      closeIfLeft(shard)
    }
  }

  /** Closes the file of a deleted audience, so that the disk gets its space back. */
  closeAudience(id: string): void {
    for (const [key, shard] of [...this.#open]) {
      if (key.startsWith(audienceKey(id))) this.#leave(key, shard)
    }
  }

  close(): void {
    for (const [key, shard] of [...this.#open]) this.#leave(key, shard)
  }

  #take(place: RowsPlace): OpenShard {
    const key = keyOf(place)
    const known = this.#open.get(key)
    if (known !== undefined) {
      this.#open.delete(key)
      this.#open.set(key, known)
      return known
    }
    const columns = ShardColumns.open(this.#dataDirectory, place)
    const shard = { columns, userCount: 0, isLeft: false }
    this.#open.set(key, shard)
    // The file may come a moment later.
    columns.catch(() => this.#leave(key, shard))
    for (const [oldest, other] of this.#open) {
      if (this.#open.size <= limits.audienceOpenShardCount) break
      this.#leave(oldest, other)
    }
    return shard
  }

  #leave(key: string, shard: OpenShard): void {
    if (this.#open.get(key) !== shard) return
    this.#open.delete(key)
    shard.isLeft = true
    closeIfLeft(shard)
  }
}

function keyOf(place: RowsPlace): string {
  return 'audience' in place
    ? `${audienceKey(place.audience.id)}${place.sourceId}`
    : `${place.snapshotId}/${place.file}`
}

const audienceKey = (id: string) => `audience ${id}/`

function closeIfLeft({ columns, userCount, isLeft }: OpenShard): void {
  if (!isLeft || userCount > 0) return
  columns.then(
    (open) => open.close(),
    () => {},
  )
}
