/**
 * The entrance of a service that speaks TLS: a thread decrypts, and hands each connection to a front thread by
 * a socket in a directory that only this user may enter.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config, TlsConfig } from '../config.js'
import { OperatorError } from '../errors.js'
import { sharesPorts } from '../http/engine/choose.js'
import type { Engine } from '../http/engine/engine.js'
import { answerStarting, cannotListen, type StartingServer } from '../http/listen.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { CredentialsFault, readCredentials, validityFault } from '../tls/credentials.js'
import { allocatePeers } from '../tls/peers.js'
import { startTlsThread, type TlsThread } from '../tls/start.js'
import type { Entrance } from './entrance.js'
import type { TlsNews } from './messages.js'

/** @throws OperatorError  when the certificate cannot be used */
export function createTlsEntrance(
  engine: Engine,
  config: Config & { readonly tls: TlsConfig },
  log: Log,
): Entrance {
  const { tls, host, port, sharePort } = config
  refuseWhatCannotBe(sharePort)
  let credentials = readCredentials(tls)
  const fault = validityFault(credentials)
  if (fault !== undefined) log.error({ reason: fault }, 'clients will refuse this certificate')
  const peers = allocatePeers()
  const directory = createDirectory()
  const pathOf = (name: string) => join(directory, name)
  const starting = pathOf('start')
  let startingServer: StartingServer | undefined
  let thread: TlsThread | undefined
  let fail: (error: Error) => void = () => {}
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  failure.catch(() => {})
  const certificateExpires = () => new Date(credentials.validToMs).toISOString()
  let refused: string | undefined
  const news = (): TlsNews => ({
    certificateExpires: certificateExpires(),
    ...(refused !== undefined && { refused }),
  })
  return {
    certificateExpires,
    socketOf: (frontIndex) => ({ path: pathOf(`front-${frontIndex}`), peers, news: news() }),
    async listen() {
      startingServer = await answerStarting(engine, starting)
      const shown = credentials
      thread = await startTlsThread({
        host,
        port,
        sharesPort: sharePort,
        credentials: shown,
        clientCertificates: tls.clientCertificates,
        peers,
        socketPaths: [starting],
        logLevel: config.logLevel,
      })
      if (thread === undefined) throw await cannotListen(host, port)
      thread.failure.catch(fail)
      // They may have been read again while it started.
      if (credentials !== shown) thread.show(credentials)
    },
    get port() {
      return thread?.port ?? port
    },
    async open(fronts) {
      thread?.forward(fronts.map((_, index) => pathOf(`front-${index}`)))
    },
    reload() {
      try {
        const read = readCredentials(tls)
        const fault = validityFault(read)
        if (fault !== undefined) throw new CredentialsFault('--tls-cert', tls.certificate, fault)
        credentials = read
        refused = undefined
        thread?.show(read)
        log.info(news(), 'the certificate was read again')
      } catch (error) {
        if (!(error instanceof CredentialsFault)) throw error
        refused = error.reason
        log.error({ reason: error.message }, 'the certificate in use is kept')
      }
      return news()
    },
    failure,
    stopListening: async () => thread?.stopListening(),
    async close() {
      await thread?.end(limits.tlsEndMs)
      startingServer?.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The TLS thread listens by `node:net`, and uWebSockets.js does not listen for TLS. */
function refuseWhatCannotBe(sharePort: boolean): void {
  if (process.platform === 'win32') {
    throw new OperatorError('Usage', `--tls-cert is not for Windows: ${PROXY_INSTEAD}`)
  }
  if (!sharePort || sharesPorts()) return
  throw new OperatorError(
    'Usage',
    `--share-port together with --tls-cert needs Node.js 22.12 or later, and this is ${process.version}: ` +
      PROXY_INSTEAD,
  )
}

const PROXY_INSTEAD = 'let a proxy in front of the service speak TLS'

/** Only this user may enter it: who could reach the sockets could say to be anybody. */
function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-'))
  if (Buffer.byteLength(directory) + 16 <= limits.socketPathBytes) return directory
  rmSync(directory, { recursive: true })
  throw new OperatorError(
    'Usage',
    `the directory for temporary files, ${tmpdir()}, has too long a path for sockets: name another one ` +
      'by TMPDIR, such as /tmp',
  )
}
