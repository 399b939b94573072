/**
 * Three sites under clients and faults: no answer is wrong, and nothing that was acknowledged is lost or doubled.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../support/random/world.js'
import { hickory, type Owner } from '../../support/service/hickory.js'
import { untilTold } from '../../support/service/until.js'
import { statusBy } from '../support/machines.js'
import { call, closeCalls, useKey } from './calls.js'
import { Clients, type Done, isReady } from './clients.js'
import {
  CHANGED_SOURCE,
  csvOf,
  importCsv,
  importedMarks,
  mark,
  OPTING_SOURCE,
  OTHER_SOURCE,
  polygonOf,
} from './crowd.js'
import { type Fault, faults } from './faults.js'
import { networksIfAllowed, sharedNetwork } from './network.js'
import { untilSameEnd, verify } from './oracle.js'
import { Site, type SiteOptions } from './site.js'
import { Witness } from './witness.js'

export interface RunOptions {
  readonly seed: number
  /** Acknowledged before it ends. */
  readonly changeCount: number
  /** Answered before it ends. */
  readonly queryCount: number
  readonly peopleCount: number
  /** The most changes of a batch; 100 by default, the least that one has. */
  readonly batchChangeCount?: number
  readonly holdMs: number
  /** Those whose names begin so; all of them in turn unless given. */
  readonly only?: readonly string[] | undefined
  /** Whether each hits one site that is drawn, instead of each in turn. */
  readonly isBrief?: boolean
  /** How often all of it is done; 1 unless given. */
  readonly roundCount?: number
  /** Whether each hits the machine whose server of NATS leads the log, and no other. */
  readonly hitsLeader?: boolean
  /** Where the output of all processes is to be. */
  readonly logDirectory?: string | undefined
  readonly say: (line: string) => void
}

export interface Episode {
  readonly fault: string
  readonly sites: string
  /** The longest that a client waited which began meanwhile. */
  readonly writeGapMs: number
  readonly readGapMs: number
  readonly waitingReadGapMs: number
  /** From the end of the fault until all machines are ready. */
  readonly readyMs: number
}

interface Outcome {
  readonly episodes: readonly Episode[]
  readonly batchCount: number
  readonly changeCount: number
  readonly answerCount: number
  readonly listCount: number
  readonly optOutCount: number
  readonly optOutLists: number
  readonly problems: readonly string[]
}

/** Directories of runs begin with it, and go on with the id of the process. */
const DISKS = 'hickory-sites-'
export const NAMES = ['a', 'b', 'c']
const UNCUT =
  'no networks can be made and cut off here, which needs root: only faults that need none are tried'
const READY_MS = 120_000
const LAG_SECONDS = '15'

export async function runFaults(owner: Owner, options: RunOptions): Promise<Outcome> {
  const { seed, peopleCount, changeCount, queryCount, batchChangeCount = 100, say } = options
  const random = seededRandom(seed)
  const own = networksIfAllowed(owner, NAMES)
  if (own === undefined) say(`note: ${UNCUT}`)
  const networks = own ?? (await sharedNetwork(NAMES))
  // Whose processes are gone by now.
  if (own !== undefined) removeDisksOfDead()
  const directory = mkdtempSync(join(tmpdir(), `${DISKS}${process.pid}-`))
  owner.teardown(() => rmSync(directory, { recursive: true, force: true }))
  owner.teardown(closeCalls)
  const csv = csvOf(random, CHANGED_SOURCE, peopleCount)
  const optingCount = 2_000
  const { logDirectory } = options
  const sites = await startSites(owner, { networks, directory, logDirectory }, async (data) => {
    await importCsv(data, CHANGED_SOURCE, csv)
    await importCsv(data, OPTING_SOURCE, csvOf(random, OPTING_SOURCE, optingCount))
    useKey(await makeKey(data))
  })
  say('three machines are ready')
  const clients = new Clients(sites, {
    seed,
    peopleCount: 2 * peopleCount,
    optingCount,
    changeCounts: [100, Math.max(100, batchChangeCount)],
  })
  clients.start({ writers: 3, readers: 6 })
  const episodes: Episode[] = []
  const witness = new Witness()
  const collect = () => witness.collect(sites.map(({ data }) => data))
  try {
    await sleep(2_000)
    const { only = [''], roundCount = 1 } = options
    const named = faults.filter(
      ({ name, needsOwn }) =>
        only.some((start) => name.startsWith(start)) && !(needsOwn && own === undefined),
    )
    const chosen = Array.from({ length: roundCount }, () => named).flat()
    for (const fault of chosen) {
      for (const hit of await placesOf(fault, sites, random, options)) {
        const episode = await runEpisode(fault, hit, { sites, clients, random, options })
        episodes.push(episode)
        collect()
        say(lineOf(episode))
        if (clients.problems.length > 0) break
      }
      if (clients.problems.length > 0) break
    }
    while (clients.changeCount < changeCount || clients.asked.length < queryCount) {
      if (clients.problems.length > 0) break
      clients.pauseWrites(clients.changeCount >= changeCount)
      await sleep(200)
    }
  } finally {
    await clients.stop()
  }
  const ends = await untilSameEnd(sites.map(({ data }) => data))
  const problems = [...clients.problems, ...(ends === undefined ? ['the journals differ'] : [])]
  collect()
  const verified = verify(clients, csv, witness)
  return {
    episodes,
    batchCount: verified.batchCount,
    changeCount: clients.changeCount,
    answerCount: verified.answerCount,
    listCount: verified.listCount,
    optOutCount: clients.optOutCount,
    optOutLists: clients.optOutLists,
    problems: [...problems, ...verified.problems],
  }
}

