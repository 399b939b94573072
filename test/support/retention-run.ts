/**
 * A data directory through imports, rollbacks, pins and kills, beside a plain record of what was
 * published: what is current must have passed its guards or have been forced, and one rollback must bring
 * back what was good last.
 *
 * @module
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/limits.js'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { SnapshotSource } from '../../src/snapshot/snapshot.js'
import { ageLock } from '../faults/content.js'
import type { Random } from './random/world.js'
import { Publications, type Put, phoneOf } from './retention-record.js'
import { hickoryHere } from './service/command-line.js'
import { startHickory } from './service/hickory.js'

export const actions = [
  'good',
  'good',
  'good',
  'shrunken',
  'bad',
  'empty',
  'emptied',
  'forced',
  'forced',
  'repeated',
  'rollback',
  'rollback to any',
  'rollback to good',
  'pin',
  'unpin',
  'accept',
  'remove',
] as const

export type Action = (typeof actions)[number] | 'killed' | 'suppress'

const SOURCE_IDS = [1, 2, 3]
const FORCING = ['--max-rejected', '100%', '--max-shrink', '100%']

/** One directory, in which one thing happens after the other. */
export class RetentionRun {
  readonly #data: string
  readonly #random: Random
  readonly #record = new Publications()
  readonly #pinned = new Set<string>()
  readonly #versions = new Map<number, number>()

