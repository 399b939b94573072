/**
 * Flags, environment and file become one frozen configuration; the only reader of process.env.
 * A flag wins over the environment, the environment over the file, the file over the default.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type ClusterConfig, clusterConfig } from './cluster-config.js'
import { OperatorError } from './errors.js'
import { limits } from './limits.js'
import { type LogLevel, logLevels } from './log.js'
import {
  integer,
  integerIfGiven,
  loopback,
  oneOf,
  options,
  origins,
  pathIfGiven,
  type Setting,
  targetIfGiven,
  text,
  truth,
  urlIfGiven,
} from './setting-values.js'

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
  /** Whether nobody beyond `CustomerBoundaryGeometry` of the configuration is counted or listed. */
  readonly clipsRecipientsToBoundary: boolean
  /** Origins whose pages may read answers; `*` is any. */
  readonly corsOrigins: readonly string[]
  /** What becomes of members that a request has and nobody knows. */
  readonly unknownMembers: 'refuse' | 'warn'
  /** Whether every operation needs a key. */
  readonly asksForKeys: boolean
  /** Whether the service is meant to be there for everybody who reaches it, without keys. */
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
  /** Of the requests that no other rule takes, one in so many has a line. */
  readonly accessLogSample: number
  /** A request that takes longer has a line. */
  readonly accessLogSlowMs: number
  /** Undefined on a machine of no cluster. */
  readonly cluster: ClusterConfig | undefined
  /** Of a file of the journal of changes. */
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
  /** The file of authorities whose client certificates are taken; undefined when nobody is asked for one. */
  readonly clientAuthority: string | undefined
  readonly clientCertificates: 'off' | 'optional' | 'required'
}

/** Values of command-line flags by their long names without dashes, as commander gives them. */
export type Flags = Readonly<Record<string, string | undefined>>

/**
 * @param flags        flags of the command that was called
 * @param environment  variables, those of the process by default
 * @throws OperatorError  Usage, naming the value, where it came from and what is allowed
 */
