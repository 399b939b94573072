/**
 * `hickory generate`: writes made-up recipients to a CSV file that `hickory import` reads.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, realpath, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Command } from 'commander'
import { giveName } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { writeDegrees } from '../geometry/degrees.js'
import type { Log } from '../log.js'
import {
  SYNTHETIC_RECIPIENT_COUNT_MAX,
  type SyntheticBatch,
  subscriberDigits,
  syntheticRecipients,
} from '../sources/synthetic/synthetic.js'
import { isRefusal, whyUnwritten } from '../system-refusals.js'
import type { CommandContext } from './context.js'
import { type Progress, print, startProgress } from './output.js'

interface Flags {
  readonly recipients: string
  readonly seed: string
  readonly out: string
  readonly countries?: string
}

export function generateCommand(context: CommandContext): Command {
  return new Command('generate')
    .description('write made-up recipients around real cities to a CSV file')
    .requiredOption('--recipients <N>', `recipients to make, 0 to ${SYNTHETIC_RECIPIENT_COUNT_MAX}`)
    .option('--seed <S>', 'the same seed makes the same file, 0 to 4294967295', '1')
    .requiredOption('--out <FILE>', 'file to write; compressed if it ends in .gz; - is stdout')
    .option('--countries <CODES>', 'countries of the recipients, such as US,CA (default: all)')
    .addHelpText('after', HELP_TAIL)
    .action((flags: Flags) => generate(flags, context.log))
}

const HELP_TAIL = `
FILE appears when it is complete, and replaces a file of the same name. Its columns are number, lat,
lng and contact. Every number starts with +999, which no country has, so the numbers reach nobody.
Cities and populations are from GeoNames (geonames.org, CC BY 4.0).

Example:
  $ hickory generate --recipients 1000000 --seed 7 --countries US --out recipients.csv
  $ hickory import --source 1 --label Residents recipients.csv
`

const HEADER = 'number,lat,lng,contact\n'
/** `+999`, 9 digits, two coordinates of 12, `c` and 10 digits, 4 separators: 52 at most. */
const ROW_BYTES_MAX = 64
/** Kinds of processor may compress the same rows to other bytes; what is unpacked is the same. */
const COMPRESSION_LEVEL = 6

const [PLUS, COMMA, ZERO, NINE, LETTER_C, LINE_END] = Buffer.from('+,09c\n')

/** Bytes on their way to a file, whole chunks at a time. */
type Chunks = Iterable<Uint8Array>

async function generate(flags: Flags, log: Log): Promise<void> {
  const recipientCount = parseInteger(
    '--recipients',
    flags.recipients,
    SYNTHETIC_RECIPIENT_COUNT_MAX,
  )
  const seed = parseInteger('--seed', flags.seed, 2 ** 32 - 1)
  const countries = flags.countries?.split(',').map((code) => code.trim().toUpperCase())
  const batches = syntheticRecipients({ recipientCount, seed, countries })
  const startedMs = performance.now()
  const progress = startProgress(log, 'generating', recipientCount, 'recipients')
  const chunks = csvChunks(batches, progress)
  let byteCount: number | undefined
  try {
    byteCount = flags.out === '-' ? await writeStdout(chunks) : await writeFile(flags.out, chunks)
  } finally {
    progress.stop()
  }
  if (byteCount === undefined) {
    log.info('stopped: nobody reads standard output any more')
    return
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const written = `wrote ${recipientCount} recipients, ${byteCount} bytes, in ${seconds} s`
  if (flags.out === '-') log.info(written)
  else print(`${written}: ${flags.out}`)
}

function parseInteger(flag: string, text: string, max: number): number {
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value <= max) return value
  throw new OperatorError('Usage', `${flag} is an integer from 0 to ${max}, not "${text}"`)
}

function* csvChunks(batches: Iterable<SyntheticBatch>, progress: Progress): Generator<Uint8Array> {
  let madeCount = 0
  yield Buffer.from(HEADER)
  for (const batch of batches) {
    yield csvRows(batch)
    madeCount += batch.recipientCount
    progress.update(madeCount)
  }
}

