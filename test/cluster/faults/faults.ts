/**
 * What may happen to a site, and how it ends.
 *
 * @module
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../support/random/world.js'
import { csvOf, importCsv, OTHER_SOURCE, untilDone } from './crowd.js'
import { flipBit } from './flip-bit.js'
import type { Part, Site } from './site.js'

export interface Fault {
  readonly name: string
  /** In how many sites at once. */
  readonly siteCount: number
  /** Whether sites must have networks and disks of their own. */
  readonly needsOwn: boolean
  /** Begins it; returns what ends it. */
  begin(sites: readonly Site[], random: Random): Promise<() => Promise<void>>
}

const ofEach =
  (begin: (site: Site, random: Random) => Promise<() => Promise<void>>) =>
  async (sites: readonly Site[], random: Random) => {
    const ends: (() => Promise<void>)[] = []
    for (const site of sites) ends.push(await begin(site, random))
    return async () => {
      for (const end of ends) await end()
    }
  }

const one = (
  name: string,
  begin: Parameters<typeof ofEach>[0],
  { siteCount = 1, needsOwn = false } = {},
): Fault => ({ name, siteCount, needsOwn, begin: ofEach(begin) })

const OWN = { needsOwn: true }

const killed = (parts: readonly Part[]) => async (site: Site) => {
  for (const part of parts) await site.kill(part)
  return async () => {
    if (parts.includes('nats')) site.start('nats')
    if (parts.includes('service')) site.start('service')
  }
}

const stopped = (part: Part) => async (site: Site) => {
  site.signal(part, 'SIGSTOP')
  return async () => site.signal(part, 'SIGCONT')
}

const cut = (what: Parameters<Site['network']['cut']>[0]) => async (site: Site) => {
  site.network.cut(what)
  return async () => site.network.heal()
}

const wiped = (part: Part) => async (site: Site) => {
  await site.kill(part)
  site.wipe(part)
  site.start(part)
  return async () => {}
}

/** @param isIt  of paths below the directory of that part */
const flipped =
  (part: Part, isIt: (path: string) => boolean) => async (site: Site, random: Random) => {
    await site.kill(part)
    const found = site.files(part).filter(isIt)
    if (found.length === 0) throw new Error('there is no such file')
    flipBit(join(site.directoryOf(part), random.pick(found)), random)
    site.start(part)
    return async () => {}
  }

/**
 * The power of all sites, at once.
 *
 * @param before  what has just been done in one of them
 */
const powerLost =
  (before: (site: Site, random: Random) => Promise<void> = async () => {}) =>
  async (sites: readonly Site[], random: Random) => {
    await before(random.pick(sites), random)
    const all = sites.flatMap((site) => PARTS.map((part) => ({ site, part })))
    // Processes have no power either: none says that something is done when its disk takes nothing any more.
    for (const { site, part } of all) site.signal(part, 'SIGSTOP')
    for (const site of sites) site.cutPower()
    for (const { site, part } of all) await site.kill(part)
    return async () => {
      for (const site of sites) site.mountDisk()
      for (const { site, part } of all) site.start(part)
    }
  }

const PARTS: readonly Part[] = ['nats', 'service']
const ALL = { siteCount: 3, needsOwn: true }
/** For so long after an import or a compaction its files may not be on disk, if nothing has synced them. */
const UNSYNCED_MS = 30_000
/** Before the power goes, and after it is back. */
const FULL_MS = 2_000

const soonAfter =
  (work: (site: Site, random: Random) => Promise<void>) => async (site: Site, random: Random) => {
    await work(site, random)
    // Mostly soon.
    await sleep(random.unit() ** 3 * UNSYNCED_MS)
  }

/** A server of NATS whose disk was full leaves its streams until it is started again. */
async function makeRoom(site: Site): Promise<void> {
  site.freeDisk()
  await site.kill('nats')
  site.start('nats')
}

/** All that the servers of NATS have: the log is made anew from what the machines have. */
const storesWiped = async (sites: readonly Site[]) => {
  for (const site of sites) {
    await site.kill('nats')
    site.wipe('nats')
  }
  for (const site of sites) site.start('nats')
  return async () => {
    // Machines must have heard of each other again.
    await untilDone('cluster', 'seed-log', '--data', sites[0].data)
  }
}

export const faults: readonly Fault[] = [
  one('service killed', killed(['service'])),
  one('nats killed', killed(['nats'])),
  one('site killed', killed(['service', 'nats'])),
  one('service stopped', stopped('service')),
  one('nats stopped', stopped('nats')),
  one('cut off, both ways', cut('both'), OWN),
  one('cut off, nothing in', cut('in'), OWN),
  one('cut off, nothing out', cut('out'), OWN),
  one(
    'network slow',
    async (site) => {
      site.network.slow()
      return async () => site.network.heal()
    },
    OWN,
  ),
  one(
    'disk full',
    async (site) => {
      site.fillDisk()
      return async () => await makeRoom(site)
    },
    OWN,
  ),
  one('directory wiped, service killed', wiped('service')),
  one('directory wiped under the service', async (site) => {
    site.wipe('service')
    return async () => {}
  }),
  one('directory of NATS wiped', wiped('nats')),
  one(
    'bit of the journal flipped',
    flipped('service', (path) => /^journal\/.*\.journal$/.test(path)),
  ),
  one(
    'bit of the store flipped',
    flipped('service', (path) => /^store\/data/.test(path)),
  ),
  one(
    'bit of a snapshot flipped',
    flipped('service', (path) => path.startsWith('snapshots/')),
  ),
  one(
    'bit of the state flipped',
    flipped('service', (path) => path === 'cluster/state.json'),
  ),
  one('bit of NATS flipped', async (site, random) => {
    await flipped('nats', () => true)(site, random)
    // As an operator does with a server that lacks messages.
    return async () => void (await wiped('nats')(site))
  }),
  one('two services killed', killed(['service']), { siteCount: 2 }),
  one('two sites killed', killed(['service', 'nats']), { siteCount: 2 }),
  one('two cut off', cut('both'), { siteCount: 2, needsOwn: true }),
  { name: 'power of all lost', ...ALL, begin: powerLost() },
  {
    name: 'power of all lost after an import',
    ...ALL,
    begin: powerLost(
      soonAfter(async ({ data }, random) => {
        await importCsv(data, OTHER_SOURCE, csvOf(random, OTHER_SOURCE, 2_000))
      }),
    ),
  },
  {
    name: 'power of all lost after a compaction',
    ...ALL,
    begin: powerLost(soonAfter(async ({ data }) => await untilDone('compact', '--data', data))),
  },
  {
    name: 'power of all lost, a disk full',
    ...ALL,
    async begin(sites, random) {
      const full = random.pick(sites)
      full.fillDisk()
      await sleep(FULL_MS)
      const end = await powerLost()(sites, random)
      return async () => {
        await end()
        await sleep(FULL_MS)
        await makeRoom(full)
      }
    },
  },
  { name: 'stores of NATS wiped, log seeded', ...ALL, needsOwn: false, begin: storesWiped },
]
