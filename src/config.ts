/**
 * Flags, environment and file become one frozen configuration; the only reader of process.env.
 *
 * @module
 */
import { accessSync, constants, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { type ClusterConfig, clusterConfig, clusterConnection } from './cluster-config.js'
import { OperatorError } from './errors.js'
import type { LogLevel } from './log.js'
import { text } from './setting-values.js'
import {
  assertNeeds,
  misspeltVariables,
  readSettings,
  type Settings,
  settingNames,
  type Values,
} from './settings.js'
import { whyUnread } from './system-refusals.js'
import { parseWrittenJson } from './written-json.js'

export interface Config {
  /** Absolute. */
  readonly dataDirectory: string
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** Whether a second process of the same user may listen on the same port. */
  readonly sharePort: boolean
  /** How TLS is spoken; undefined for plain HTTP. */
  readonly tls: TlsConfig | undefined
  /** The HTTP library below the service; `auto` is the fastest that is there. */
  readonly httpEngine: 'auto' | 'uws' | 'node'
  /** Threads that speak HTTP. */
  readonly httpThreadCount: number
  /** Query workers, dealt out to the HTTP threads. */
  readonly queryThreadCount: number
  /** The port of the admin listener, 0 for any free one; undefined where there is to be none. */
  readonly adminPort: number | undefined
  /** An address of this machine alone. */
  readonly adminHost: string
  readonly logLevel: LogLevel
  /** Whether only recipients within `CustomerBoundaryGeometry` of the configuration are counted and listed. */
  readonly clipsRecipientsToBoundary: boolean
  /** Origins whose pages may read answers; `*` is any. */
  readonly corsOrigins: readonly string[]
  /** What becomes of unknown members of a request. */
  readonly unknownMembers: 'refuse' | 'warn'
  /** Whether every operation needs a key. */
  readonly asksForKeys: boolean
  /** Whether every client that reaches the service may use it, without a key. */
  readonly isOpen: boolean
  /** Whether anything that is stored may be changed over HTTP. */
  readonly takesWrites: boolean
  /** The address under which clients know the service, without a slash at its end. */
  readonly publicUrl: string | undefined
  /** Where lists and changes are recorded, absolute; undefined where they are not. */
  readonly auditDirectory: string | undefined
  /** Whether counts are recorded, too. */
  readonly auditCounts: boolean
  /** Whether the audit has digests of lists. */
  readonly auditDigests: boolean
  /** Files of the audit with no younger line are removed; undefined keeps them for ever. */
  readonly auditKeepDays: number | undefined
  /** A path, or `-` for standard output; undefined is no access log. */
  readonly accessLog: string | undefined
  /** Sample rate for requests that no other rule logs: one line in so many. */
  readonly accessLogSample: number
  /** A request that takes longer has a line. */
  readonly accessLogSlowMs: number
  /** Undefined on a machine of no cluster. */
  readonly cluster: ClusterConfig | undefined
  /** Size of a file of the journal of changes. */
  readonly journalFileBytes: number
  /** Milliseconds between deaths of a random query worker, to test what then happens; 0 is never. */
  readonly crashQueryWorkerMs: number
  /** Options of Node.js for query workers and clipping threads, such as `--cpu-prof`. */
  readonly workerArgs: readonly string[]
}

export interface TlsConfig {
  /** The file of the certificate. */
  readonly certificate: string
  /** The file of its key. */
  readonly key: string
  /** The file of authorities whose client certificates are taken; undefined when clients are not asked for one. */
  readonly clientAuthority: string | undefined
  readonly clientCertificates: 'off' | 'optional' | 'required'
}

/** Variables of the process that are no settings, and nearly ones, or were. */
export const ownMisspeltVariables = () => misspeltVariables(process.env)

/** Values of command-line flags by their long names without dashes, as commander gives them. */
type Flags = Readonly<Record<string, string | undefined>>

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Everything that a service needs to know.
 *
 * @param flags        flags of the command that was called
 * @param environment  variables, those of the process by default
 * @throws OperatorError  Usage, naming the value, where it came from and what is allowed
 */
export function readConfig(flags: Flags, environment: Environment = process.env): Config {
  const settings = allSettings(flags, environment)
  assertNeeds(settings)
  const { values } = settings
  const config: Config = {
    dataDirectory: values.data,
    host: values.host,
    port: values.port,
    sharePort: values.sharePort,
    tls: tlsConfig(values),
    httpEngine: values.httpEngine,
    ...threadCounts(values.httpThreads, values.queryThreads),
    adminPort: values.adminPort,
    adminHost: values.adminHost,
    logLevel: values.logLevel,
    clipsRecipientsToBoundary: values.clipRecipientsToBoundary,
    corsOrigins: values.corsOrigins,
    unknownMembers: values.unknownMembers,
    asksForKeys: values.keys,
    isOpen: values.open,
    takesWrites: values.writes === 'on',
    publicUrl: values.publicUrl,
    auditDirectory: values.audit,
    auditCounts: values.auditCounts,
    auditDigests: values.auditDigests === 'on',
    auditKeepDays: values.auditKeepDays,
    accessLog: values.accessLog,
    accessLogSample: values.accessLogSample,
    accessLogSlowMs: values.accessLogSlowMs,
    cluster: clusterConfig(settings),
    journalFileBytes: values.journalFileBytes,
    crashQueryWorkerMs: values.crashQueryWorkerMs,
    workerArgs: values.workerArgs,
  }
  if (config.queryThreadCount < config.httpThreadCount) {
    throw new OperatorError(
      'Usage',
      `--query-threads is ${config.queryThreadCount}, but each of the ${config.httpThreadCount} ` +
        'HTTP threads needs a query worker of its own',
    )
  }
  if (config.asksForKeys && config.isOpen) {
    throw new OperatorError(
      'Usage',
      '--keys and --open contradict each other: --keys lets in who has a key, --open everybody',
    )
  }
  return Object.freeze(config)
}

/**
 * For commands beside a service, which share some of its settings and its variables, and need not all of them.
 *
 * @throws OperatorError  Usage, as above
 */
export function readValues(flags: Flags): Values {
  return allSettings(flags, process.env).values
}

/**
 * For commands that ask a cluster; undefined where no setting names one.
 *
 * @throws OperatorError  Usage, as above
 */
export function readClusterConnection(flags: Flags): ReturnType<typeof clusterConnection> {
  const settings = allSettings(flags, process.env)
  // Variables may be those of a service, whose flags are not given here.
  assertNeeds(settings, Object.keys(flags))
  return clusterConnection(settings)
}

function allSettings(flags: Flags, environment: Environment): Settings {
  const given = { '--config': flags.config, HICKORY_CONFIG: environment.HICKORY_CONFIG }
  const paths = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([origin, value]) => text({ value, origin }))
  const [path, overridden] = paths
  // Its values are checked, but it may be gone, or be another user's.
  if (overridden !== undefined && canRead(overridden)) {
    readSettings({ flags: {}, environment: {}, file: readFile(overridden) })
  }
  const file = path === undefined ? {} : readFile(path)
  return readSettings({ flags, environment, file })
}

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function tlsConfig(values: Values): TlsConfig | undefined {
  const { tlsCert: certificate, tlsKey: key, tlsClientCa } = values
  if (certificate === undefined || key === undefined) return undefined
  // Who names an authority wants its certificates, until they say otherwise.
  const whenNotSaid = tlsClientCa === undefined ? 'off' : 'required'
  const clientCertificates = values.tlsClientCerts ?? whenNotSaid
  const clientAuthority = clientCertificates === 'off' ? undefined : tlsClientCa
  return { certificate, key, clientAuthority, clientCertificates }
}

