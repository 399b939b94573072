/**
 * The thread that writes an access log, for all threads of a service. Whatever becomes of the file, it
 * stops nobody: what waits is bounded by those who send it.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { addTo } from './counters.js'
import type { LogNews, LogOrder, LogThreadData, LogThreadOrder } from './messages.js'
import { LogTarget } from './target.js'

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

  main.on('message', (order: LogThreadOrder) => {
    if (order.kind === 'port') order.port.on('message', take)
    else if (order.kind === 'reopen') reopen()
    else stop()
  })

  function take({ text }: LogOrder): void {
    pieces.push(Buffer.from(text))
    if (timer === undefined) write()
  }

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
    addTo(counters, 'written', 1)
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
    main.postMessage({ failure } satisfies LogNews)
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
