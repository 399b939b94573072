/**
 * The checks of `hickory doctor` that look at the machine, as Linux tells of it. Where the system does
 * not tell, a check says so and finds nothing wrong.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { limits } from '../../limits.js'
import { unsupportedRelease } from '../../node-release.js'
import { formatBytes } from '../quantities.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'

/** What the libraries with native code are linked to. */
const GLIBC_MIN = [2, 34] as const
/** What Linux gives unless it is told otherwise. */
const MAP_COUNT_MIN = 65_530
const BACKLOG_MIN = 1_024
/** Files and pipes beside connections, amply. */
const OTHER_FILE_COUNT = 1_000
/** See docs/operations/sizing.md. */
const IMPORT_BASE_BYTES = 500e6
const IMPORT_RECIPIENT_BYTES = 50

export function machineChecks(recipientCount: number): Check[] {
  return [
    { name: 'node', look: lookAtNode },
    { name: 'glibc', look: lookAtGlibc },
    { name: 'memory', look: () => lookAtMemory(recipientCount) },
    { name: 'open files', look: lookAtFileLimit },
    { name: 'address space', look: lookAtAddressSpace },
    { name: 'overcommit', look: lookAtOvercommit },
    { name: 'map count', look: lookAtMapCount },
    { name: 'backlog', look: lookAtBacklog },
  ]
}

function lookAtNode(): Finding {
  const version = process.versions.node
  const fault = unsupportedRelease(version)
  return fault === undefined ? ok(`Node.js ${version}`) : failed(fault, 'install another Node.js')
}

function lookAtGlibc(): Finding {
  if (process.platform !== 'linux') return ok(`not needed on ${process.platform}`)
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  const version = report.header?.glibcVersionRuntime
  const needed = GLIBC_MIN.join('.')
  const advice = `run on a system with glibc ${needed} or later, such as Debian 12 or Ubuntu 22.04`
  if (version === undefined) return failed('there is no glibc (musl?)', advice)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isEnough = major > GLIBC_MIN[0] || (major === GLIBC_MIN[0] && minor >= GLIBC_MIN[1])
  return isEnough ? ok(`glibc ${version}`) : failed(`glibc ${version}`, advice)
}

function lookAtMemory(recipientCount: number): Finding {
  const neededBytes = IMPORT_BASE_BYTES + IMPORT_RECIPIENT_BYTES * recipientCount
  const availableBytes = availableMemory()
  if (availableBytes === undefined) return unknown()
  const found =
    `${formatBytes(availableBytes)} are available; an import of ${recipientCount} recipients takes ` +
    `about ${formatBytes(neededBytes)}`
  if (availableBytes >= neededBytes) return ok(found)
  return warning(
    found,
    'give the machine or the container more memory, see docs/operations/sizing.md',
  )
}

/** What the system could give, less than which a control group may allow. */
function availableMemory(): number | undefined {
  const kilobytes = /^MemAvailable: +(\d+) kB$/m.exec(contentOf('/proc/meminfo'))?.[1]
  if (kilobytes === undefined) return undefined
  const groupBytes = Number.parseInt(contentOf('/sys/fs/cgroup/memory.max'), 10)
  const usedBytes = Number.parseInt(contentOf('/sys/fs/cgroup/memory.current'), 10)
  const available = 1024 * Number(kilobytes)
  if (Number.isNaN(groupBytes) || Number.isNaN(usedBytes)) return available
  return Math.min(available, Math.max(0, groupBytes - usedBytes))
}

function lookAtFileLimit(): Finding {
  const limit = processLimit('Max open files')
  if (limit === undefined) return unknown()
  const needed = limits.connectionCount + OTHER_FILE_COUNT
  if (limit >= needed) return ok(`${limit === Infinity ? 'any number' : limit} may be open`)
  return warning(
    `${limit} may be open; an HTTP thread takes up to ${limits.connectionCount} connections`,
    `raise the limit to ${needed} or more for each HTTP thread (LimitNOFILE= of systemd)`,
  )
}

function lookAtAddressSpace(): Finding {
  const limit = processLimit('Max address space')
  if (limit === undefined) return unknown()
  if (limit === Infinity) return ok('not limited')
  return warning(
    `limited to ${formatBytes(limit)}; a service reserves 10 GiB for each 2 GiB of recipients`,
    'take the limit away (ulimit -v unlimited)',
  )
}

function lookAtOvercommit(): Finding {
  const mode = numberIn('/proc/sys/vm/overcommit_memory')
  if (mode === undefined) return unknown()
  if (mode !== 2) return ok(`vm.overcommit_memory is ${mode}`)
  return warning(
    'vm.overcommit_memory is 2, so that memory which is reserved and not used counts',
    'set vm.overcommit_memory to 0',
  )
}

function lookAtMapCount(): Finding {
  const count = numberIn('/proc/sys/vm/max_map_count')
  if (count === undefined) return unknown()
  const found = `vm.max_map_count is ${count}`
  if (count >= MAP_COUNT_MIN) return ok(found)
  return warning(found, `set it to ${MAP_COUNT_MIN} or more`)
}

function lookAtBacklog(): Finding {
  const count = numberIn('/proc/sys/net/core/somaxconn')
  if (count === undefined) return unknown()
  const found = `net.core.somaxconn is ${count}`
  if (count >= BACKLOG_MIN) return ok(found)
  return warning(
    `${found}: when many clients connect at once, the system refuses some of them`,
    `set it to ${BACKLOG_MIN} or more`,
  )
}

/** The hard limit, since Node.js raises the soft one to it. */
function processLimit(name: string): number | undefined {
  const line = new RegExp(`^${name} +\\S+ +(\\S+)`, 'm').exec(contentOf('/proc/self/limits'))
  if (line === null) return undefined
  return line[1] === 'unlimited' ? Infinity : Number(line[1])
}

function numberIn(path: string): number | undefined {
  const value = Number.parseInt(contentOf(path), 10)
  return Number.isNaN(value) ? undefined : value
}

/** Empty where there is no such file. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function unknown(): Finding {
  return ok('the system does not tell')
}
