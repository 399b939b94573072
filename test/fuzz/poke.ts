/**
 * Sends any bytes on a connection of their own, and sees what statuses come back.
 *
 * @module
 */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { writePieces } from './lane.js'
import type { Plan } from './plan.js'

export interface Poked {
  readonly statuses: readonly number[]
  /** False when the client had to break off although it had all the patience that was agreed. */
  readonly isOver: boolean
}

/**
 * Longer than the server waits for the rest of a head or a body, for the end of one that it throws
 * away, or for another request.
 */
const CLOSE_MS = 45_000

export async function poke(port: number, { pieces, ending }: Plan): Promise<Poked> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const seen = { text: '' }
  const changed = { tell: () => {} }
  socket.on('data', (bytes) => {
    if (seen.text.length < SEEN_CHAR_COUNT) seen.text += bytes.toString('latin1')
    changed.tell()
  })
  socket.on('error', () => {})
  const closed = new Promise<true>((resolve) => socket.on('close', () => resolve(true)))
  // The server has no more to say; it waits for nothing of ours either.
  socket.on('end', () => socket.destroy())
  await writePieces(socket, pieces)
  if (ending === 'reset') {
    const begun = new Promise<void>((resolve) => {
      changed.tell = resolve
    })
    if (seen.text === '') await Promise.race([begun, closed, sleep(MOMENT_MS)])
    socket.resetAndDestroy()
    return { statuses: statusesIn(seen.text), isOver: true }
  }
  if (ending === 'halfClose') socket.end()
  const isOver = await Promise.race([closed, sleep(CLOSE_MS, false, { ref: false })])
  socket.destroy()
  return { statuses: statusesIn(seen.text), isOver }
}

const SEEN_CHAR_COUNT = 64 * 1024

/** Enough for most answers; what is reset before it was read is as if it was never sent. */
const MOMENT_MS = 60

/** No body of the service holds a status line. */
function statusesIn(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 ([0-9]{3})/g), ([, status]) => Number(status))
}
