/**
 * The services that run on one data directory, each with the version of live data that it has applied. A change of the
 * data waits for all of them.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tables } from './tables.js'

/** A running service, stored by the id of its process. */
interface Registration {
  /** When the process began, since ids of processes are used again; empty if the system does not tell. */
  readonly start: string
  /** The file of the store that it has open: an entry that came with a copy of the file is void. */
  readonly file: string
  /** The boot of its system, since entries from before a restart are void; empty if the system does not tell. */
  readonly boot: string
  /** The version of each kind of data that it has applied. */
  readonly [member: string]: string | number | undefined
}

/** The member for the version of the suppression lists. */
export const SUPPRESSIONS_APPLIED = 'takenVersion'

/** The member for the version of the keys of clients. */
export const KEYS_APPLIED = 'keysTakenVersion'

/** The member that marks a service of a cluster, with any number. */
export const IN_CLUSTER = 'inCluster'

/** The name of this process, also in the log of changes. */
export const ownName = String(process.pid)

export interface ServiceRegistry {
  /** From now on, others wait for this process. Only its main thread may call this. */
  register(takenVersion: number): void
  /** Says that this process has applied all changes up to a version. */
  publish(takenVersion: number): void
  /** Others wait no longer. */
  unregister(): void
  /** The other services that run and have not applied a change yet. */
  lagging(version: number): string[]
  /** @returns whether all of them apply a change within a time */
  untilTaken(version: number, waitMs: number): Promise<boolean>
}

const POLL_MS = 10

/** @param member  the one for a kind of data; others are left as they are */
export function serviceRegistry(tables: Tables, member: string): ServiceRegistry {
  const { services, refresh, transact, fileId: file } = tables
  const write = (takenVersion: number) => {
    const start = startOf(ownName) ?? ''
    const known = { start, file, boot: bootId() }
    const registration: Registration = { ...own(start), ...known, [member]: takenVersion }
    services.put(ownName, JSON.stringify(registration))
  }

  /** What this process has registered of other data, without what an earlier process of its id has left. */
  function own(start: string): Registration | undefined {
    const text = services.get(ownName)
    const registration = text === undefined ? undefined : (JSON.parse(text) as Registration)
    if (registration?.start !== start || !isOfHere(registration, file)) return undefined
    return registration
  }

  function lagging(version: number): string[] {
    refresh()
    return registered(tables)
      .filter(({ name, [member]: taken }) => name !== ownName && Number(taken) < version)
      .filter((service) => isRunning(service, file))
      .map(({ name }) => name)
  }

  return {
    register(takenVersion) {
      refresh()
      transact(() => {
        for (const { name } of deadOf(tables)) services.remove(name)
        write(takenVersion)
      })
    },
    publish(takenVersion) {
      refresh()
      transact(() => write(takenVersion))
    },
    unregister() {
      refresh()
      transact(() => {
        const { [member]: _, ...rest } = own(startOf(ownName) ?? '') ?? NOT_REGISTERED
        const { start, file, boot, ...others } = rest
        if (Object.keys(others).length > 0) services.put(ownName, JSON.stringify(rest))
        else services.remove(ownName)
      })
    },
    lagging,
    async untilTaken(version, waitMs) {
      const deadlineMs = performance.now() + waitMs
      while (lagging(version).length > 0) {
        if (performance.now() >= deadlineMs) return false
        await sleep(POLL_MS)
      }
      return true
    },
  }
}

const NOT_REGISTERED: Registration = { start: '', file: '', boot: '' }

interface Registered extends Registration {
  readonly name: string
}

function registered({ services }: Tables): Registered[] {
  return Array.from(services.getRange({}), ({ key, value }) => ({
    ...(JSON.parse(value) as Registration),
    name: key,
  }))
}

function deadOf(tables: Tables): Registered[] {
  return registered(tables).filter((service) => !isRunning(service, tables.fileId))
}

function isRunning(service: Registered, file: string): boolean {
  return isOfHere(service, file) && isAlive(service)
}

/** Whether an entry was written to this file of the store since the system started. */
function isOfHere({ file, boot }: Registration, ownFile: string): boolean {
  const ownBoot = bootId()
  const isOtherBoot = boot !== '' && ownBoot !== '' && boot !== ownBoot
  return !isOtherBoot && file === ownFile
}

/** Drawn by the system at each start; empty if it does not tell. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

function isAlive({ name, start }: Registered): boolean {
  try {
    process.kill(Number(name), 0)
  } catch (fault) {
    // One of another user may not be sent a signal, but is there.
    if ((fault as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const found = startOf(name)
  // If no more can be learnt, as without a free descriptor, it is waited for.
  return start === '' || found === undefined || found === start
}

/** When a process began, in the unit of the system, or that it has ended; undefined if the system does not tell. */
function startOf(name: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
    // Behind the name of the program, which may hold anything: the state is the first field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[STATE] === 'Z' || fields[STATE] === 'X' ? ENDED : fields[START_TIME]
  } catch {
    return undefined
  }
}

const ENDED = 'ended'
/** See proc(5), less the two fields up to the name. */
const STATE = 0
const START_TIME = 19