/**
 * Starts three sites.
 *
 * @param fill  puts recipients and keys into the directory that the cluster begins with
 */
export async function startSites(
  owner: Owner,
  {
    networks,
    directory,
    logDirectory,
  }: Pick<SiteOptions, 'networks' | 'directory' | 'logDirectory'>,
  fill: (data: string) => Promise<void>,
): Promise<readonly Site[]> {
  const sites = NAMES.map((letter, at) => {
    const place = {
      name: `site-${letter}`,
      network: networks[at],
      directory: join(directory, letter),
    }
    const flags = ['--max-lag', LAG_SECONDS, '--log-level', 'info']
    return new Site(owner, { ...place, networks, logDirectory, flags })
  })
  await fill(sites[0].data)
  for (const site of sites) site.start('nats')
  sites[0].start('service')
  await untilReady([sites[0]])
  for (const site of sites.slice(1)) site.start('service')
  await untilReady(sites)
  return sites
}

/** The sites that a fault hits at once: each in turn, or all but that one, or all. */
async function placesOf(
  { siteCount }: Fault,
  sites: readonly Site[],
  random: ReturnType<typeof seededRandom>,
  { isBrief = false, hitsLeader = false }: RunOptions,
): Promise<readonly (readonly Site[])[]> {
  if (siteCount === sites.length) return [sites]
  const chosen = hitsLeader ? [await leaderOf(sites)] : isBrief ? [random.pick(sites)] : sites
  return chosen.map((one) => (siteCount === 1 ? [one] : sites.filter((site) => site !== one)))
}

/** Whose server of NATS leads the log. */
async function leaderOf(sites: readonly Site[]): Promise<Site> {
  let leader: Site | undefined
  await untilTold(async () => {
    const { log } = await statusBy(['--data', sites[0].data])
    leader = sites.find(({ name }) => name === log?.server)
    return leader !== undefined
  })
  return leader as Site
}

interface Stage {
  readonly sites: readonly Site[]
  readonly clients: Clients
  readonly random: ReturnType<typeof seededRandom>
  readonly options: RunOptions
}

async function runEpisode(
  fault: Fault,
  hit: readonly Site[],
  { sites, clients, random, options }: Stage,
): Promise<Episode> {
  const beganMs = performance.now()
  const end = await fault.begin(hit, random)
  await sleep(options.holdMs)
  await end()
  const endedMs = performance.now()
  await untilReady(sites, (site) => restart(site, options.say))
  const readyMs = performance.now() - endedMs
  // The next one would be the second of those that a majority bears.
  await untilTold(async () => {
    for (const site of sites) restart(site, options.say)
    return (await Promise.all(sites.map(hasHealthyNats))).every(Boolean)
  })
  const kinds = [clients.writes, clients.reads, clients.waitingReads]
  const areAnswered = () => kinds.every((done) => (done.at(-1)?.beganMs ?? 0) > endedMs)
  await untilTold(async () => clients.problems.length > 0 || areAnswered())
  await untilTold(async () => (await Promise.all(sites.map(servesImported))).every(Boolean))
  // Requests that began before it was over.
  await sleep(1_000)
  return {
    fault: fault.name,
    sites: hit.map(({ name }) => name).join(', '),
    writeGapMs: longest(clients.writes, beganMs),
    readGapMs: longest(clients.reads, beganMs),
    waitingReadGapMs: longest(clients.waitingReads, beganMs),
    readyMs,
  }
}

