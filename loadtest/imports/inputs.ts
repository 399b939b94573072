/**
 * The same recipients as a file in each format.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { cliPath } from '../harness/dataset.js'
import { runScript } from '../harness/processes.js'
import type { FileFormat } from './options.js'

export interface Inputs {
  readonly directory: string
  readonly paths: Readonly<Record<FileFormat, string>>
}

/** Makes the files that are not there yet. */
export async function prepareInputs(
  recipientCount: number,
  seed: number,
  formats: readonly FileFormat[],
  signal: AbortSignal,
): Promise<Inputs> {
  const parent = join(tmpdir(), 'hickory-loadtest')
  const directory = join(parent, `imports-us-${recipientCount}-seed-${seed}`)
  await mkdir(directory, { recursive: true })
  const paths = {
    csv: join(directory, 'recipients.csv'),
    gzip: join(directory, 'recipients.csv.gz'),
    parquet: join(directory, 'recipients.parquet'),
    ndjson: join(directory, 'recipients.ndjson'),
  }
  for (const format of formats) {
    if (existsSync(paths[format])) continue
    signal.throwIfAborted()
    // Made beside its place and moved there, so that it is whole or not there; the end of the
    // name tells what it is to be.
    const unfinished = join(directory, `${process.pid}-${format}`)
    await mkdir(unfinished)
    try {
      const path = join(unfinished, paths[format].slice(directory.length + 1))
      if (format === 'csv' || format === 'gzip') await generate(path, recipientCount, seed, signal)
      else await convert(paths.csv, path, format)
      await rename(path, paths[format])
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }
  return { directory, paths }
}

export async function fileBytes(path: string): Promise<number> {
  return (await stat(path)).size
}

/** Reads a file to its end, so that it is in the page cache if there is room. */
export async function warm(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(8 << 20)
    while ((await file.read(buffer, 0, buffer.length)).bytesRead > 0);
  } finally {
    await file.close()
  }
}

/** Has the system write what it holds back, which would else be written while something is timed. */
export async function flush(): Promise<void> {
  await promisify(execFile)('sync')
}

async function generate(
  path: string,
  recipientCount: number,
  seed: number,
  signal: AbortSignal,
): Promise<void> {
  const people = ['--recipients', `${recipientCount}`, '--seed', `${seed}`, '--countries', 'US']
  await runScript([cliPath, 'generate', ...people, '--out', path], signal)
}

async function convert(from: string, to: string, format: 'parquet' | 'ndjson'): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '4GiB' })
  const connection = await instance.connect()
  const options = { parquet: 'FORMAT parquet', ndjson: 'FORMAT json' } as const
  const columns = "{'number': 'VARCHAR', 'lat': 'DOUBLE', 'lng': 'DOUBLE', 'contact': 'VARCHAR'}"
  try {
    await connection.run(
      `COPY (FROM read_csv(${quote(from)}, header = true, columns = ${columns})) ` +
        `TO ${quote(to)} (${options[format]})`,
    )
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const quote = (path: string) => `'${path.replaceAll("'", "''")}'`