export function readConfig(
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const file = readFile(flags.config ?? environment.HICKORY_CONFIG)
  const setting = (name: SettingName) => lookUp(name, flags, environment, file)
  const config: Config = {
    dataDirectory: resolve(text(setting('data'))),
    host: text(setting('host')),
    port: integer(setting('port'), 0, 65_535),
    sharePort: truth(setting('sharePort')),
    tls: tlsConfig(setting),
    httpEngine: oneOf(setting('httpEngine'), ['auto', 'uws', 'node']),
    ...threadCounts(
      integerIfGiven(setting('httpThreads'), 1, 64),
      integerIfGiven(setting('queryThreads'), 1, 256),
    ),
    adminPort: integerIfGiven(setting('adminPort'), 0, 65_535),
    adminHost: loopback(setting('adminHost')),
    logLevel: oneOf(setting('logLevel'), logLevels),
    clipsRecipientsToBoundary: truth(setting('clipRecipientsToBoundary')),
    corsOrigins: origins(setting('corsOrigins')),
    unknownMembers: oneOf(setting('unknownMembers'), ['refuse', 'warn']),
    asksForKeys: truth(setting('keys')),
    isOpen: truth(setting('open')),
    takesWrites: oneOf(setting('writes'), ['on', 'off']) === 'on',
    publicUrl: urlIfGiven(setting('publicUrl')),
    auditDirectory: pathIfGiven(setting('audit')),
    auditCounts: truth(setting('auditCounts')),
    auditDigests: oneOf(setting('auditDigests'), ['on', 'off']) === 'on',
    auditKeepDays: integerIfGiven(setting('auditKeepDays'), 1, 36_500),
    accessLog: targetIfGiven(setting('accessLog')),
    accessLogSample: integer(setting('accessLogSample'), 1, 1_000_000),
    accessLogSlowMs: integer(setting('accessLogSlowMs'), 0, 3_600_000),
    cluster: clusterConfig(setting),
    journalFileBytes: integer(
      setting('journalFileBytes'),
      limits.journalFileBytesMin,
      limits.journalFileBytes,
    ),
    crashQueryWorkerMs: integer(setting('crashQueryWorkerMs'), 0, 3_600_000),
    workerArgs: options(setting('workerArgs')),
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

function tlsConfig(setting: (name: SettingName) => Setting): TlsConfig | undefined {
  const file = (name: SettingName) => {
    const given = setting(name)
    return given.value === undefined ? undefined : resolve(text(given))
  }
  const certificate = file('tlsCert')
  const key = file('tlsKey')
  const authority = file('tlsClientCa')
  const certificatesSetting = setting('tlsClientCerts')
  // Who names an authority wants its certificates, until they say otherwise.
  const whenNotSaid = authority === undefined ? 'off' : 'required'
  const clientCertificates =
    certificatesSetting.value === undefined
      ? whenNotSaid
      : oneOf(certificatesSetting, ['off', 'optional', 'required'])
  const usage = (message: string) => new OperatorError('Usage', message)
  if (certificate === undefined && key === undefined) {
    if (authority === undefined && clientCertificates === 'off') return undefined
    throw usage('client certificates need TLS: name the files of --tls-cert and --tls-key')
  }
  if (certificate === undefined || key === undefined) {
    const [given, missing] = key === undefined ? ['cert', 'key'] : ['key', 'cert']
    throw usage(
      `--tls-${given} needs --tls-${missing}: name the file of the certificate and of its key`,
    )
  }
  if (clientCertificates !== 'off' && authority === undefined) {
    throw usage(
      `--tls-client-certs ${clientCertificates} needs --tls-client-ca: name the file of the authorities ` +
        'whose certificates are taken',
    )
  }
  const clientAuthority = clientCertificates === 'off' ? undefined : authority
  return { certificate, key, clientAuthority, clientCertificates }
}

/** The variables themselves, for a command that lets its user name some of them. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
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

/** Name in the configuration file and its default; flag and variable follow from the name. */
const defaults = {
  data: './data/local',
  host: '127.0.0.1',
  port: 8080,
  sharePort: 'false',
  tlsCert: undefined,
  tlsKey: undefined,
  tlsClientCa: undefined,
  // An authority decides.
  tlsClientCerts: undefined,
  httpEngine: 'auto',
  // The number of cores says how many.
  httpThreads: undefined,
  queryThreads: undefined,
  // Off unless given.
  adminPort: undefined,
  adminHost: '127.0.0.1',
  logLevel: 'info',
  clipRecipientsToBoundary: 'false',
  corsOrigins: '',
  unknownMembers: 'refuse',
  keys: 'false',
  open: 'false',
  writes: 'on',
  publicUrl: '',
  audit: undefined,
  auditCounts: 'false',
  auditDigests: 'on',
  auditKeepDays: undefined,
  accessLog: undefined,
  accessLogSample: 100,
  accessLogSlowMs: 1_000,
  cluster: undefined,
  name: undefined,
  clusterId: 'main',
  clusterCredentials: undefined,
  clusterNkey: undefined,
  clusterTlsCa: undefined,
  clusterTlsCert: undefined,
  clusterTlsKey: undefined,
  acks: 'majority',
  takeover: 'auto',
  takeoverAfter: 5,
  maxLag: 60,
  laggingLists: 'serve',
  journalFileBytes: limits.journalFileBytes,
  copies: undefined,
  crashQueryWorkerMs: 0,
  workerArgs: '',
} as const

type SettingName = keyof typeof defaults

function lookUp(
  name: SettingName,
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>>,
  file: Readonly<Record<string, unknown>>,
): Setting {
  const variable = `HICKORY_${snakeCase(name).toUpperCase()}`
  if (flags[name] !== undefined) {
    return { value: flags[name], origin: `--${snakeCase(name).replaceAll('_', '-')}` }
  }
  if (environment[variable] !== undefined) return { value: environment[variable], origin: variable }
  if (file[name] !== undefined) return { value: file[name], origin: `${name} in the file` }
  return { value: defaults[name], origin: `the default of ${name}` }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function readFile(path: string | undefined): Readonly<Record<string, unknown>> {
  if (path === undefined) return {}
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const position = /position (\d+)/.exec(message)?.[1]
    const place = position === undefined ? '' : ` from character ${position} on`
    const what =
      error instanceof SyntaxError
        ? `is not JSON${place}: correct it`
        : `cannot be read (${code}): name another one with --config or HICKORY_CONFIG`
    throw new OperatorError('Usage', `configuration file ${path} ${what}`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new OperatorError('Usage', `configuration file ${path} must hold one JSON object`)
  }
  const unknown = Object.keys(content).filter((name) => !Object.hasOwn(defaults, name))
  if (unknown.length > 0) {
    throw new OperatorError(
      'Usage',
      `configuration file ${path} has the unknown setting ${unknown[0]}; ` +
        `known are ${Object.keys(defaults).join(', ')}`,
    )
  }
  return content as Readonly<Record<string, unknown>>
}