/** Whether it serves what the last import has put there: that was acknowledged, and stays. */
async function servesImported({ url }: Site): Promise<boolean> {
  const box = { west: 0, south: 0, east: 200, north: 400 }
  const marks = importedMarks(OTHER_SOURCE, box)
  const body = { geoJSON: polygonOf(box), sources: [OTHER_SOURCE] }
  const answer = await call(`${url}/api/recipients`, { method: 'POST', body, waitMs: 5_000 })
  const rows: readonly { readonly Number: string }[] =
    answer?.json.SourceRecords?.[0]?.Recipients ?? []
  return rows.reduce((sum, { Number: phone }) => sum + mark(phone), 0) === marks
}

/** Whether its server of NATS has all that the streams have. */
async function hasHealthyNats({ network: { address, ports } }: Site): Promise<boolean> {
  const answer = await fetch(`http://${address}:${ports.monitor}/healthz`).catch(() => undefined)
  return answer?.status === 200
}

/** As a supervisor does with what has ended. */
function restart(site: Site, say: (line: string) => void): void {
  for (const death of site.deaths.splice(0)) say(death)
  for (const part of ['nats', 'service'] as const) if (!site.isRunning(part)) site.start(part)
}

function longest(done: readonly Done[], beganMs: number): number {
  let longestMs = 0
  for (let at = done.length - 1; at >= 0 && done[at].endedMs >= beganMs; at--) {
    longestMs = Math.max(longestMs, done[at].endedMs - Math.max(done[at].beganMs, beganMs))
  }
  return longestMs
}

/** What a run has left that was killed. */
function removeDisksOfDead(): void {
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    // A disk is mounted behind the one that its image is on.
    .reverse()
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(DISKS) ? name.slice(DISKS.length).split('-')[0] : undefined
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    const directory = join(tmpdir(), name)
    for (const path of mounted.filter((one) => one.startsWith(`${directory}/`))) {
      execFileSync('umount', ['--lazy', path])
    }
    rmSync(directory, { recursive: true, force: true })
  }
}

export async function makeKey(data: string): Promise<string> {
  const flags = ['--name', 'test', '--scopes', 'admin']
  const { stdout, stderr } = await hickory('keys', 'create', '--data', data, ...flags)
  const key = /hk_\w+/.exec(stdout)?.[0]
  if (key === undefined) throw new Error(stderr)
  return key
}

async function untilReady(
  sites: readonly Site[],
  onUnready: (site: Site) => void = () => {},
): Promise<void> {
  const untilMs = performance.now() + READY_MS
  for (;;) {
    const ready = await Promise.all(sites.map(isReady))
    const unready = sites.filter((_, at) => !ready[at])
    if (unready.length === 0) return
    for (const site of unready) onUnready(site)
    if (performance.now() > untilMs) {
      const logs = unready.map(({ name, log }) => `${name}:\n${log.service.slice(-3_000)}`)
      throw new Error(`not ready after ${READY_MS / 1_000} s: ${logs.join('\n')}`)
    }
    await sleep(100)
  }
}

export function lineOf(episode: Episode): string {
  const { fault, sites, writeGapMs, readGapMs, waitingReadGapMs, readyMs } = episode

  const ms = (value: number) => String(Math.round(value)).padStart(6)
  const waits = [
    `writes ${ms(writeGapMs)} ms`,
    `reads ${ms(readGapMs)} ms`,
    `of the last write ${ms(waitingReadGapMs)} ms`,
    `ready ${ms(readyMs)} ms`,
  ]
  return `${fault.padEnd(36)} ${sites.padEnd(16)} ${waits.join('  ')}`
}
