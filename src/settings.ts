/**
 * All settings: how each is read, its default, and what it is for. Flag and variable follow from the name, and `hickory serve`
 * takes its options from here.
 *
 * @module
 */
import { OperatorError } from './errors.js'
import { nearestName } from './interface/near-miss.js'
import { limits } from './limits.js'
import { logLevels } from './log.js'
import {
  clusterId,
  integer,
  loopback,
  machineName,
  natsMonitors,
  natsServers,
  oneOf,
  options,
  origins,
  path,
  type Setting,
  target,
  text,
  truth,
  urlIfGiven,
} from './setting-values.js'

const PREFIX = 'HICKORY_'

interface Rule {
  readonly read: (setting: Setting) => unknown
  /** As it would be written; undefined without a default. */
  readonly initial?: string | number
  /** What holds where it is not given, in words, if that is not `initial`. */
  readonly otherwise?: string
  /** The settings without which this one does nothing. */
  readonly needs?: readonly string[]
  /** What stands for the value behind its flag; a flag without a value says that it is true. */
  readonly argument?: string
  readonly help: string
  /** All that it may be. */
  readonly values?: readonly string[]
}

const between = (min: number, max: number) => (setting: Setting) => integer(setting, min, max)
const among = <Value extends string>(...values: readonly Value[]) => ({
  values,
  read: (setting: Setting) => oneOf(setting, values),
})
const isTrue = { read: truth, initial: 'false' } as const
const needsAudit = { needs: ['audit'] } as const
const needsAccessLog = { needs: ['accessLog'] } as const
const needsCluster = { needs: ['cluster'] } as const

