/**
 * A port for a process that is to be started, and started again.
 *
 * @module
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the system gives to clients, which could hold it when a process starts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
}
