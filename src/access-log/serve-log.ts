/**
 * The thread that writes an access log, for all threads of a service. A failing file never blocks requests: the threads
 * that send lines bound what waits here.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, statSync, writeSync } from 'node:fs'
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { callsOver } from '../threads/calls.js'
import { addTo, type LineCalls } from './queue.js'
import type { AccessLogCalls, AccessLogNews, LogThreadData } from './thread.js'

/** @param main  to the main thread */
export function serveLog(main: MessagePort, { target: name, counters }: LogThreadData): void {
  const target = new LogTarget(name)
  let pieces: Buffer[] = []
  /** Bytes of the first piece that are written. */
  let offset = 0
  let timer: NodeJS.Timeout | undefined
  let failure: string | undefined
  let toldDroppedCount = 0
  const looking = setInterval(look, limits.accessLogLookMs)

  const lines: LineCalls = {
    write(text) {
      pieces.push(Buffer.from(text))
      if (timer === undefined) write()
    },
  }
  const own: AccessLogCalls = { serve: (port) => void callsOver(port, lines), reopen, stop }
  const { tell } = callsOver<AccessLogNews>(main, own)

  function write(): void {
    timer = undefined
    try {
      target.open()
      while (pieces.length > 0) writePiece(pieces[0])
      tellDropped()
      fails(undefined)
    } catch (fault) {
      const { code = '' } = fault as NodeJS.ErrnoException
      const isFull = code === 'EAGAIN'
      timer = setTimeout(write, isFull ? limits.accessLogFullMs : limits.accessLogRetryMs)
      if (isFull) return
      target.close()
      cutLine()
      fails(code)
    }
  }

  function writePiece(piece: Buffer): void {
    while (offset < piece.length) offset += target.write(piece.subarray(offset))
    pieces = pieces.slice(1)
    offset = 0
    addTo(counters, 'queued', -piece.length)
  }

  /** A line of which a part is written goes no further: what is opened next may be another file. */
  function cutLine(): void {
    const [piece, ...others] = pieces
    if (piece === undefined || offset === 0 || piece[offset - 1] === LINE_END) return
    const end = piece.indexOf(LINE_END, offset) + 1
    addTo(counters, 'queued', -end)
    addTo(counters, 'dropped', 1)
    // The line that is cut ends before the next one begins.
    const rest = piece.subarray(end)
    addTo(counters, 'queued', 1)
    pieces = [Buffer.concat([Buffer.from('\n'), rest]), ...others]
    offset = 0
  }

  function tellDropped(): void {
    const droppedCount = addTo(counters, 'dropped', 0)
    const count = (droppedCount - toldDroppedCount) >>> 0
    if (count === 0) return
    const line = { level: WARN, time: new Date().toISOString(), droppedCount: count, msg: DROPPED }
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    toldDroppedCount = droppedCount
    addTo(counters, 'queued', bytes.length)
    pieces.push(bytes)
    writePiece(bytes)
  }

  function look(): void {
    try {
      if (target.isReplaced()) reopen()
    } catch {
      // The next write says what is wrong.
    }
  }

  function reopen(): void {
    cutLine()
    target.close()
    if (timer === undefined) write()
  }

  function fails(reason: string | undefined): void {
    if (failure === reason) return
    failure = reason
    if (reason === undefined) tell.recovered()
    else tell.failed(reason)
  }

  function stop(): void {
    clearInterval(looking)
    const deadlineMs = performance.now() + limits.accessLogStopMs
    const end = () => {
      clearTimeout(timer)
      write()
      // What other threads have sent may not be here yet.
      const isOver = addTo(counters, 'queued', 0) === 0 || performance.now() > deadlineMs
      if (isOver) process.exit()
      clearTimeout(timer)
      timer = setTimeout(end, limits.accessLogFullMs)
    }
    end()
  }
}

const LINE_END = 0x0a
/** As pino numbers levels. */
const WARN = 40
const DROPPED = 'lines of the access log were dropped'

/**
 * The file, pipe or terminal of an access log. Nothing here waits: a pipe that is full takes nothing, and one without a
 * reader does not open.
 */
class LogTarget {
  readonly #name: string
  #fd: number | undefined

  /** @param name  a path, or `-` for standard output */
  constructor(name: string) {
    this.#name = name
  }

  /**
   * @returns how many bytes were taken
   * @throws  what the system says, `EAGAIN` for a pipe that is full
   */
  write(bytes: Uint8Array): number {
    return writeSync(this.open(), bytes)
  }

  /** @throws  what the system says, `ENXIO` for a pipe without a reader */
  open(): number {
    this.#fd ??= this.#open()
    return this.#fd
  }

  /** Whether another file has taken the place of this one, as logrotate does it. */
  isReplaced(): boolean {
    if (this.#fd === undefined || this.#name === '-') return false
    const now = statSync(this.#name, { throwIfNoEntry: false })
    const own = fstatSync(this.#fd)
    return now?.ino !== own.ino || now.dev !== own.dev
  }

  /** The next write opens it anew. */
  close(): void {
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined && fd !== STANDARD_OUTPUT) closeSync(fd)
  }

  #open(): number {
    const flags = O_WRONLY | O_APPEND | (O_NONBLOCK ?? 0)
    if (this.#name !== '-') return openSync(this.#name, flags | O_CREAT, 0o600)
    try {
      // A description of its own: other processes with this standard output may rely on that it blocks.
      return openSync('/proc/self/fd/1', flags)
    } catch {
      // A socket, or a system without this directory: then only this thread waits for it.
      return STANDARD_OUTPUT
    }
  }
}

const STANDARD_OUTPUT = 1

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
