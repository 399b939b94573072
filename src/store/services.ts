/**
 * The services that run on one data directory, and up to which version of live data each of them
 * answers. Whoever changes the data waits for all of them.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tables } from './tables.js'

/** How the store knows a running service, by the id of its process. */
interface Registration {
  /** When the process began, since ids of processes are given again; empty where it is not known. */
  readonly start: string
  /** The file of the store that it has open: an entry that came with a copy of the file is void. */
  readonly file: string
  /** The boot of its system, since entries from before a restart are void; empty if the system does not tell. */
  readonly boot: string
  /** The version that it has taken of each kind of data that it answers by. */
  readonly [member: string]: string | number | undefined
}

/** Names the version that is taken of the suppression lists. */
export const SUPPRESSIONS_TAKEN = 'takenVersion'

/** The same of the keys of clients. */
export const KEYS_TAKEN = 'keysTakenVersion'

/** Says that a service is one of a cluster, by any number. */
export const IN_CLUSTER = 'inCluster'

/** Names this process, also in the log of changes. */
export const ownName = String(process.pid)

export interface ServiceRegistry {
  /** From now on, others wait for this process. To be called by its main thread alone. */
  register(takenVersion: number): void
  /** Says that this process answers by all changes up to one. */
  publish(takenVersion: number): void
  /** Others wait no longer. */
  unregister(): void
  /** The other services that run and are not known to have taken a change. */
  lagging(version: number): string[]
  /** @returns whether all of them take a change within a time */
  untilTaken(version: number, waitMs: number): Promise<boolean>
}

/** Between two looks at what the others have taken. */
const LOOK_MS = 10

/** @param member  names the version that is taken of one kind of data; others are left as they are */
export function serviceRegistry(tables: Tables, member: string): ServiceRegistry {
  const { services, refresh, transact, fileId: file } = tables
  const write = (takenVersion: number) => {
    const start = startOf(ownName) ?? ''
    const known = { start, file, boot: bootId() }
    const registration: Registration = { ...own(start), ...known, [member]: takenVersion }
    services.put(ownName, JSON.stringify(registration))
  }

  /** What this process has registered of other data; what another with its id has left is not kept. */
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
        await sleep(LOOK_MS)
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

/** Drawn by the system at each start; empty where it does not tell. */
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
  // It is there: where no more can be learnt, as without a free descriptor, it is waited for.
  return start === '' || found === undefined || found === start
}

/**
 * When a process began, in the unit of the system, or that it has ended.
 *
 * @returns undefined where the system does not tell
 */
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
