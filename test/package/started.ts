/**
 * Services that were started in a Debian of a test, and questions to them.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process'

/** A service that is ready. */
export async function started(child: ChildProcess) {
  const written = { stdout: '', stderr: '' }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      written.stdout += chunk
    })
    child.stderr?.on('data', (chunk) => {
      written.stderr += chunk
    })
    // Logged last, when all that is printed is printed. Later the log may be long: it is not read again.
    const look = () => {
      const address = / at (http:\S+)\n/.exec(written.stdout)?.[1]
      if (address === undefined || !written.stderr.includes('"msg":"ready"')) return
      child.stderr?.off('data', look)
      resolve(address)
    }
    child.stderr?.on('data', look)
    ended.then((code) => reject(new Error(`serve ended with ${code}: ${written.stderr}`)))
  })
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url, stop }
}

export function ask(url: string, more: object = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ geoJSON: HOUSTON, ...more }),
  })
}

const HOUSTON = {
  type: 'Polygon',
  coordinates: [
    [
      [-95.46, 29.69],
      [-95.27, 29.69],
      [-95.27, 29.81],
      [-95.46, 29.81],
      [-95.46, 29.69],
    ],
  ],
}

/**
 * All recipients of all sources.
 *
 * @throws Error  with the status as its message, when there is no count
 */
export async function countOf(url: string): Promise<number> {
  const reply = await ask(`${url}/api/recipients`, { countsOnly: true, geoJSON: EVERYWHERE })
  if (reply.status !== 200) {
    await reply.body?.cancel()
    throw new Error(String(reply.status))
  }
  const { SourceRecords } = (await reply.json()) as { SourceRecords?: { Count: number }[] }
  return (SourceRecords ?? []).reduce((sum, { Count }) => sum + Count, 0)
}

const EVERYWHERE = {
  type: 'Polygon',
  coordinates: [
    [
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
      [-180, -90],
    ],
  ],
}
