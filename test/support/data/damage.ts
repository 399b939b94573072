/**
 * Snapshots that are damaged on disk in every way a disk, a copy or a hand damages files.
 *
 * @module
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openOrFallBack } from '../../../src/serve/fall-back.js'
import { createArenaPool } from '../../../src/shard/arena-pool.js'
import { readCurrent } from '../../../src/snapshot/directory.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { type Random, seededRandom } from '../random/world.js'
import { manyColumns } from './columns.js'
import { publishTest, silentLog } from './snapshots.js'

/** A data directory of format version 1: two sources of two shards each, and the CSV they are of. */
export const VERSION_1 = fileURLToPath(
  new URL('../../../../test/snapshot/fixtures/version-1/', import.meta.url),
)

/** Puts a data directory of format version 1 into an empty directory. */
export function copyVersion1(data: string): void {
  for (const name of ['CURRENT', 'snapshots']) {
    cpSync(join(VERSION_1, name), join(data, name), { recursive: true })
  }
}

/**
 * Fills an empty directory: an older snapshot of version 1, and a current one that has carried over
 * its files beside newer ones, of sources whose phones repeat.
 */
export async function prepareSubject(data: string): Promise<void> {
  copyVersion1(data)
  await publishTest(data, 3, manyColumns(200))
  await publishTest(data, 4, manyColumns(150, 100))
}

/** What was tried, and what was not noticed. */
export interface DamageTally {
  readonly kinds: Readonly<Record<string, number>>
  readonly missed: readonly string[]
}

/** Damages one file of the current snapshot after the other, and mends it again. */
export async function damageMany(
  data: string,
  seed: number,
  damageCount: number,
): Promise<DamageTally> {
  const random = seededRandom(seed)
  const id = (await readCurrent(data)) ?? ''
  const files = filesOfSnapshot(data, id)
  const arenas = createArenaPool(1)
  const kinds: Record<string, number> = {}
  const missed: string[] = []
  for (let count = 0; count < damageCount; count++) {
    const file = random.pick(files)
    const kind = random.pick(damageKinds)
    const bytes = kind.damage(file.bytes, random, files)
    if (bytes.equals(file.bytes)) continue
    kinds[kind.name] = (kinds[kind.name] ?? 0) + 1
    // Another inode, as files are hard links that older snapshots have, too.
    rmSync(file.path)
    writeFileSync(file.path, bytes)
    const isChecked = count % FALL_BACK_EVERY === 0
    const fault =
      (await openFault(data, arenas)) ?? (isChecked ? await fallBackFault(data) : undefined)
    if (fault !== undefined) missed.push(`${kind.name} of ${file.path}, number ${count}: ${fault}`)
    rmSync(file.path)
    writeFileSync(file.path, file.bytes)
  }
  return { kinds, missed }
}

const NEWER = 'NewerFormat'

/** One in so many damages is followed by a start, too. */
const FALL_BACK_EVERY = 10

interface DamagedFile {
  readonly path: string
  readonly bytes: Buffer
}

function filesOfSnapshot(data: string, id: string): DamagedFile[] {
  const directory = join(data, 'snapshots', id)
  // A service answers nothing from origin and identities, and serves a snapshot without them.
  const names = readdirSync(directory).filter((name) => !/^origin|identities/.test(name))
  const paths = names.map((name) => join(directory, name))
  return [join(data, 'CURRENT'), ...paths].map((path) => ({ path, bytes: readFileSync(path) }))
}

type Damage = (bytes: Buffer, random: Random, files: readonly DamagedFile[]) => Buffer

const flipBit: Damage = (bytes, random) => {
  const damaged = Buffer.from(bytes)
  damaged[random.between(0, bytes.length - 1)] ^= 1 << random.between(0, 7)
  return damaged
}

const damageKinds: readonly { readonly name: string; readonly damage: Damage }[] = [
  // Three of four.
  ...Array.from({ length: 15 }, () => ({ name: 'a flipped bit', damage: flipBit })),
  {
    name: 'a truncation',
    damage: (bytes, random) => bytes.subarray(0, random.between(0, bytes.length - 1)),
  },
  {
    name: 'an extension',
    damage: (bytes, random) =>
      Buffer.concat([bytes, Buffer.alloc(random.between(1, 5000), random.between(0, 255))]),
  },
  { name: 'the bytes of another file', damage: (_, random, files) => random.pick(files).bytes },
  {
    name: 'two ranges swapped',
    damage(bytes, random) {
      const length = random.between(1, Math.max(1, bytes.length >> 2))
      const [first, second] = [0, 0].map(() => random.between(0, bytes.length - length))
      const damaged = Buffer.from(bytes)
      bytes.copy(damaged, first, second, second + length)
      bytes.copy(damaged, second, first, first + length)
      return damaged
    },
  },
  {
    name: 'a range of zeros',
    damage(bytes, random) {
      const start = random.between(0, bytes.length - 1)
      return Buffer.from(bytes).fill(
        0,
        start,
        Math.min(bytes.length, start + random.between(1, 4096)),
      )
    },
  },
]

/** Undefined where the damage is found, as it must be. */
async function openFault(
  data: string,
  arenas: ReturnType<typeof createArenaPool>,
): Promise<string | undefined> {
  try {
    await openSnapshot(data, { arenas })
    return 'it was opened'
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return FOUND.has(code) ? undefined : `${code}: ${message}`
  }
}

/** One bit makes of a manifest that of a later version, which is refused as such. */
const FOUND: ReadonlySet<string | undefined> = new Set(['SnapshotCorrupt', NEWER])

/** A start must say what it refused, and serve another snapshot, unless a later version wrote that one. */
async function fallBackFault(data: string): Promise<string | undefined> {
  const arenas = createArenaPool(1)
  const opened = await openOrFallBack(data, { arenas, log: silentLog }).catch((fault) => {
    if (fault.code !== NEWER) throw fault
  })
  if (opened === undefined) return undefined
  const { snapshot, refused } = opened
  if (refused === undefined) return 'nothing was said of it at a start'
  return snapshot.id === refused.snapshotId ? 'it was served' : undefined
}
