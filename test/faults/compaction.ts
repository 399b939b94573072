/**
 * Compactions that are killed as they make a system call, and what must be true afterwards.
 *
 * @module
 */
import { deepStrictEqual } from 'node:assert/strict'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../src/changes/change.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory, journalFileNumbers } from '../../src/journal/files.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { listSnapshots } from '../../src/snapshot/directory.js'
import { type People, peopleIn, peopleInSnapshot, personOf } from '../support/data/people.js'
import type { Random } from '../support/random/world.js'
import { type Call, CHANGING, callsBelow } from './calls.js'
import { ageLock } from './content.js'
import { type Import, runDisturbed, runImport, startImport, traceImport } from './trace.js'

/** A data directory that is to be compacted, and who is in it. */
export interface CompactionStage {
  readonly base: string
  readonly people: Model
  /** Of the journal; those before it are removed when all is done. */
  readonly lastFile: number
}

type Model = ReadonlyMap<number, Map<string, string>>

const BATCH_COUNT = 24
const FILE_BYTES = 1_500
const ROW_COUNT = 700

/** Two sources after an import and a compaction, with changes of both before and after these. */
export async function prepareCompaction(directory: string): Promise<CompactionStage> {
  mkdirSync(directory, { recursive: true })
  // As the kernel names it, since calls are found by their paths.
  const root = realpathSync(directory)
  const base = join(root, 'base')
  mkdirSync(base)
  const people: Model = new Map([1, 2].map((id) => [id, new Map()]))
  for (const [id, own] of people) {
    const file = join(root, `${id}.csv`)
    writeFileSync(file, csv(id, own))
    const args = ['--data', base, '--source', `${id}`, '--label', 'x', '--key', 'id', file]
    await succeed({ ...commandIn(base, root), command: 'import', args })
  }
  await append(base, 'first', people)
  await succeed(commandIn(base, root))
  await append(base, 'second', people)
  await succeed(commandIn(base, root))
  await append(base, 'third', people)
  const lastFile = journalFileNumbers(journalDirectory(base)).at(-1) ?? 0
  return { base, people, lastFile }
}

/** All calls that change something, in the order of a run. */
export async function compactionCalls(stage: CompactionStage): Promise<Call[]> {
  const { directory, command, remove } = placeFor(stage)
  try {
    return callsBelow(await traceImport(command, CHANGING), directory, true)
  } finally {
    remove()
  }
}

/** Kills a compaction as it makes a call; returns what is wrong after that, if anything is. */
export async function killCompactionAt(
  stage: CompactionStage,
  call: Call,
): Promise<string | undefined> {
  const { directory, data, command, remove } = placeFor(stage)
  try {
    const path = join(directory, call.path)
    const { code } = await runDisturbed(command, { ...call, path, effect: 'signal=SIGKILL' })
    if (code !== null) throw new Error(`it was not killed but ended with ${code}`)
    await assertNothingLost(data, stage.people)
    await compactAgain(data, command, stage)
    return undefined
  } catch (error) {
    return `${call.syscall} ${call.when} of ${call.path}: ${(error as Error).message}`
  } finally {
    remove()
  }
}

/** Compactions of one directory, each on what the one before left, until so many were killed, while batches come. */
export async function killCompactionsAtRandom(
  stage: CompactionStage,
  count: number,
  random: Random,
): Promise<{ readonly fault: string | undefined; readonly finishedCount: number }> {
  const { data, command, remove } = placeFor(stage)
  const people = copied(stage.people)
  let finishedCount = 0
  try {
    const startedMs = performance.now()
    await succeed(command)
    const wholeMs = performance.now() - startedMs
    for (let killedCount = 0; killedCount < count; ) {
      ageLock(data)
      const { child, finished } = startImport(command)
      const timer = setTimeout(() => child.kill('SIGKILL'), random.unit() * wholeMs)
      let isOver = false
      const ended = finished.finally(() => {
        isOver = true
      })
      for (let round = 0; !isOver; round++) {
        await append(data, `r${killedCount}-${finishedCount}-${round}`, people)
      }
      const { code, stderr } = await ended
      clearTimeout(timer)
      if (code !== null && code !== 0) throw new Error(`it ended with ${code}: ${stderr}`)
      if (code === null) killedCount++
      else finishedCount++
      await assertNothingLost(data, people)
    }
    await compactAgain(data, command, { ...stage, people })
    return { fault: undefined, finishedCount }
  } catch (error) {
    return { fault: (error as Error).message, finishedCount }
  } finally {
    remove()
  }
}

