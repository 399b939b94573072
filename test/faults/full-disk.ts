/**
 * Disks that are really full, where a write takes a part of what it is given before one fails.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/service/until.js'
import type { Call } from './calls.js'
import { currentContent, leftovers } from './content.js'
import { assertClean } from './errors.js'
import { changesOf, importAgain } from './kill.js'
import { inPlace, type Place, placeFor, type Scenario } from './stage.js'
import { runDisturbed, runLimited } from './trace.js'

/** An import whose files may not become larger than this; returns what is wrong after it. */
export async function fillFiles(
  scenario: Scenario,
  blockCount: number,
): Promise<string | undefined> {
  return inPlace(scenario, `files of ${blockCount} blocks`, async (place) => {
    const end = await runLimited(place.import, blockCount)
    if (end.code === 0) throw new Error('no file was that large')
    await assertOld(scenario, place, end)
    await importAgain(scenario, place)
  })
}

/** A small disk in memory; undefined where there is no permission to make one. */
export function mountSmallDisk(directory: string): { remove: () => void } | undefined {
  mkdirSync(directory)
  const options = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=700`, 'tmpfs', directory]
  const { status } = spawnSync('mount', options)
  if (status !== 0) return undefined
  return {
    remove: () => {
      const { status: left } = spawnSync('umount', [directory])
      if (left !== 0) throw new Error(`${directory} cannot be unmounted`)
    },
  }
}

/**
 * An import during which somebody else fills the disk: it waits at one of its files until all but
 * `leftBytes` are taken. Returns what is wrong after it.
 */
export async function fillDisk(
  scenario: Scenario,
  disk: string,
  leftBytes: number,
): Promise<string | undefined> {
  const created = (await changesOf(scenario)).filter(isShardCreated)
  const call = created[created.length >> 1]
  const place = placeFor(scenario, join(disk, 'place'))
  try {
    const path = join(place.directory, call.path)
    const running = runDisturbed(place.import, { ...call, path, effect: 'delay_enter=2000000' })
    const snapshots = join(place.data, 'snapshots')
    const hasShard = (name: string) =>
      namesIn(join(snapshots, name)).some((file) => file.endsWith('.shard'))
    const given = new Set(namesIn(snapshots))
    // Behind the look at the free space, which comes before the first file.
    await until(() => namesIn(snapshots).some((name) => !given.has(name) && hasShard(name)))
    const filler = join(disk, 'filler')
    fillUp(filler, leftBytes)
    const end = await running
    if (end.code === 0) throw new Error('there was room enough')
    await assertOld(scenario, place, end)
    rmSync(filler)
    await importAgain(scenario, place)
    return undefined
  } catch (error) {
    return `${scenario.name}, ${leftBytes} bytes left: ${(error as Error).message}`
  } finally {
    rmSync(join(disk, 'filler'), { force: true })
    place.remove()
  }
}

const DISK_BYTES = 12 << 20
const PAGE_BYTES = 4096

function isShardCreated({ syscall, path }: Call): boolean {
  return /^(open|creat)/.test(syscall) && path.endsWith('.shard')
}

async function assertOld(
  scenario: Scenario,
  place: Place,
  end: { readonly code: number | null; readonly stderr: string },
): Promise<void> {
  const content = await currentContent(place.data, scenario.expected)
  assertClean(end, content, scenario, place)
  if (content !== scenario.expected.before) throw new Error('the old snapshot is not current')
  const left = leftovers(place.data, place.import.temporaryDirectory)
  if (left.length > 0) throw new Error(`it leaves ${left.join()}`)
}

/** Takes all pages of a disk but the last. */
function fillUp(path: string, leftBytes: number): void {
  const file = openSync(path, 'w')
  let byteCount = 0
  try {
    for (;;) byteCount += writeSync(file, Buffer.alloc(PAGE_BYTES))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    ftruncateSync(file, byteCount - leftBytes)
  } finally {
    closeSync(file)
  }
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}
