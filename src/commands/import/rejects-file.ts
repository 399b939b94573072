/**
 * `--rejects FILE`: every rejected row with its reason, as CSV for the owner of the data alone. Beside
 * a dry run, it is the only place to which an import writes numbers and positions.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { FILE_MODE, giveNameSync } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import { type RemovalOnExit, removeOnExit } from '../../snapshot/publish/remove-on-exit.js'
import type { RejectedSink } from '../../sources/rows/rejects.js'
import { whyUnwritten } from '../../system-refusals.js'

const HEADER = 'source,file,unit,place,reason,number,lat,lng\n'
/** Written at a time. */
const PIECE_BYTES = 1 << 18

export class RejectsFile {
  readonly #path: string
  readonly #temporaryPath: string
  readonly #file: number
  readonly #removal: RemovalOnExit
  #waiting: string[] = [HEADER]
  #waitingBytes = HEADER.length

  /**
   * @throws OperatorError  `Usage` if there is another kind of file, which is never replaced, or if
   *   nothing can be written there
   */
  constructor(path: string, inputPaths: readonly string[]) {
    this.#path = resolve(path)
    this.#temporaryPath = `${this.#path}.${randomBytes(6).toString('hex')}.tmp`
    if (inputPaths.some((input) => realPath(input) === realPath(path))) {
      throw fault(path, 'is also to be read: name another file')
    }
    assertReplaceable(path)
    this.#removal = removeOnExit(this.#temporaryPath, false)
    try {
      this.#file = openSync(this.#temporaryPath, 'wx', FILE_MODE)
    } catch (error) {
      this.#removal.forget()
      throw fault(path, whyUnwritten(error))
    }
  }

  /** The receiver of the rejected rows of one source. */
  of(sourceId: number): RejectedSink {
    return {
      add: (reason, { file, line, unit }, { phone, lat, lng }) => {
        const values = [String(sourceId), file, unit, String(line), reason, phone, lat, lng]
        this.#write(`${values.map(field).join(',')}\n`)
      },
    }
  }

  /** Puts the file in its place, complete; to be called once, also after an import that failed. */
  finish(): void {
    try {
      this.#flush()
      fsyncSync(this.#file)
      closeSync(this.#file)
      giveNameSync(this.#temporaryPath, this.#path)
    } catch (error) {
      rmSync(this.#temporaryPath, { force: true })
      throw this.#unwritable(error)
    } finally {
      this.#removal.forget()
    }
  }

  #write(line: string): void {
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    if (this.#waitingBytes < PIECE_BYTES) return
    try {
      this.#flush()
    } catch (error) {
      throw this.#unwritable(error)
    }
  }

  #flush(): void {
    const piece = Buffer.from(this.#waiting.join(''))
    this.#waiting = []
    this.#waitingBytes = 0
    for (let at = 0; at < piece.length; ) at += writeSync(this.#file, piece, at)
  }

  #unwritable(error: unknown): Error {
    if (error instanceof OperatorError) return error
    return new OperatorError('Failed', `${this.#path} ${whyUnwritten(error)}`)
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** What another import wrote there may go, so that one every night needs no other name. */
function assertReplaceable(path: string): void {
  if (path === '-') {
    throw new OperatorError(
      'Usage',
      '--rejects needs a file: numbers are not written to the output',
    )
  }
  const head = Buffer.alloc(HEADER.length)
  let byteCount = 0
  try {
    if (!statSync(path).isFile()) throw fault(path, 'is not a file: name one')
    const file = openSync(path, 'r')
    try {
      byteCount = readSync(file, head)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    if (error instanceof OperatorError) throw error
    throw fault(path, whyUnwritten(error))
  }
  if (head.toString('latin1', 0, byteCount) === HEADER) return
  throw fault(path, 'exists and was not written by --rejects: name another file, or remove it')
}

function fault(path: string, what: string): OperatorError {
  return new OperatorError('Usage', `--rejects: ${path} ${what}`)
}

/** In quotation marks if need be. A spreadsheet would run what begins with = or @. */
function field(text: string): string {
  const safe = /^[=@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
