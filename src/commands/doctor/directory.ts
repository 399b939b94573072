/**
 * The checks of `hickory doctor` that look at a data directory. They change nothing.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { access, constants, readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { verifyAudiences } from '../../audiences/directory.js'
import { clusterDirectory } from '../../cluster/directory.js'
import { hasAreas } from '../../gazetteer/directory.js'
import { verifyAreas } from '../../gazetteer/verify.js'
import { JournalDamaged } from '../../journal/damaged.js'
import { journalDirectory } from '../../journal/files.js'
import { isClusterJournal } from '../../journal/reader.js'
import { verifyJournal } from '../../journal/verify.js'
import { startCandidates } from '../../serve/fall-back.js'
import { generationOf, listSnapshots, snapshotsDirectory } from '../../snapshot/directory.js'
import { filesOf, type Manifest, readManifest } from '../../snapshot/format/manifest.js'
import { identitiesFiles } from '../../snapshot/identities/list.js'
import { lookOver } from '../../snapshot/load/look-over.js'
import { verifySnapshot } from '../../snapshot/load/verify.js'
import { stateOf } from '../../snapshot/open-file.js'
import { audiencesDirectory } from '../../snapshot/retention/audience-names.js'
import { recipientCountOf } from '../../snapshot/snapshot.js'
import { checkStore } from '../../store/check.js'
import { DATA_FILE, storeDirectory } from '../../store/tables.js'
import { formatBytes } from '../quantities.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'
import { lookAtCluster, lookAtNats } from './cluster.js'

/** How far a clock may be behind the one that wrote a file. */
const CLOCK_MS = 300_000
/** Room for what an import writes beside recipients, and for the store to grow. */
const SPARE_BYTES = 64e6
/** File systems over a network, by their numbers in statfs(2): NFS, SMB, SMB2, AFS, Ceph. */
const REMOTE_TYPES = [0x6969, 0x517b, 0xfe534d42, 0x5346414f, 0x00c36400]

export function directoryChecks(dataDirectory: string, isFull: boolean): Check[] {
  const snapshots = snapshotStates(dataDirectory, isFull)
  return [
    { name: 'directory', look: () => lookAtDirectory(dataDirectory) },
    { name: 'permissions', look: () => lookAtPermissions(dataDirectory) },
    { name: 'file system', look: () => lookAtFileSystem(dataDirectory) },
    { name: 'clock', look: () => lookAtClock(dataDirectory) },
    { name: 'free space', look: () => lookAtSpace(dataDirectory) },
    { name: 'store', look: () => lookAtStore(dataDirectory) },
    { name: 'journal', look: () => lookAtJournal(dataDirectory) },
    { name: 'cluster', look: () => lookAtCluster(dataDirectory) },
    ...(existsSync(clusterDirectory(dataDirectory))
      ? [{ name: 'nats', look: () => lookAtNats(dataDirectory) }]
      : []),
    { name: 'snapshots', look: async () => lookAtSnapshots(dataDirectory, await snapshots()) },
    { name: 'areas', look: () => lookAtAreas(dataDirectory) },
    { name: 'audiences', look: () => lookAtAudiences(dataDirectory) },
    { name: 'start', look: async () => lookAtStart(dataDirectory, await snapshots()) },
  ]
}

async function lookAtDirectory(dataDirectory: string): Promise<Finding> {
  const { R_OK, W_OK, X_OK } = constants
  await access(dataDirectory, R_OK | W_OK | X_OK)
  return ok(dataDirectory)
}

/** What others may read, and what belongs to somebody else. */
async function lookAtPermissions(dataDirectory: string): Promise<Finding> {
  const uid = process.getuid?.()
  const paths = [dataDirectory, storeDirectory(dataDirectory), snapshotsDirectory(dataDirectory)]
  paths.push(audiencesDirectory(dataDirectory))
  paths.push(journalDirectory(dataDirectory), clusterDirectory(dataDirectory))
  const settings = (await readdir(dataDirectory)).filter((name) => name.endsWith('.json'))
  paths.push(join(dataDirectory, 'CURRENT'), join(storeDirectory(dataDirectory), DATA_FILE))
  paths.push(...settings.map((name) => join(dataDirectory, name)))
  const there = paths.filter((path) => existsSync(path))
  const foreign = there.find((path) => uid !== undefined && statSync(path).uid !== uid)
  if (foreign !== undefined) {
    return warning(
      `${foreign} belongs to user ${statSync(foreign).uid}, and this is user ${uid}`,
      'run all commands and the service as one user, or give the directory to it (chown -R)',
    )
  }
  const open = there.find((path) => (statSync(path).mode & 0o077) !== 0)
  if (open === undefined) return ok('for this user alone')
  const mode = (statSync(open).mode & 0o777).toString(8)
  return warning(`other users may reach ${open} (mode ${mode})`, `chmod go= ${open}`)
}