/** By their names in the configuration file. */
const rules = {
  data: { read: path, initial: './data/local', argument: 'DIR', help: 'data directory' },
  host: { read: text, initial: '127.0.0.1', argument: 'ADDRESS', help: 'address to listen on' },
  port: {
    read: between(0, 65_535),
    initial: 8080,
    argument: 'PORT',
    help: 'port to listen on, 0 for any free port',
  },
  sharePort: {
    ...isTrue,
    help: 'let a second process of the same data directory listen on the same port',
  },
  tlsCert: {
    read: path,
    needs: ['tlsKey'],
    argument: 'FILE',
    help: 'speak TLS, with this certificate in PEM',
  },
  tlsKey: {
    read: path,
    needs: ['tlsCert'],
    argument: 'FILE',
    help: 'the key of the certificate, in PEM',
  },
  tlsClientCa: {
    read: path,
    needs: ['tlsCert'],
    argument: 'FILE',
    help: 'authorities whose client certificates are taken, in PEM',
  },
  tlsClientCerts: {
    ...among('off', 'optional', 'required'),
    otherwise: 'required with --tls-client-ca',
    needs: ['tlsCert', 'tlsClientCa'],
    argument: 'WHETHER',
    help: 'whether clients show certificates',
  },
  httpEngine: {
    ...among('auto', 'uws', 'node'),
    initial: 'auto',
    argument: 'NAME',
    help: 'HTTP library: uws (fast), node (for every Node.js), or auto',
  },
  // The number of cores says how many.
  httpThreads: { read: between(1, 64), argument: 'N', help: 'threads that speak HTTP' },
  queryThreads: {
    read: between(1, 256),
    argument: 'N',
    help: 'query workers, over all HTTP threads',
  },
  clipRecipientsToBoundary: {
    ...isTrue,
    help: 'count and list no recipient beyond the boundary of the map configuration',
  },
  corsOrigins: {
    read: origins,
    initial: '',
    argument: 'LIST',
    help: 'origins whose pages may read answers',
  },
  unknownMembers: {
    ...among('refuse', 'warn'),
    initial: 'refuse',
    argument: 'WHAT',
    help: 'what to do about unknown members of a request: refuse it, or warn in the answer',
  },
  keys: { ...isTrue, help: 'let in who has a key, see `hickory keys`' },
  open: { ...isTrue, help: 'let in everybody who reaches the address, without a key' },
  writes: {
    ...among('on', 'off'),
    initial: 'on',
    argument: 'on|off',
    help: 'off refuses all changes over HTTP',
  },
  publicUrl: {
    read: urlIfGiven,
    initial: '',
    argument: 'URL',
    help: 'address that descriptions tell clients',
  },
  adminPort: {
    read: between(0, 65_535),
    otherwise: 'none',
    argument: 'PORT',
    help: 'port for metrics and state, 0 for any free port',
  },
  adminHost: {
    read: loopback,
    initial: '127.0.0.1',
    needs: ['adminPort'],
    argument: 'ADDRESS',
    help: 'address of this machine to listen on for these',
  },
  audit: {
    read: path,
    argument: 'DIR',
    help: 'record who lists and changes what, in this directory',
  },
  auditCounts: { ...isTrue, ...needsAudit, help: 'record counts, too' },
  auditDigests: {
    ...among('on', 'off'),
    initial: 'on',
    ...needsAudit,
    argument: 'on|off',
    help: 'off makes no digests of lists, so that long ones are sent faster',
  },
  auditKeepDays: {
    read: between(1, 36_500),
    otherwise: 'never',
    ...needsAudit,
    argument: 'N',
    help: 'remove older files of the audit',
  },
  accessLog: {
    read: target,
    argument: 'FILE',
    help: 'a line for each request, - for standard output',
  },
  accessLogSample: {
    read: between(1, 1_000_000),
    initial: 100,
    ...needsAccessLog,
    argument: 'N',
    help: 'sample rate for requests that are neither errors, changes, lists nor slow: 1 in N',
  },
  accessLogSlowMs: {
    read: between(0, 3_600_000),
    initial: 1_000,
    ...needsAccessLog,
    argument: 'MS',
    help: 'what is slow',
  },
  logLevel: {
    ...among(...logLevels),
    initial: 'info',
    argument: 'LEVEL',
    help: 'the least that is logged',
  },
  cluster: {
    read: natsServers,
    argument: 'URLS',
    help: 'be a machine of a cluster: NATS servers such as nats://10.0.0.1:4222, the nearest first, separated by commas',
  },
  name: {
    read: machineName,
    ...needsCluster,
    argument: 'NAME',
    help: 'what this machine is called in the cluster',
  },
  clusterId: {
    read: clusterId,
    initial: 'main',
    ...needsCluster,
    argument: 'ID',
    help: 'which of the clusters of these servers',
  },
  clusterCredentials: {
    read: path,
    ...needsCluster,
    argument: 'FILE',
    help: 'credentials of NATS, a JWT and a seed',
  },
  clusterNkey: { read: path, ...needsCluster, argument: 'FILE', help: 'seed of an nkey of NATS' },
  clusterTlsCa: {
    read: path,
    ...needsCluster,
    argument: 'FILE',
    help: 'authorities of NATS, in PEM',
  },
  clusterTlsCert: {
    read: path,
    needs: ['cluster', 'clusterTlsKey'],
    argument: 'FILE',
    help: 'certificate for NATS, in PEM',
  },
  clusterTlsKey: {
    read: path,
    needs: ['cluster', 'clusterTlsCert'],
    argument: 'FILE',
    help: 'its key, in PEM',
  },
  natsMonitor: {
    read: natsMonitors,
    initial: 'http://127.0.0.1:8222',
    ...needsCluster,
    argument: 'URLS',
    help:
      'monitors of the NATS servers, which say that they sync, separated by commas; port 8222 of the server that the ' +
      'machine is connected to is asked, too',
  },
  maxLag: {
    read: between(15, 86_400),
    initial: 60,
    ...needsCluster,
    argument: 'SECONDS',
    help: 'how long a machine is ready that does not hear from the log; at least 15',
  },
  laggingLists: {
    ...among('serve', 'refuse'),
    initial: 'serve',
    ...needsCluster,
    argument: 'WHAT',
    help: 'what becomes of lists then: serve them with a warning, or refuse them',
  },
  copies: {
    read: between(2, 100),
    ...needsCluster,
    otherwise: 'all',
    argument: 'N',
    help: 'how many machines hold each shard in memory, from the next snapshot on',
  },
  journalFileBytes: {
    read: between(limits.journalFileBytesMin, limits.journalFileBytes),
    initial: limits.journalFileBytes,
    argument: 'N',
    help: 'begin the next file of the journal here, for tests only',
  },
  crashQueryWorkerMs: {
    read: between(0, 3_600_000),
    initial: 0,
    argument: 'MS',
    help: 'kill a query worker at this interval, for tests only',
  },
  workerArgs: {
    read: options,
    initial: '',
    argument: 'ARGS',
    help: 'options of Node.js for query workers, such as --cpu-prof',
  },
} as const satisfies Readonly<Record<string, Rule>>

type SettingName = keyof typeof rules

export const settingNames = Object.keys(rules)

