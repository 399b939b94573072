/**
 * The data that the service is loaded with: made once through the real commands, and kept.
 *
 * @module
 */
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { LoadOptions } from '../options.js'
import { runScript } from './processes.js'

export interface Dataset {
  /** What the service is given as `--data`. */
  readonly dataDirectory: string
  /** What was imported, of all sources. */
  readonly csvPath: string
}

export type DatasetOptions = Pick<LoadOptions, 'recipientCount' | 'seed' | 'sourceCount' | 'fresh'>

export const cliPath = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

export async function prepareDataset(
  options: DatasetOptions,
  signal: AbortSignal,
): Promise<Dataset> {
  const { recipientCount, seed, sourceCount, fresh } = options
  const parent = join(tmpdir(), 'hickory-loadtest')
  const dealt = sourceCount === 1 ? '' : `-sources-${sourceCount}`
  const directory = join(
    parent,
    `us-${recipientCount}-seed-${seed}${dealt}-order-${ORDER_REVISION}`,
  )
  if (fresh) await rm(directory, { recursive: true, force: true })
  if (!existsSync(directory)) {
    // Made beside its place and moved there, so that it is whole or not there.
    const unfinished = `${directory}-${process.pid}.tmp`
    await mkdir(unfinished, { recursive: true })
    try {
      await make(inside(unfinished), options, signal)
      await rename(unfinished, directory)
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }
  return inside(directory)
}

function inside(directory: string): Dataset {
  return { dataDirectory: join(directory, 'data'), csvPath: join(directory, 'recipients.csv') }
}

async function make(
  { dataDirectory, csvPath }: Dataset,
  { recipientCount, seed, sourceCount }: DatasetOptions,
  signal: AbortSignal,
): Promise<void> {
  const people = ['--recipients', `${recipientCount}`, '--seed', `${seed}`, '--countries', 'US']
  await runScript([cliPath, 'generate', ...people, '--out', csvPath], signal)
  const importAs = (sourceId: number, label: string, path: string) => {
    const source = ['--data', dataDirectory, '--source', `${sourceId}`, '--label', label]
    return runScript([cliPath, 'import', ...source, path], signal)
  }
  if (sourceCount === 1) {
    await importAs(1, 'Residents', csvPath)
    return
  }
  const paths = Array.from({ length: sourceCount }, (_, at) => `${csvPath}.${at + 1}`)
  await dealOut(csvPath, paths)
  for (const [at, path] of paths.entries()) {
    await importAs(at + 1, `Residents ${at + 1}`, path)
    await rm(path)
  }
}

/** Raised when imports put recipients into another order: known answers are of one order. */
const ORDER_REVISION = 2

/** Deals the rows of a file out to others, in turn; each has the header. */
async function dealOut(csvPath: string, paths: readonly string[]): Promise<void> {
  const files = paths.map((path) => createWriteStream(path))
  let lineCount = 0
  for await (const line of createInterface({ input: createReadStream(csvPath) })) {
    const into = lineCount === 0 ? files : [files[lineCount % files.length]]
    lineCount++
    for (const file of into) {
      if (!file.write(`${line}\n`)) await once(file, 'drain')
    }
  }
  for (const file of files) file.end()
  await Promise.all(files.map((file) => finished(file)))
}