/** Each snapshot that is there has all changes, with those that are in the journal. */
async function assertNothingLost(data: string, people: Model) {
  const { behindBytes } = await verifyJournal(journalDirectory(data))
  if (behindBytes > 0) throw new Error(`${behindBytes} bytes are behind the journal`)
  for (const id of await listSnapshots(data)) {
    const found = await peopleIn(data, id)
    // Of the first import, which has one source.
    for (const [sourceId, own] of found) assertSame(own, people.get(sourceId), `${id}: ${sourceId}`)
  }
  for (const [sourceId, own] of await peopleIn(data)) assertSame(own, people.get(sourceId), 'now')
}

/** A compaction after a disturbed one must work, and remove what that one left. */
async function compactAgain(data: string, command: Import, { people, lastFile }: CompactionStage) {
  ageLock(data)
  await succeed(command)
  await assertNothingLost(data, people)
  for (const [sourceId, own] of await peopleInSnapshot(data)) {
    assertSame(own, people.get(sourceId), 'in the snapshot')
  }
  const strange = [
    ...readdirSync(data).filter((name) => !/^(CURRENT|snapshots|journal)$/.test(name)),
    ...readdirSync(join(data, 'snapshots')).filter((name) => !/^[0-9]{6}-[0-9a-f]{8}$/.test(name)),
    ...readdirSync(command.temporaryDirectory),
  ]
  if (strange.length > 0) throw new Error(`the next compaction leaves ${strange.join()}`)
  // A second one lets go of what the first one replaced.
  await append(data, 'last', copied(people))
  await succeed(command)
  const numbers = journalFileNumbers(journalDirectory(data))
  if (numbers[0] < lastFile) throw new Error(`the journal begins with ${numbers[0]}`)
}

function assertSame(found: People, expected: People | undefined, what: string): void {
  try {
    deepStrictEqual(found, expected)
  } catch {
    throw new Error(`${what} has ${found.size} people, and not those that were acknowledged`)
  }
}

/** A copy of the stage. */
function placeFor({ base }: CompactionStage) {
  const directory = mkdtempSync(`${base}-`)
  const data = join(directory, 'data')
  cpSync(base, data, { recursive: true })
  const command = commandIn(data, directory)
  return { directory, data, command, remove: () => rmSync(directory, { recursive: true }) }
}

function commandIn(data: string, directory: string): Import {
  const temporaryDirectory = join(directory, 'temporary')
  mkdirSync(temporaryDirectory, { recursive: true })
  return {
    command: 'compact',
    args: ['--data', data, '--quiet', '--keep', '1'],
    temporaryDirectory,
  }
}

async function succeed(command: Import): Promise<void> {
  const { code, stderr } = await runImport(command)
  if (code !== 0) throw new Error(`a ${command.command} ended with ${code}: ${stderr}`)
}

const copied = (people: Model): Model => new Map([...people].map(([id, own]) => [id, new Map(own)]))

/**
 * Batches of both sources, each with somebody new, somebody who moves and somebody who goes.
 *
 * @param people  gets what is acknowledged
 */
async function append(data: string, name: string, people: Model): Promise<void> {
  const writer = new JournalWriter({ directory: journalDirectory(data), fileBytes: FILE_BYTES })
  for (let at = 0; at < BATCH_COUNT; at++) {
    const sourceId = 1 + (at % 2)
    const own = people.get(sourceId) as Map<string, string>
    const upserts = [`${name}-${at}`, `k${(7 * at) % ROW_COUNT}`].map((key) => upsert(key, at))
    const [gone] = own.keys()
    const changes: Change[] = [...upserts, { op: 'delete', identity: gone }]
    const batchId = `${name}-${at}`
    writer.append([prepareBatch({ sourceId, batchId, changes })])
    for (const change of upserts) own.set(change.identity, personOf(change))
    own.delete(gone)
    await sleep(2)
  }
  await writer.release()
}

function upsert(key: string, at: number) {
  return {
    op: 'upsert',
    identity: key,
    phone: '+9993',
    lng: at,
    lat: at,
    contact: '',
    key,
  } as const
}

function csv(seed: number, people: Map<string, string>): string {
  const rows = Array.from({ length: ROW_COUNT }, (_, row) => {
    const phone = `+999${seed}${String(row).padStart(7, '0')}`
    const [lat, lng] = [1 + ((row * seed) % 80), 1 + (row % 170)]
    people.set(`k${row}`, personOf({ phone, lng: lng * 1e7, lat: lat * 1e7, contact: '' }))
    return `${phone},${lat},${lng},k${row}\n`
  })
  return `number,lat,lng,id\n${rows.join('')}`
}
