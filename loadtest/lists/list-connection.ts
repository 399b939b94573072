/**
 * A connection on which one list after the other is read.
 *
 * @module
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { createAnswerStream } from '../../test/support/service/answer-stream.js'
import { requestText } from '../requests/requests.js'
import { type Digest, EMPTY_DIGEST, extended } from './digest.js'

export interface ListConnection {
  /** Undefined where the list is not answered 200, or not to the end. */
  readList(path: string, body: string): Promise<Digest | undefined>
  close(): void
}

export async function openListConnection(url: string): Promise<ListConnection> {
  const { hostname, port } = new URL(url)
  let take = (_: Buffer): void => {}
  let end = (): void => {}
  // One buffer for all that arrives: without it, each read makes a new one.
  const onread = {
    buffer: Buffer.alloc(READ_BYTES),
    callback(byteCount: number, buffer: Uint8Array) {
      take(buffer.subarray(0, byteCount) as Buffer)
      return true
    },
  }
  const socket = connect({ host: hostname, port: Number(port), onread })
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.on('close', () => end())
  socket.setTimeout(STALL_MS, () => socket.destroy())
  return {
    readList: (path, body) =>
      new Promise((resolve) => {
        let digest = EMPTY_DIGEST
        const answer = createAnswerStream((piece) => {
          digest = extended(digest, piece)
        })
        end = () => resolve(undefined)
        take = (bytes) => {
          try {
            answer.read(bytes)
          } catch {
            socket.destroy()
          }
          if (answer.isOver) resolve(answer.status === 200 ? digest : undefined)
        }
        if (socket.destroyed) end()
        else socket.write(requestText(body, path))
      }),
    close: () => void socket.destroy(),
  }
}

const READ_BYTES = 512 * 1024
/** Without a byte, after which a list counts as broken off. */
const STALL_MS = 30_000