async function lookAtFileSystem(dataDirectory: string): Promise<Finding> {
  const { type } = await statfs(dataDirectory)
  if (!REMOTE_TYPES.includes(type)) return ok('local')
  return failed(
    'the directory is on a file system over a network, where the store does not work',
    'move it to a local disk',
  )
}

async function lookAtClock(dataDirectory: string): Promise<Finding> {
  const nowMs = Date.now()
  for (const id of (await listSnapshots(dataDirectory)).reverse()) {
    const written = (await stat(join(snapshotsDirectory(dataDirectory), id))).mtimeMs
    const manifest = await readManifest(dataDirectory, id).catch(() => undefined)
    const latestMs = Math.max(written, Date.parse(manifest?.createdAt ?? '') || 0)
    if (latestMs <= nowMs + CLOCK_MS) continue
    return warning(
      `${id} is of ${new Date(latestMs).toISOString()}, and it is ${new Date(nowMs).toISOString()}`,
      'set the clock (timedatectl, NTP); ages are wrong until then',
    )
  }
  return ok(new Date(nowMs).toISOString())
}

async function lookAtSpace(dataDirectory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(dataDirectory)
  const neededBytes = (await largestBytes(dataDirectory)) + SPARE_BYTES
  const found = `${formatBytes(bavail * bsize)} are free; the next import may take ${formatBytes(neededBytes)}`
  if (bavail * bsize >= neededBytes) return ok(found)
  return failed(found, 'make room on the disk: the next import fails, and changes to the store may')
}

async function largestBytes(dataDirectory: string): Promise<number> {
  let largest = 0
  for (const manifest of await readManifests(dataDirectory)) {
    const identities = await identitiesFiles(dataDirectory, manifest.id)
    const files = [...filesOf(manifest), ...identities]
    largest = Math.max(
      largest,
      files.reduce((sum, { byteLength }) => sum + byteLength, 0),
    )
  }
  return largest
}

/** Recipients of the largest snapshot that is there. */
export async function largestRecipientCount(dataDirectory: string): Promise<number> {
  const manifests = await readManifests(dataDirectory).catch(() => [])
  return Math.max(0, ...manifests.map(({ sources }) => recipientCountOf(sources)))
}

/** Those that can be read. */
async function readManifests(dataDirectory: string): Promise<Manifest[]> {
  const manifests: Manifest[] = []
  for (const id of await listSnapshots(dataDirectory)) {
    const manifest = await readManifest(dataDirectory, id).catch(() => undefined)
    if (manifest !== undefined) manifests.push(manifest)
  }
  return manifests
}

async function lookAtStore(dataDirectory: string): Promise<Finding> {
  const directory = storeDirectory(dataDirectory)
  if (!existsSync(join(directory, DATA_FILE))) return ok('none yet: the first start makes one')
  await checkStore(directory)
  return ok(`opens, ${formatBytes(statSync(join(directory, DATA_FILE)).size)}`)
}

/** What to do about damage: in a cluster, others have what is damaged here. */
function wayOn(dataDirectory: string, alone: string): string {
  if (!isClusterJournal(journalDirectory(dataDirectory))) return alone
  return 'start the service while another machine of the cluster runs: it fetches what is damaged'
}

/** All of it: a service that starts reads it, too. */
async function lookAtJournal(dataDirectory: string): Promise<Finding> {
  const directory = journalDirectory(dataDirectory)
  try {
    const { batchCount, firstSequence, last, behindBytes } = await verifyJournal(directory)
    if (last.sequence === 0) return ok('none yet: the first batch of changes makes one')
    const range =
      batchCount === 0
        ? `intact, without batches since ${last.sequence}`
        : `intact, batches ${firstSequence} to ${last.sequence}`
    if (behindBytes === 0) return ok(range)
    return ok(`${range}, and ${behindBytes} bytes of a writer that is at work, or died`)
  } catch (fault) {
    if (fault instanceof JournalDamaged) {
      return failed(fault.found, wayOn(dataDirectory, fault.advice))
    }
    throw fault
  }
}

/** What is wrong with each snapshot, undefined for nothing; the oldest first. */
type States = ReadonlyMap<string, Fault | undefined>

