/**
 * A process that stores contexts until it is killed or can store no more.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

/** Programs of test/store/fixtures. */
const programs = {
  writer: new URL('../../store/fixtures/writer.js', import.meta.url),
  suppressor: new URL('../../store/fixtures/suppressor.js', import.meta.url),
}

export interface Writer {
  readonly child: ChildProcess
  /** Ids of contexts, each once it is stored; the code of the fault that ended it. */
  readonly acknowledged: readonly string[]
  /** Resolves when all that it has written is read. */
  readonly read: Promise<unknown>
}

/** @param fileBytes  how large its files may become */
export function startWriter(
  t: Test,
  directory: string,
  fileBytes?: number,
  name: keyof typeof programs = 'writer',
): Writer {
  const { NODE_OPTIONS: _, ...env } = process.env
  const command = [process.execPath, fileURLToPath(programs[name]), directory]
  // As a disk that is full, for which there is no need of one: writes beyond it fail.
  const limited = `trap '' XFSZ; ulimit -f ${Math.ceil((fileBytes ?? 0) / 512)}; exec "$@"`
  const [path, ...options] =
    fileBytes === undefined ? command : ['sh', '-c', limited, 'sh', ...command]
  const child = spawn(path, options, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const acknowledged: string[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => acknowledged.push(line))
  return { child, acknowledged, read: once(lines, 'close') }
}
