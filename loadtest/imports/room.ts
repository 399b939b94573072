/**
 * Whether a benchmark of imports fits on this machine, before it begins.
 *
 * @module
 */
import { statfsSync } from 'node:fs'
import { availableMemory } from '../harness/machine.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { InputFormat } from './options.js'

/** Bytes of a row in each format, amply. */
const INPUT_BYTES: Readonly<Record<InputFormat, number>> = {
  csv: 46,
  gzip: 24,
  parquet: 30,
  ndjson: 96,
  postgres: 130,
}

/** A snapshot that is being written beside the one that is served. */
const SNAPSHOT_BYTES = 2 * 40
/** What an import holds of a row at most. */
const MEMORY_BYTES = 120
const GiB = 2 ** 30

export interface Room {
  readonly diskBytes: number
  readonly memoryBytes: number
}

/** What there is for files in a directory, and of memory without swapping. */
export function roomIn(directory: string): Room {
  const { bavail, bsize } = statfsSync(directory)
  return { diskBytes: bavail * bsize, memoryBytes: availableMemory() }
}

/** @throws Error  that says what is missing */
export function assertRoom(
  recipientCount: number,
  formats: readonly InputFormat[],
  { diskBytes, memoryBytes }: Room,
): void {
  const rowBytes = formats.reduce((sum, format) => sum + INPUT_BYTES[format], SNAPSHOT_BYTES)
  assertEnough('disk', recipientCount, recipientCount * rowBytes + GiB, diskBytes)
  assertEnough('memory', recipientCount, recipientCount * MEMORY_BYTES + GiB, memoryBytes)
}

function assertEnough(of: string, recipientCount: number, wanted: number, found: number): void {
  if (wanted <= found) return
  throw new Error(
    `${formatCount(recipientCount)} recipients take about ${formatFigure(wanted / GiB)} GiB of ` +
      `${of}, and ${formatFigure(found / GiB)} GiB are free`,
  )
}
