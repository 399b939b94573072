/**
 * All settings: how each is read, its default, and what it is for. Flag and variable follow from the name.
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

interface Rule {
  readonly read: (setting: Setting) => unknown
  /** As it would be written; undefined where there is none. */
  readonly initial?: string | number
  /** The settings without which this one does nothing. */
  readonly needs?: readonly string[]
}

const between = (min: number, max: number) => (setting: Setting) => integer(setting, min, max)
const among =
  <Value extends string>(...values: readonly Value[]) =>
  (setting: Setting) =>
    oneOf(setting, values)

const audit = { needs: ['audit'] } as const
const accessLog = { needs: ['accessLog'] } as const
const cluster = { needs: ['cluster'] } as const

/** By their names in the configuration file. */
const rules = {
  data: { read: path, initial: './data/local' },
  host: { read: text, initial: '127.0.0.1' },
  port: { read: between(0, 65_535), initial: 8080 },
  sharePort: { read: truth, initial: 'false' },
  tlsCert: { read: path, needs: ['tlsKey'] },
  tlsKey: { read: path, needs: ['tlsCert'] },
  tlsClientCa: { read: path, needs: ['tlsCert'] },
  // An authority decides.
  tlsClientCerts: {
    read: among('off', 'optional', 'required'),
    needs: ['tlsCert', 'tlsClientCa'],
  },
  httpEngine: { read: among('auto', 'uws', 'node'), initial: 'auto' },
  // The number of cores says how many.
  httpThreads: { read: between(1, 64) },
  queryThreads: { read: between(1, 256) },
  // There is no admin listener without it.
  adminPort: { read: between(0, 65_535) },
  adminHost: { read: loopback, initial: '127.0.0.1', needs: ['adminPort'] },
  logLevel: { read: among(...logLevels), initial: 'info' },
  clipRecipientsToBoundary: { read: truth, initial: 'false' },
  corsOrigins: { read: origins, initial: '' },
  unknownMembers: { read: among('refuse', 'warn'), initial: 'refuse' },
  keys: { read: truth, initial: 'false' },
  open: { read: truth, initial: 'false' },
  writes: { read: among('on', 'off'), initial: 'on' },
  publicUrl: { read: urlIfGiven, initial: '' },
  audit: { read: path },
  auditCounts: { read: truth, initial: 'false', ...audit },
  auditDigests: { read: among('on', 'off'), initial: 'on', ...audit },
  auditKeepDays: { read: between(1, 36_500), ...audit },
  accessLog: { read: target },
  accessLogSample: { read: between(1, 1_000_000), initial: 100, ...accessLog },
  accessLogSlowMs: { read: between(0, 3_600_000), initial: 1_000, ...accessLog },
  cluster: { read: natsServers },
  name: { read: machineName, ...cluster },
  clusterId: { read: clusterId, initial: 'main', ...cluster },
  clusterCredentials: { read: path, ...cluster },
  clusterNkey: { read: path, ...cluster },
  clusterTlsCa: { read: path, ...cluster },
  clusterTlsCert: { read: path, needs: ['cluster', 'clusterTlsKey'] },
  clusterTlsKey: { read: path, needs: ['cluster', 'clusterTlsCert'] },
  natsMonitor: { read: natsMonitors, initial: 'http://127.0.0.1:8222', ...cluster },
  maxLag: { read: between(15, 86_400), initial: 60, ...cluster },
  laggingLists: { read: among('serve', 'refuse'), initial: 'serve', ...cluster },
  journalFileBytes: {
    read: between(limits.journalFileBytesMin, limits.journalFileBytes),
    initial: limits.journalFileBytes,
  },
  copies: { read: between(2, 100), ...cluster },
  crashQueryWorkerMs: { read: between(0, 3_600_000), initial: 0 },
  workerArgs: { read: options, initial: '' },
} as const satisfies Readonly<Record<string, Rule>>

type SettingName = keyof typeof rules

export const settingNames = Object.keys(rules)

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

const PREFIX = 'HICKORY_'
/** Of machines that elected one that writes. */
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
