/**
 * Services that share a port answer from one data directory. Each shows its own by a socket with an abstract name
 * (unix(7)): it belongs to the network namespace, as ports do, and ends with its process. No process connects to it:
 * the system lists the names.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { createServer, isIP } from 'node:net'
import type { Config } from '../config.js'
import { OperatorError } from '../errors.js'

export interface PortShare {
  release(): void
}

/**
 * To be called before the port is listened on. It shows first and looks then, so that of two services that start at
 * the same time one at least sees the other.
 *
 * @throws OperatorError  when a service of another directory shares the port, or that is not known
 */
export async function sharePort({
  host,
  port,
  dataDirectory,
}: Pick<Config, 'host' | 'port' | 'dataDirectory'>): Promise<PortShare> {
  // Elsewhere no port is shared in the way of Linux, nor are there such names.
  if (process.platform !== 'linux' || port === 0) return { release() {} }
  // The same by each path, also where it is mounted twice.
  const { dev, ino } = await stat(dataDirectory, { bigint: true })
  const directory = `${dev}.${ino}`
  const server = createServer((socket) => socket.destroy())
  const own = randomBytes(4).toString('hex')
  // The system has room for 107 characters.
  server.listen(`\0hickory-shares-${port}-${directory}-${own}-${host.slice(0, 40)}`)
  await once(server, 'listening')
  server.unref()
  const release = () => void server.close()
  const names = await readFile(NAMES_FILE, 'utf8').catch((fault: NodeJS.ErrnoException) => {
    release()
    throw new OperatorError(
      'Failed',
      `cannot share port ${port} (--share-port): ${NAMES_FILE} cannot be read (${fault.code}), so that a service of ` +
        'another data directory would not be noticed. Show it to the service, or start it without --share-port',
    )
  })
  for (const [, sharedPort, other, otherHost] of names.matchAll(NAME)) {
    if (Number(sharedPort) !== port || other === directory || !meet(host, otherHost)) continue
    release()
    throw new OperatorError(
      'AddressInUse',
      `cannot share port ${port} (--share-port): a service of another data directory has it, and clients ` +
        'would get answers from both. Stop that, choose another --port, or name the same directory',
    )
  }
  return { release }
}

const NAMES_FILE = '/proc/net/unix'
/** In the list of the system, in which @ stands for the NUL in front, and for those that old releases put behind. */
const NAME = / @hickory-shares-(\d+)-([\d.]+)-[\da-f]{8}-([^\s@]*)@*$/gm

/** Whether connections to one may come to the other: not where both are addresses, and each is one alone. */
function meet(host: string, other: string): boolean {
  const isOneAlone = (each: string) => isIP(each) > 0 && each !== '0.0.0.0' && each !== '::'
  return host === other || !isOneAlone(host) || !isOneAlone(other)
}
