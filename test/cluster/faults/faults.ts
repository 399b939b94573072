/**
 * What may happen to a site, and how it ends.
 *
 * @module
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../support/random/world.js'
import type { Part, Site } from './site.js'

export interface Fault {
  readonly name: string
  /** In how many sites at once. */
  readonly siteCount: number
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

const one = (name: string, begin: Parameters<typeof ofEach>[0], siteCount = 1): Fault => ({
  name,
  siteCount,
  begin: ofEach(begin),
})

const killed = (parts: readonly Part[]) => async (site: Site) => {
  for (const part of parts) await site.kill(part)
  return async () => {
    if (parts.includes('nats')) site.startNats()
    if (parts.includes('service')) site.startService()
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

/** @param isIt  of paths below the data directory */
const flipped = (isIt: (path: string) => boolean) => async (site: Site, random: Random) => {
  await site.kill('service')
  const found = site.files().filter(isIt)
  if (found.length === 0) throw new Error('there is no such file')
  flipBit(join(site.data, random.pick(found)), random)
  site.startService()
  return async () => {}
}

export const faults: readonly Fault[] = [
  one('service killed', killed(['service'])),
  one('nats killed', killed(['nats'])),
  one('site killed', killed(['service', 'nats'])),
  one('service stopped', stopped('service')),
  one('nats stopped', stopped('nats')),
  one('cut off, both ways', cut('both')),
  one('cut off, nothing in', cut('in')),
  one('cut off, nothing out', cut('out')),
  one('network slow', async (site) => {
    site.network.slow()
    return async () => site.network.heal()
  }),
  one('disk full', async (site) => {
    site.fillDisk()
    return async () => site.freeDisk()
  }),
  one('directory wiped, service killed', async (site) => {
    await site.kill('service')
    site.wipe()
    site.startService()
    return async () => {}
  }),
  one('directory wiped under the service', async (site) => {
    site.wipe()
    return async () => {}
  }),
  one(
    'bit of the journal flipped',
    flipped((path) => /^journal\/.*\.journal$/.test(path)),
  ),
  one(
    'bit of the store flipped',
    flipped((path) => /^store\/data/.test(path)),
  ),
  one(
    'bit of a snapshot flipped',
    flipped((path) => path.startsWith('snapshots/')),
  ),
  one(
    'bit of the state flipped',
    flipped((path) => path === 'cluster/state.json'),
  ),
  one('two services killed', killed(['service']), 2),
  one('two sites killed', killed(['service', 'nats']), 2),
  one('two cut off', cut('both'), 2),
]

/** Of a byte that is not zero where there is one: most of a file may mean nothing. */
function flipBit(path: string, random: Random): void {
  const bytes = readFileSync(path)
  let at = random.between(0, bytes.length - 1)
  for (let attempt = 0; bytes[at] === 0 && attempt < 100_000; attempt++) {
    at = random.between(0, bytes.length - 1)
  }
  const file = openSync(path, 'r+')
  try {
    writeSync(file, Uint8Array.of(bytes[at] ^ (1 << random.between(0, 7))), 0, 1, at)
  } finally {
    closeSync(file)
  }
}
