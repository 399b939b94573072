/**
 * Why an address cannot be listened on. The HTTP library only says that it cannot, so it is tried once
 * more in a way that tells.
 *
 * @module
 */
import { createServer } from 'node:net'
import { OperatorError } from '../errors.js'

/** @param tryToListen  tells the code of the fault; undefined if there is none any more */
export async function cannotListen(
  host: string,
  port: number,
  tryToListen: typeof listenOnce = listenOnce,
): Promise<OperatorError> {
  const code = await tryToListen(host, port)
  return new OperatorError(
    'AddressInUse',
    `cannot listen on ${host}:${port}: ${reasonOf(host, port, code)}`,
  )
}

/**
 * Finds out whether somebody else listens there.
 *
 * @throws OperatorError
 */
export async function refuseUsedPort(host: string, port: number): Promise<void> {
  const code = port === 0 ? undefined : await listenOnce(host, port)
  if (code !== undefined) throw await cannotListen(host, port, async () => code)
}

function reasonOf(host: string, port: number, code: string | undefined): string {
  switch (code) {
    case 'EADDRNOTAVAIL':
      return (
        `${host} is not an address of this machine. Choose another --host: 127.0.0.1 for this machine ` +
        'alone, 0.0.0.0 for all that reach it'
      )
    case 'EACCES':
      return (
        `port ${port} needs privileges, which this user does not have. Choose a --port from 1024 on, or ` +
        'allow it with CAP_NET_BIND_SERVICE'
      )
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `there is no host of this name. Choose another --host, such as 127.0.0.1`
    case 'EADDRINUSE':
    case undefined:
      return `another process has port ${port} (\`ss -ltnp\` names it). Stop that, or choose another --port`
    default:
      return `the system refuses it (${code}). Choose another --host and --port`
  }
}

function listenOnce(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
