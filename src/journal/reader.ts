/**
 * Reads the batches of a journal, in any process, while others write. A batch that is not on disk is not
 * seen: readers go as far as the position says.
 *
 * @module
 */
import { existsSync, type FSWatcher, watch } from 'node:fs'
import type { FileNumber } from '../chain/link.js'
import { limits } from '../limits.js'
import type { JournalBatch } from './batch.js'
import { decodeChanges } from './content.js'
import { JournalDamaged, JournalGone } from './damaged.js'
import { journalFileNumbers, positionPath } from './files.js'
import { firstPlace, headLost, type JournalHead, type JournalPlace, NO_HEAD } from './head.js'
import { PositionFile } from './position.js'
import { ENTRY_SOURCE, type JournalRecord } from './record.js'
import { damagedAt, firstRecordOf, recordsBetween } from './walk.js'

export class JournalReader {
  readonly #directory: string
  #position: PositionFile | undefined
  #watcher: FSWatcher | undefined
  /** Where the last batch ends that was read: the next reading goes on there. */
  #place: JournalPlace | undefined

  /** @param directory  which need not be there yet: a journal without batches */
  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Where the journal ends now. Takes some microseconds.
   *
   * @throws JournalDamaged  where there are files and no position
   */
  head(): JournalHead {
    if (this.#position?.isInPlace() === false) this.close()
    if (this.#position === undefined) this.#open()
    const head = this.#position?.read()
    if (head !== undefined) return head
    const isNew = !existsSync(this.#directory) || journalFileNumbers(this.#directory).length === 0
    if (isNew) return NO_HEAD
    throw headLost(this.#directory)
  }

  /**
   * The batches behind a sequence, in order, up to the one that was the last when this was called.
   *
   * @param since  0 for all
   * @throws JournalGone  where some of them were removed
   * @throws JournalDamaged  also where the journal ends before `since`
   */
  *read(since: number): Generator<JournalBatch> {
    for (const record of this.records(since)) yield batchOf(record)
  }

  /**
   * The same with contents as they are written.
   *
   * @throws JournalGone, JournalDamaged
   */
  *records(since: number): Generator<JournalRecord> {
    const head = this.head()
    if (since > head.sequence) {
      throw damagedAt(this.#directory, head, `is missing: batch ${since} was there before`)
    }
    if (since === head.sequence) return
    assertKept(since, head)
    let reached = since
    try {
      for (const { record, place } of recordsBetween(
        this.#directory,
        this.#startFor(since, head),
        head,
      )) {
        if (place.sequence <= since) continue
        this.#place = place
        reached = place.sequence
        yield record
      }
      return
    } catch (fault) {
      // The files may have been removed meanwhile.
      if (!(fault instanceof JournalDamaged)) throw fault
      const now = this.head()
      assertKept(reached, now)
      if (now.first.file === head.first.file) throw fault
    }
    yield* this.records(reached)
  }

  /**
   * Waits until there is a batch behind a sequence.
   *
   * @throws  the reason of the signal
   */
  async more(since: number, signal: AbortSignal): Promise<JournalHead> {
    for (;;) {
      signal.throwIfAborted()
      const change = this.#nextChange(signal)
      // Looked at after the watch was begun, so that nothing is missed in between.
      const head = this.head()
      if (head.sequence > since) {
        change.stop()
        return head
      }
      await change.happened
    }
  }

  /** The batches behind a sequence and all that come later, until the signal. */
  async *follow(since: number, signal: AbortSignal): AsyncGenerator<JournalBatch> {
    let reached = since
    for (;;) {
      await this.more(reached, signal)
      for (const batch of this.read(reached)) {
        reached = batch.sequence
        yield batch
        signal.throwIfAborted()
      }
    }
  }

  close(): void {
    this.#position?.close()
    this.#watcher?.close()
    this.#position = undefined
    this.#watcher = undefined
    this.#place = undefined
  }

  #open(): void {
    const path = positionPath(this.#directory)
    if (!existsSync(path)) return
    this.#position = PositionFile.openToRead(path)
  }

  /** A place at or before a sequence. */
  #startFor(since: number, head: JournalHead): JournalPlace {
    // Its file is gone where what was read is the last of what was removed.
    const isKept = this.#place !== undefined && this.#place.file >= head.first.file
    if (isKept && this.#place?.sequence === since) return this.#place
    let start = firstPlace(head)
    let [low, high] = [head.first.file + 1, head.file]
    while (low <= high) {
      const middle = (low + high) >>> 1
      const place = this.#placeBefore(middle)
      if (place === undefined || place.sequence > since) high = middle - 1
      else {
        start = place
        low = middle + 1
      }
    }
    return start
  }

  /** The place of the record before the first one of a file. */
  #placeBefore(file: FileNumber): JournalPlace | undefined {
    const record = firstRecordOf(this.#directory, file)
    if (record === undefined) return undefined
    return { sequence: record.sequence - 1, hash: record.previous, file, bytes: 0 }
  }

  /** The next write to the position, as the system tells of it, or the end of an interval. */
  #nextChange(signal: AbortSignal): { readonly happened: Promise<void>; stop(): void } {
    this.#watcher ??= watcherOf(positionPath(this.#directory))
    const watcher = this.#watcher
    let stop = () => {}
    const happened = new Promise<void>((resolve) => {
      const timer = setTimeout(() => stop(), limits.journalPollMs)
      stop = () => {
        clearTimeout(timer)
        watcher?.off('change', stop)
        signal.removeEventListener('abort', stop)
        resolve()
      }
      signal.addEventListener('abort', stop)
      watcher?.on('change', stop)
    })
    return { happened, stop }
  }
}

/** Whether the journal of a directory is that of a machine of a cluster; not where its position cannot be read. */
export function isClusterJournal(directory: string): boolean {
  const path = positionPath(directory)
  if (!existsSync(path)) return false
  const position = PositionFile.openToRead(path)
  try {
    return position.read()?.log !== undefined
  } finally {
    position.close()
  }
}

/** Undefined where there is no such file yet, or the system has no more watchers: then intervals tell. */
function watcherOf(path: string): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false })
    watcher.on('error', () => {})
    return watcher
  } catch {
    return undefined
  }
}

function assertKept(since: number, { first }: JournalHead): void {
  if (since < first.after.sequence) throw new JournalGone(since, first.after.sequence + 1)
}

function batchOf(record: JournalRecord): JournalBatch {
  const { sequence, sourceId, batchId, timeMs, content, hash } = record
  const changes = sourceId === ENTRY_SOURCE ? [] : decodeChanges(content)
  return {
    sequence,
    sourceId,
    batchId,
    timeMs,
    changes,
    seal: Number.parseInt(hash.slice(0, 8), 16),
  }
}