  /** @param directory  empty */
  constructor(directory: string, random: Random) {
    this.#data = join(directory, 'data')
    this.#random = random
    mkdirSync(this.#data)
  }

  /** Does something, and throws if what is there afterwards is not what must be. */
  async act(action: Action): Promise<void> {
    if (action === 'killed') await this.#kill()
    else if (action === 'suppress') await this.#suppress()
    else if (action === 'pin' || action === 'unpin') await this.#pin(action)
    else if (action.startsWith('rollback')) await this.#rollback(action)
    else if (action === 'accept') await this.#accept()
    else if (action === 'remove') await this.#remove()
    else await this.#import(this.#putFor(action))
    await this.#check(action)
  }

  /** On a copy: whether one command brings back what was good last. */
  async rollBack(directory: string): Promise<void> {
    const lastGood = this.#record.lastGood(this.#ids())
    if (lastGood === undefined) return
    const data = join(directory, 'copy')
    cpSync(this.#data, data, { recursive: true })
    ageLock(data)
    const { code, stderr } = await hickoryHere('rollback', '--good', '--data', data)
    must(code === 0, `rollback --good ended with ${code}: ${stderr}`)
    must(currentOf(data) === lastGood, `it went to ${currentOf(data)} and not to ${lastGood}`)
    await loadCurrent(data)
    rmSync(data, { recursive: true })
  }

  async #import(put: Put): Promise<void> {
    const expected = this.#record.expect(put)
    const { code, stderr } = await hickoryHere(...this.#argsOf(put))
    must(code === expected.code, `${JSON.stringify(put)} ended with ${code}: ${stderr}`)
    if (expected.next !== undefined) this.#record.publish(currentOf(this.#data), expected.next)
  }

  #argsOf(put: Put): string[] {
    const { sourceId, goodCount, badCount, flags } = put
    const file = join(this.#data, 'rows.csv')
    const version = put.version / 1_000
    const rows = Array.from({ length: goodCount + badCount }, (_, at) => {
      const lat = at < goodCount ? 1 + version : 91
      return `${phoneOf(sourceId, at)},${lat},2\n`
    })
    writeFileSync(file, `number,lat,lng\n${rows.join('')}`)
    const source = ['--source', `${sourceId}`, '--label', `Source ${sourceId}`]
    return ['import', '--data', this.#data, ...source, ...flags, file]
  }

  #putFor(action: Action): Put {
    const random = this.#random
    const sourceId = random.pick(SOURCE_IDS)
    const held = this.#record.current?.counts.get(sourceId)
    const count = held?.recipientCount || 100
    const version = (this.#versions.get(sourceId) ?? 0) + 1
    this.#versions.set(sourceId, version)
    const keep = random.between(0, 3)
    const keeps = keep === 0 ? [] : ['--keep', `${Math.max(limits.snapshotCountMin, keep)}`]
    const put = { sourceId, version, goodCount: count, badCount: 0, flags: keeps }
    const part = Math.floor((count * random.between(1, 85)) / 100)
    switch (action) {
      case 'shrunken':
        return { ...put, goodCount: part }
      case 'bad':
        return { ...put, badCount: random.between(1, 100) }
      case 'empty':
        return { ...put, goodCount: 0 }
      case 'emptied':
        return { ...put, goodCount: 0, flags: ['--allow-empty', ...keeps] }
      case 'forced': {
        const badCount = random.pick([0, 0, 50])
        const goodCount = random.pick([1, part, count, 1 + random.between(0, 300)]) || 1
        return { ...put, goodCount, badCount, flags: [...FORCING, ...keeps] }
      }
      case 'repeated':
        return { ...put, version: held?.version ?? version }
      default:
        return { ...put, goodCount: Math.ceil((count * random.between(88, 108)) / 100) }
    }
  }

  async #kill(): Promise<void> {
    const put = this.#putFor(this.#random.pick(['good', 'forced', 'emptied']))
    const { next } = this.#record.expect(put)
    const before = currentOf(this.#data)
    const { child, finished } = startHickory(...this.#argsOf(put))
    try {
      await Promise.race([finished, this.#killTime()])
    } finally {
      child.kill('SIGKILL')
      await finished
    }
    ageLock(this.#data)
    const isFirst = before === undefined && currentOf(this.#data) === undefined
    // The first one was complete, and had no name in CURRENT yet.
    if (isFirst && namesIn(this.#data).length > 0) {
      const again = this.#argsOf(put)
      const args = this.#random.pick([['rollback', '--data', this.#data], again])
      const { code, stderr } = await hickoryHere(...args)
      must(code === 0, `${args[0]} after a kill ended with ${code}: ${stderr}`)
    }
    const after = currentOf(this.#data)
    if (after !== before && after !== undefined) {
      must(next !== undefined, `${JSON.stringify(put)} was published`)
      if (next !== undefined) this.#record.publish(after, next)
    }
  }

  /** At any time, or as it writes. */
  async #killTime(): Promise<void> {
    const share = this.#random.unit()
    if (this.#random.between(0, 2) === 0) {
      await sleep(share * 1_000)
      return
    }
    while (!namesBelow(this.#data).some((name) => /[0-9]\.tmp$/.test(name))) await sleep(2)
    await sleep(share * 40)
  }

  async #rollback(action: Action): Promise<void> {
    const ids = this.#ids()
    const { lineage } = this.#record
    const lastGood = this.#record.lastGood(ids)
    const older = lineage.slice(1).find((id) => ids.includes(id))
    const any = ids.length === 0 ? '000001-00000000' : this.#random.pick(ids)
    const targets = { rollback: older, 'rollback to any': ids.length === 0 ? undefined : any }
    const target = action === 'rollback to good' ? lastGood : targets[action as 'rollback']
    const args = { rollback: [], 'rollback to any': [any] }[action as 'rollback'] ?? ['--good']
    const { code, stderr } = await hickoryHere('rollback', '--data', this.#data, ...args)
    const expected = ids.length === 0 ? 3 : target === undefined ? 2 : 0
    must(code === expected, `${action} ended with ${code}: ${stderr}`)
    if (target !== undefined && code === 0) this.#record.goTo(target)
  }

  async #pin(action: 'pin' | 'unpin'): Promise<void> {
    const ids = this.#ids()
    if (ids.length === 0) return
    const id = this.#random.pick(ids)
    const { code, stderr } = await hickoryHere(action, '--data', this.#data, id)
    const expected = action === 'pin' || this.#pinned.has(id) ? 0 : 2
    must(code === expected, `${action} ended with ${code}: ${stderr}`)
    if (action === 'pin') this.#pinned.add(id)
    else this.#pinned.delete(id)
  }

  async #accept(): Promise<void> {
    const { code } = await hickoryHere('accept', '--data', this.#data)
    must(code === (this.#record.current === undefined ? 3 : 0), `accept ended with ${code}`)
    this.#record.accept()
  }

  async #remove(): Promise<void> {
    const sourceId = this.#random.pick(SOURCE_IDS)
    const next = this.#record.without(sourceId)
    const source = ['--source', `${sourceId}`]
    const { code, stderr } = await hickoryHere('remove', '--data', this.#data, ...source)
    const expected = this.#record.current === undefined ? 3 : next === undefined ? 2 : 0
    must(code === expected, `remove ended with ${code}: ${stderr}`)
    if (next !== undefined) this.#record.publish(currentOf(this.#data), next)
  }

  async #suppress(): Promise<void> {
    const file = join(this.#data, 'suppressed.txt')
    writeFileSync(file, `${phoneOf(1, this.#random.between(0, 99))}\n`)
    const { code, stderr } = await hickoryHere('suppress', '--data', this.#data, file)
    must(code === 0, `suppress ended with ${code}: ${stderr}`)
  }

  async #check(action: Action): Promise<void> {
    const id = currentOf(this.#data)
    const { current, currentId } = this.#record
    must(id === currentId, `after ${action}, ${id} is current and not ${currentId}`)
    if (id === undefined || current === undefined) return
    const sources = await loadCurrent(this.#data)
    const found = sources.map(({ id, recipientCount }) => [id, recipientCount])
    const known = [...current.counts].map(([id, { recipientCount }]) => [id, recipientCount])
    must(JSON.stringify(found) === JSON.stringify(known.sort()), `${action}: ${found} and ${known}`)
    const ids = this.#ids()
    const lastGood = this.#record.lastGood(ids)
    for (const kept of [id, lastGood, ...this.#pinned]) {
      must(kept === undefined || ids.includes(kept), `after ${action}, ${kept} is gone`)
    }
  }

  /** Of the snapshots that are there, without those that a kill left before they were current. */
  #ids(): string[] {
    return namesIn(this.#data).filter((name) => this.#record.has(name))
  }
}

/** None when a directory gets another name, or is removed, while they are read. */
function namesBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Snapshots that are there. */
function namesIn(data: string): string[] {
  const directory = join(data, 'snapshots')
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names.filter((name) => !name.endsWith('.tmp')).sort()
}

/** What is in the current snapshot, every byte of it verified. */
async function loadCurrent(data: string): Promise<readonly SnapshotSource[]> {
  const { sources, shards } = await openSnapshot(data, { arenas })
  arenas.giveBack(shards.flatMap(({ arena }) => (arena === null ? [] : { arena })))
  return sources
}

/** One for all: memory of its own for each load is most of what a load takes. */
const arenas = createArenaPool(1)

function currentOf(data: string): string | undefined {
  const path = join(data, 'CURRENT')
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}