interface Fault {
  readonly text: string
  readonly kind: 'newer' | 'damaged'
}

/** Looked at once, when it is first asked for. */
function snapshotStates(dataDirectory: string, isFull: boolean): () => Promise<States> {
  let states: Promise<States> | undefined
  const look = async (): Promise<States> => {
    const found = new Map<string, Fault | undefined>()
    for (const id of await listSnapshots(dataDirectory)) {
      found.set(id, await faultOf(dataDirectory, id, isFull))
    }
    return found
  }
  return () => {
    states ??= look()
    return states
  }
}

async function faultOf(
  dataDirectory: string,
  id: string,
  isFull: boolean,
): Promise<Fault | undefined> {
  if (isFull) {
    const { files, isNewer } = await verifySnapshot(dataDirectory, id)
    const damaged = files.find(({ fault }) => fault !== undefined)
    const kind = isNewer ? 'newer' : 'damaged'
    return damaged && { kind, text: `${damaged.file}: ${damaged.fault}` }
  }
  try {
    await lookOver(dataDirectory, id)
    return undefined
  } catch (fault) {
    return { kind: stateOf(fault), text: (fault as Error).message }
  }
}

function lookAtSnapshots(dataDirectory: string, states: States): Finding {
  if (states.size === 0)
    return warning('none', `import recipients: hickory import --data ${dataDirectory}`)
  const damaged = [...states].filter(([, fault]) => fault !== undefined)
  const [first] = damaged
  if (first === undefined) return ok(`${states.size}, intact: ${[...states.keys()].join(', ')}`)
  const [id, fault] = first
  const { kind, text } = fault as Fault
  const others = damaged.length > 1 ? `, and ${damaged.length - 1} more` : ''
  const more = `\`hickory verify --all --data ${dataDirectory}\` tells more`
  const advice = wayOn(dataDirectory, 'import again, or restore a backup')
  const again = kind === 'newer' ? '' : `; ${advice}`
  return warning(`${id} is ${kind} (${text})${others}`, more + again)
}

async function lookAtAreas(dataDirectory: string): Promise<Finding> {
  if (!hasAreas(dataDirectory)) return ok('none yet: the first start makes the default ones')
  const [state] = await verifyAreas(dataDirectory, 'current')
  if (state?.fault !== undefined) {
    return failed(
      `${state.version} is damaged (${state.fault})`,
      'import the layers again, or restore a backup',
    )
  }
  const layers = state?.manifest?.layers ?? []
  return ok(`${state?.version}, intact: ${layers.map(({ layer }) => layer).join(', ')}`)
}

/** They hold snapshots, which take room that no setting tells of. */
async function lookAtAudiences(dataDirectory: string): Promise<Finding> {
  const found = await verifyAudiences(dataDirectory, Date.now())
  const states = found.filter(({ isExpired }) => !isExpired)
  if (states.length === 0) return ok('none')
  const damaged = states.find(({ fault }) => fault !== undefined)
  if (damaged !== undefined) {
    const advice = 'delete it (DELETE /api/audiences/ID), and make it again'
    return warning(`${damaged.id} is damaged (${damaged.fault})`, advice)
  }
  const held = [...new Set(states.map(({ snapshotId }) => snapshotId))].sort()
  return ok(`${states.length}, intact, and hold ${held.join(', ')}`)
}

const GO_BACK = 'install that version again, or go back with `hickory rollback`'

async function lookAtStart(dataDirectory: string, states: States): Promise<Finding> {
  const { ids, refused } = await startCandidates(dataDirectory)
  const again = wayOn(dataDirectory, 'import the sources again, or restore a backup')
  if (ids.length === 0 && refused === undefined) {
    return warning('would fail: there is nothing to serve', 'import recipients first')
  }
  const chosen = ids.find((id) => states.get(id) === undefined)
  if (chosen === undefined) return failed('would fail: no snapshot is intact', again)
  const first = states.get(ids[0])
  if (refused === undefined && first?.kind === 'newer') {
    return failed(`would fail: ${ids[0]} is of a later version of Hickory`, GO_BACK)
  }
  const reason = refused?.reason ?? first?.text
  if (reason !== undefined) {
    return failed(`would fall back to ${chosen}, an older snapshot: ${reason}`, again)
  }
  const newer = [...states.keys()].filter((id) => generationOf(id) > generationOf(chosen))
  const note = newer.length > 0 ? ` (rolled back from ${newer.join(', ')})` : ''
  return ok(`would serve ${chosen}${note}`)
}
