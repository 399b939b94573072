/**
 * What may happen to a site, and how it ends.
 *
 * @module
 */
import { join } from 'node:path'
import type { Random } from '../../support/random/world.js'
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
      return async () => site.freeDisk()
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
  one(
    'bit of NATS flipped',
    flipped('nats', () => true),
  ),
  one('two services killed', killed(['service']), { siteCount: 2 }),
  one('two sites killed', killed(['service', 'nats']), { siteCount: 2 }),
  one('two cut off', cut('both'), { siteCount: 2, needsOwn: true }),
]
