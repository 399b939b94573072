/**
 * Files that an import writes for itself, which nobody else may read, and which are gone when it ends.
 * Should the process be stopped, they go with their directory, which is up to who named it.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import { refusalText } from '../../system-refusals.js'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700
/** Written at a time. */
const PIECE_BYTES = 1 << 20

export class Spool {
  readonly #directory: string
  readonly #paths: string[] = []

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Writes all of it into a new file, and returns its path. */
  async write(content: AsyncIterable<Uint8Array>): Promise<string> {
    await makeDirectory(this.#directory)
    const path = join(this.#directory, `input-${process.pid}-${randomBytes(6).toString('hex')}.tmp`)
    this.#paths.push(path)
    const file = await open(path, 'wx', FILE_MODE)
    try {
      for await (const piece of inPieces(content)) await file.writeFile(piece)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      throw new OperatorError(
        'Failed',
        `the input cannot be kept in ${this.#directory}: ${refusalText(error)}`,
      )
    } finally {
      await file.close()
    }
    return path
  }

  /** Removes all files; may be called again. */
  remove(): void {
    for (const path of this.#paths.splice(0)) rmSync(path, { force: true })
  }
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: DIRECTORY_MODE })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    // On a disk that cannot be written, Node.js says so only of a single directory.
    if (code !== 'ENOENT') throw error
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
  }
}

/** The same bytes in fewer pieces. */
async function* inPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  for await (const bytes of content) {
    // The producer of the bytes may use their room again.
    waiting.push(Uint8Array.from(bytes))
    waitingBytes += bytes.length
    if (waitingBytes < PIECE_BYTES) continue
    yield Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
  }
  yield Buffer.concat(waiting)
}