/** The variables themselves, for a command that lets its user name some of them. */
export function readEnvironment(): Environment {
  return process.env
}

/**
 * How many threads there are where it is not said. A count of a drawn polygon takes an HTTP thread 1.5 to 2
 * times as long as a query worker, so that HTTP threads use up more than half of the cores. A large request
 * takes all query workers of its HTTP thread but one, which is kept for small ones. Idle workers cost
 * little, and busy ones share the cores.
 */
function threadCounts(
  httpThreads: number | undefined,
  queryThreads: number | undefined,
): Pick<Config, 'httpThreadCount' | 'queryThreadCount'> {
  const coreCount = availableParallelism()
  const inPairs = Math.max(1, Math.floor((queryThreads ?? Number.POSITIVE_INFINITY) / 2))
  const httpThreadCount = httpThreads ?? Math.min(16, Math.floor(coreCount / 2) + 1, inPairs)
  const workersPerThread = coreCount < 4 ? 2 : 3
  const queryThreadCount = queryThreads ?? Math.max(coreCount, workersPerThread * httpThreadCount)
  return { httpThreadCount, queryThreadCount }
}

function readFile(path: string): Readonly<Record<string, unknown>> {
  let content: unknown
  try {
    content = parseWrittenJson(`configuration file ${path}`, readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { message } = error as Error
    const position = /position (\d+)/.exec(message)?.[1]
    const place = position === undefined ? '' : ` from character ${position} on`
    const what =
      error instanceof SyntaxError
        ? `is not JSON${place}: correct it`
        : `${whyUnread(error)}, or name another one with --config or HICKORY_CONFIG`
    throw new OperatorError('Usage', `configuration file ${path} ${what}`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new OperatorError('Usage', `configuration file ${path} must hold one JSON object`)
  }
  const unknown = Object.keys(content).filter((name) => !settingNames.includes(name))
  if (unknown.length > 0) {
    throw new OperatorError(
      'Usage',
      `configuration file ${path} has the unknown setting ${unknown[0]}; ` +
        `known are ${settingNames.join(', ')}`,
    )
  }
  return content as Readonly<Record<string, unknown>>
}
