/**
 * What a running HAProxy is told, and tells, at its socket.
 *
 * @module
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** @returns the answer; empty where there is nothing to say */
export async function tellHaproxy(path: string, text: string): Promise<string> {
  const socket = await connected(path)
  socket.end(`${text}\n`)
  let answer = ''
  for await (const piece of socket) answer += piece
  return answer.trim()
}

/** @returns what it thinks of a server, such as `UP`; with a fraction behind it while checks may change it */
export async function stateInHaproxy(
  path: string,
  backend: string,
  server: string,
): Promise<string> {
  const [heads = '', ...lines] = (await tellHaproxy(path, 'show stat')).split('\n')
  const line = lines.find((line) => line.startsWith(`${backend},${server},`))
  return line?.split(',')[heads.split(',').indexOf('status')] ?? ''
}

/** HAProxy listens on its ports before its socket has a name, and names that before it listens there. */
async function connected(path: string): Promise<Socket> {
  const deadlineMs = performance.now() + 10_000
  for (;;) {
    const socket = connect(path)
    try {
      await once(socket, 'connect')
      return socket
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}
