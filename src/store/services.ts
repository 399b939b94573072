/**
 * The services that run on one data directory, and up to which change each of them answers by the
 * do-not-contact lists. Whoever changes the lists waits for all of them.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import type { Tables } from './tables.js'

/** How the store knows a running service, by the id of its process. */
interface Registration {
  /** When the process began, since ids of processes are given again; empty where it is not known. */
  readonly start: string
  readonly takenVersion: number
}

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
}

export function serviceRegistry(tables: Tables): ServiceRegistry {
  const { services, refresh, transact } = tables
  const write = (takenVersion: number) => {
    const registration: Registration = { start: startOf(ownName) ?? '', takenVersion }
    services.put(ownName, JSON.stringify(registration))
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
        services.remove(ownName)
      })
    },
    lagging(version) {
      refresh()
      return registered(tables)
        .filter(({ name, takenVersion }) => name !== ownName && takenVersion < version)
        .filter(isAlive)
        .map(({ name }) => name)
    },
  }
}

type Registered = Registration & { readonly name: string }

function registered({ services }: Tables): Registered[] {
  return Array.from(services.getRange({}), ({ key, value }) => ({
    name: key,
    ...(JSON.parse(value) as Registration),
  }))
}

function deadOf(tables: Tables): Registered[] {
  return registered(tables).filter((service) => !isAlive(service))
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
