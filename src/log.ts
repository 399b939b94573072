/**
 * The one logger. Phones and positions of recipients never reach it: what is logged is chosen
 * field by field, and no request or response body is ever passed in.
 *
 * @module
 */
import { constants, fstatSync, openSync } from 'node:fs'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { type Logger, pino } from 'pino'
import { limits } from './limits.js'

export type Log = Logger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

type Bindings = Record<string, string | number>

/** JSON lines on standard error, which leaves standard output to what a command prints. */
export function createLog(level: LogLevel, bindings: Bindings = {}): Log {
  return pino(
    { level, base: { pid: process.pid, ...bindings }, timestamp: pino.stdTimeFunctions.isoTime },
    standardErrorOf(bindings),
  )
}

/** Lines for a file that another thread writes, which must not wait. */
export function createLineLog(write: (line: string) => void): Log {
  const options = { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(options, { write })
}

/** Lines of the log that found no room, in all threads of this process. */
export function droppedLogLineCount(): number {
  return Atomics.load(dropped, 0) >>> 0
}

/** Shared by the threads that this one starts. */
const dropped = new Int32Array(sharedCounter())

function sharedCounter(): SharedArrayBuffer {
  const name = 'hickory: dropped lines of the log'
  const found = getEnvironmentData(name) as unknown
  if (found instanceof SharedArrayBuffer) return found
  const made = new SharedArrayBuffer(4)
  setEnvironmentData(name, made as never)
  return made
}

type Stream = ReturnType<typeof pino.destination>
let stream: Stream | undefined

/**
 * That of this thread. Each line is written at once, so that it is there whatever kills the process. A reader
 * that does not read, and a disk that is full, stop nothing: lines wait, and those that find no room are dropped.
 */
function standardErrorOf(bindings: Bindings): Stream {
  if (stream !== undefined) return stream
  const made = pino.destination({
    dest: openStandardError(),
    sync: true,
    maxLength: limits.logQueuedBytes,
    // As much as a pipe takes whole or not at all, so that lines of several threads do not mix.
    maxWrite: limits.logPieceBytes,
    retryEAGAIN: () => false,
  })
  stream = made
  let droppedCount = 0
  let failure: string | undefined
  let timer: NodeJS.Timeout | undefined

  // A fatal line would be tried again for ever where its reader is gone. All that can be written has been.
  made.flushSync = () => {}
  // pino would write nothing more after EPIPE, but a named pipe may get another reader.
  made.removeAllListeners('error')
  made.on('error', ({ code }: NodeJS.ErrnoException) => {
    failure = code
    timer ??= setTimeout(tryAgain, limits.logRetryMs).unref()
  })
  made.on('drop', () => {
    droppedCount += 1
    Atomics.add(dropped, 0, 1)
  })
  process.on('exit', () => {
    const endMs = performance.now() + limits.logEndMs
    while (failure === 'EAGAIN' && performance.now() < endMs) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limits.logEndLookMs)
      tryAgain()
    }
  })
  return made

  function tryAgain(): void {
    clearTimeout(timer)
    timer = undefined
    failure = undefined
    // Writes what waits.
    made.write('')
    if (failure !== undefined || droppedCount === 0) return
    const count = droppedCount
    droppedCount = 0
    createLog('warn', bindings).warn({ droppedCount: count }, 'lines of the log were dropped')
  }
}

/** Such that a write returns at once, if the system lets us. */
function openStandardError(): number {
  try {
    // By big integers: after the other ones, of a pipe, Node.js 20 does not resolve links in the paths of modules.
    const found = fstatSync(STANDARD_ERROR, { bigint: true })
    // A file has the place of its next line in its description, which others may write through, too.
    if (found.isFile()) return STANDARD_ERROR
    // A description of its own, since others who have standard error may rely on that it waits.
    const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants
    if (!found.isSocket()) {
      const path = `/proc/self/fd/${STANDARD_ERROR}`
      return openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY)
    }
  } catch {
    // It belongs to another user, or there is no such directory.
  }
  // Node.js makes a socket or a pipe one that does not wait when it is first asked for it.
  if (isMainThread) void process.stderr
  return STANDARD_ERROR
}

const STANDARD_ERROR = 2

/**
 * Whether the message of an error may have what it was about: those of JSON.parse quote what was parsed, those of assert
 * show what was compared, and those of ranges show what was out of one, any of which may be a phone.
 */
export function quotesData(fault: unknown): boolean {
  const { name, code } = fault as NodeJS.ErrnoException
  return fault instanceof SyntaxError || name === 'AssertionError' || code === 'ERR_OUT_OF_RANGE'
}

/** A bug as it may be logged, without a message that may quote data. */
export function describeFault(fault: unknown): Record<string, string | undefined> {
  if (!(fault instanceof Error)) return { fault: typeof fault }
  const frames = fault.stack?.split('\n').filter((line) => line.startsWith('    at '))
  return {
    fault: fault.name,
    ...(quotesData(fault) ? {} : { faultMessage: fault.message }),
    frames: frames?.join('\n'),
  }
}
