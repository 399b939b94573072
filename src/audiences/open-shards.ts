/**
 * The files that an audience thread has rows of open: shard files and audiences, a few, those that were used
 * last.
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
  /** By snapshot and name, or by audience and source, the one that was used last at the end. */
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
      // Somebody may put the right file in its place.
      if (error instanceof FormatFault) this.#leave(keyOf(place), shard)
      throw error
    } finally {
      shard.userCount--
      closeIfLeft(shard)
    }
  }

  /** Closes the file of an audience that was deleted, so that the disk has its room again. */
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
    // It may be there a moment later.
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
