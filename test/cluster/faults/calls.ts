/**
 * Requests to sites, each with a bound in time.
 *
 * @module
 */
import { Agent, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows what it asked for
  readonly json: any
}

const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 30_000 })

let authorization = ''

/** Of all requests from now on. */
export function useKey(key: string): void {
  authorization = `Bearer ${key}`
}

interface CallOptions {
  readonly method?: string
  readonly body?: object
  readonly waitMs: number
  /** Hears why there is no answer. */
  readonly onFault?: (fault: string) => void
}

/** @returns undefined where there is no answer in time */
export function call(url: string, options: CallOptions): Promise<Answer | undefined> {
  const { method = 'GET', body, waitMs, onFault = () => {} } = options
  return new Promise((resolve) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent = request(
      url,
      {
        agent,
        method,
        signal: AbortSignal.timeout(waitMs),
        headers: {
          authorization,
          ...(text !== undefined && { 'content-type': 'application/json' }),
        },
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', () => {
          onFault('broken off')
          resolve(undefined)
        })
        response.on('end', () => {
          const content = Buffer.concat(parts).toString()
          try {
            const { statusCode: status = 0, headers } = response
            resolve({ status, headers, json: JSON.parse(content) })
          } catch {
            // What a service that dies has sent.
            onFault('cut')
            resolve(undefined)
          }
        })
      },
    )
    sent.on('error', ({ name, code = name }: NodeJS.ErrnoException) => {
      // The other end may close a connection that it has kept just when it is used again.
      onFault(sent.reusedSocket && code === 'ECONNRESET' ? 'closed' : code)
      resolve(undefined)
    })
    sent.end(text)
  })
}

export function closeCalls(): void {
  agent.destroy()
}
