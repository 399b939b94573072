/**
 * The data that the service is loaded with: made once through the real commands, and kept.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoadOptions } from '../options.js'
import { runScript } from './processes.js'

export interface Dataset {
  /** What the service is given as `--data`. */
  readonly dataDirectory: string
  /** What was imported. */
  readonly csvPath: string
}

export type DatasetOptions = Pick<LoadOptions, 'recipientCount' | 'seed' | 'fresh'>

export const cliPath = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

export async function prepareDataset(
  { recipientCount, seed, fresh }: DatasetOptions,
  signal: AbortSignal,
): Promise<Dataset> {
  const parent = join(tmpdir(), 'hickory-loadtest')
  const directory = join(parent, `us-${recipientCount}-seed-${seed}`)
  if (fresh) await rm(directory, { recursive: true, force: true })
  if (!existsSync(directory)) {
    // Made beside its place and moved there, so that it is whole or not there.
    const unfinished = `${directory}-${process.pid}.tmp`
    await mkdir(unfinished, { recursive: true })
    try {
      await make(inside(unfinished), recipientCount, seed, signal)
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
  recipientCount: number,
  seed: number,
  signal: AbortSignal,
): Promise<void> {
  const people = ['--recipients', `${recipientCount}`, '--seed', `${seed}`, '--countries', 'US']
  const source = ['--data', dataDirectory, '--source', '1', '--label', 'Residents']
  await runScript([cliPath, 'generate', ...people, '--out', csvPath], signal)
  await runScript([cliPath, 'import', ...source, csvPath], signal)
}