/** A setting as an option of the command line. */
interface SettingFlag {
  /** Such as `--port <PORT>`. */
  readonly flags: string
  /** With its variable and its default. */
  readonly description: string
  /** All that it may be; undefined where that is no list. */
  readonly values: readonly string[] | undefined
}

export const settingFlags: readonly SettingFlag[] = Object.entries<Rule>(rules).map(
  ([name, { argument, help, values, initial = '', otherwise = initial }]) => {
    const isUnsaid = otherwise === '' || otherwise === 'false' || help.endsWith('for tests only')
    return {
      flags: argument === undefined ? flagOf(name) : `${flagOf(name)} <${argument}>`,
      description: `${help} (${variableOf(name)}${isUnsaid ? '' : `; default ${otherwise}`})`,
      values,
    }
  },
)

export type Values = {
  readonly [Name in SettingName]:
    | ReturnType<(typeof rules)[Name]['read']>
    | ((typeof rules)[Name] extends { readonly initial: unknown } ? never : undefined)
}

export interface Settings {
  readonly values: Values
  /** Where those came from that are given. */
  readonly origins: ReadonlyMap<string, string>
}

/** Where settings are given. */
interface Given {
  /** By their names, as commander gives them. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, unknown>>
  readonly file: Readonly<Record<string, unknown>>
}

/**
 * A flag wins over the environment, the environment over the file, the file over the default. Whatever is given is
 * checked: a fault would otherwise show on the day on which the value that wins is taken away.
 *
 * @throws OperatorError  Usage, naming the value, where it came from and what is allowed
 */
export function readSettings({ flags, environment, file }: Given): Settings {
  const origins = new Map<string, string>()
  const values = Object.entries<Rule>(rules).map(([name, { read, initial }]) => {
    const given: Setting[] = [
      { value: flags[name], origin: flagOf(name) },
      { value: environment[variableOf(name)], origin: variableOf(name) },
      { value: file[name], origin: `${name} in the file` },
    ].filter(({ value }) => value !== undefined)
    const checked = given.map(read)
    if (given.length > 0) origins.set(name, given[0].origin)
    else if (initial !== undefined) checked.push(read({ value: initial, origin: name }))
    return [name, checked[0]]
  })
  return { values: Object.fromEntries(values) as Values, origins }
}

/**
 * @param names  the settings that are looked at
 * @throws OperatorError  Usage, where a setting is given and another one is not without which it does nothing
 */
export function assertNeeds({ values, origins }: Settings, names = settingNames): void {
  for (const [name, { needs = [] }] of Object.entries<Rule>(rules)) {
    const origin = origins.get(name)
    if (origin === undefined || !names.includes(name)) continue
    const value = values[name as SettingName]
    if (value === false || value === 'off') continue
    const missing = needs.find((needed) => !origins.has(needed))
    if (missing === undefined) continue
    const both = `set ${flagOf(missing)} (${variableOf(missing)}), too, or leave it out`
    throw new OperatorError(
      'Usage',
      `${origin} needs ${flagOf(missing)}, without which it does nothing: ${both}`,
    )
  }
}

interface MisspeltVariable {
  readonly variable: string
  readonly meant: string | undefined
}

/**
 * Variables that are no settings, and nearly ones, or were. They are told and not refused: other programs have variables of
 * this beginning, too, such as those that Kubernetes makes of the names of services.
 *
 * @returns what was meant; undefined of one that was a setting
 */
export function misspeltVariables(
  environment: Readonly<Record<string, unknown>>,
): readonly MisspeltVariable[] {
  const known = ['HICKORY_CONFIG', ...settingNames.map(variableOf)]
  return Object.keys(environment).flatMap((variable): MisspeltVariable[] => {
    if (!variable.startsWith(PREFIX) || known.includes(variable)) return []
    if (FORMER.includes(variable)) return [{ variable, meant: undefined }]
    const ends = known.map((name) => name.slice(PREFIX.length))
    const meant = nearestName(variable.slice(PREFIX.length), ends)
    return meant === undefined ? [] : [{ variable, meant: PREFIX + meant }]
  })
}

/** Settings of machines that elected one that writes. */
const FORMER = ['HICKORY_ACKS', 'HICKORY_TAKEOVER', 'HICKORY_TAKEOVER_AFTER']

function flagOf(name: string): string {
  return `--${snakeCase(name).replaceAll('_', '-')}`
}

function variableOf(name: string): string {
  return PREFIX + snakeCase(name).toUpperCase()
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