function csvRows(batch: SyntheticBatch): Uint8Array {
  const bytes = new Uint8Array(batch.recipientCount * ROW_BYTES_MAX)
  let at = 0
  for (let row = 0; row < batch.recipientCount; row += 1) {
    const { value, width } = subscriberDigits(batch.subscribers[row])
    bytes[at] = PLUS
    bytes.fill(NINE, at + 1, at + 4)
    at = putDigits(bytes, at + 4, value, width)
    bytes[at] = COMMA
    at = writeDegrees(batch.lats[row], bytes, at + 1)
    bytes[at] = COMMA
    at = writeDegrees(batch.lngs[row], bytes, at + 1)
    bytes[at] = COMMA
    bytes[at + 1] = LETTER_C
    at = putDigits(bytes, at + 2, batch.contacts[row], digitCount(batch.contacts[row]))
    bytes[at] = LINE_END
    at += 1
  }
  return bytes.subarray(0, at)
}

function putDigits(bytes: Uint8Array, at: number, value: number, width: number): number {
  let left = value
  for (let place = at + width - 1; place >= at; place -= 1) {
    const tens = Math.floor(left / 10)
    bytes[place] = ZERO + left - tens * 10
    left = tens
  }
  return at + width
}

function digitCount(value: number): number {
  let count = 1
  for (let power = 10; value >= power; power *= 10) count += 1
  return count
}

/** Undefined if the reader went before the end. */
async function writeStdout(chunks: Chunks): Promise<number | undefined> {
  let byteCount = 0
  const counted = function* () {
    for (const chunk of chunks) {
      byteCount += chunk.byteLength
      yield chunk
    }
  }
  try {
    await pipeline(counted(), process.stdout, { end: false })
    return byteCount
  } catch (error) {
    // Whoever reads has seen enough (as `| head` has), which is no fault of this command.
    if (errorCode(error) === 'EPIPE') return undefined
    throw writeError('standard output', error)
  }
}

/** Writes beside `path` and renames at the end, so that `path` never names half a file. */
async function writeFile(path: string, chunks: Chunks): Promise<number> {
  const target = await resolveTarget(path)
  const token = randomBytes(4).toString('hex')
  const part = join(dirname(target.path), `.${basename(target.path)}.${token}.part`)
  const writePath = target.replaceable ? part : target.path
  let created = false
  try {
    // Listened for before there is a file that would be left behind.
    return await untilInterrupted(async (signal) => {
      const file = await open(writePath, target.replaceable ? 'wx' : 'w')
      created = target.replaceable
      const byteCount = await fill(file, chunks, path.endsWith('.gz'), target.replaceable, signal)
      if (created) await giveName(part, target.path)
      return byteCount
    })
  } catch (error) {
    if (created) await unlink(part).catch(() => undefined)
    // Now that it is clean, die of the signal; returns if somebody else listens for it, too.
    if (error instanceof Interrupted) process.kill(process.pid, error.signal)
    throw writeError(path, error)
  }
}

/** Follows links to what is to be replaced. A device or a pipe cannot be, and is written to. */
async function resolveTarget(path: string): Promise<{ path: string; replaceable: boolean }> {
  try {
    const target = await realpath(path)
    const stats = await stat(target)
    if (stats.isDirectory()) throw new OperatorError('Usage', `--out ${path} is a directory`)
    return { path: target, replaceable: stats.isFile() }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { path, replaceable: true }
    throw writeError(path, error)
  }
}

/** Fills the file, on disk if it can be made sure, and closes it. */
async function fill(
  file: FileHandle,
  chunks: Chunks,
  compressed: boolean,
  durable: boolean,
  signal: AbortSignal,
): Promise<number> {
  let byteCount = 0
  const write = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      signal.throwIfAborted()
      // Unlike write(), goes on after a short write until all is written or something is wrong.
      await file.writeFile(chunk)
      byteCount += chunk.byteLength
    }
  }
  try {
    await (compressed
      ? pipeline(chunks, createGzip({ level: COMPRESSION_LEVEL }), write, { signal })
      : pipeline(chunks, write, { signal }))
    if (durable) await file.sync()
  } finally {
    await file.close()
  }
  return byteCount
}

/** Thrown in place of dying at once, so that what was begun can be removed. */
class Interrupted extends OperatorError {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super('Failed', `stopped by ${signal}`)
    this.signal = signal
  }
}

async function untilInterrupted<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController()
  let received: NodeJS.Signals | undefined
  const interrupt = (signal: NodeJS.Signals) => {
    received = signal
    abort.abort()
  }
  for (const name of SIGNALS) process.on(name, interrupt)
  try {
    return await work(abort.signal)
  } catch (error) {
    throw received === undefined ? error : new Interrupted(received)
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Says what stopped the writing; anything else than the system's refusal is passed on. */
function writeError(path: string, error: unknown): unknown {
  if (!isRefusal(error)) return error
  return new OperatorError('Failed', `${path} ${whyUnwritten(error)}`, { cause: error })
}
