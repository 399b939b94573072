/**
 * Writers of a journal that are killed while they write: at each call that changes a file, and at random.
 * Whatever was acknowledged is there once and in its place, and each group is there as a whole or not at all.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalPath, positionPath } from '../../src/journal/files.js'
import { JournalReader } from '../../src/journal/reader.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { mountSmallDisk } from '../faults/full-disk.js'
import { testSeed } from '../support/random/properties.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const PROGRAM = fileURLToPath(new URL('./fixtures/writing-process.js', import.meta.url))

/** Each second call in CI, from the first or the second one on; each call in the soak. */
const CALL_STEP = byTier({ ci: 2, soak: 1 })

/** Each killed that often at random. */
const RANDOM_KILL_COUNT = byTier({ ci: 6, soak: 200 })

/** So many groups have calls of every kind: new files, ids that go to LMDB, files that are removed. */
const GROUP_COUNT = '16'

/** More calls than it takes to begin a journal. */
const FIRST_COUNT = 12

/** Groups of a writer by its name, in order: the ids of each, and what was acknowledged of them. */
class Acknowledged {
  readonly sequences = new Map<string, number>()
  readonly refused = new Set<string>()
  outcomes: string[] = []

  take(text: string): void {
    for (const line of text.split('\n').slice(0, -1)) {
      const [outcome, ...ids] = line.split(' ')
      this.outcomes.push(outcome)
      for (const id of ids) {
        const [name, sequence, kind] = id.split('=')
        if (outcome !== 'written') this.refused.add(name)
        else if (kind === 'written') this.sequences.set(name, Number(sequence))
        else throw new Error(`a batch that is new was ${kind}`)
      }
    }
  }
}

/** What is wrong with a journal after a writer died. */
async function faultsIn(
  directory: string,
  { sequences, refused }: Acknowledged,
  truncated = 0,
): Promise<string[]> {
  const writer = new JournalWriter({ directory })
  writer.prepare()
  await writer.release()
  const { behindBytes } = await verifyJournal(directory)
  const faults = behindBytes === 0 ? [] : [`${behindBytes} bytes are behind the head`]
  const reader = new JournalReader(directory)
  const first = reader.head().first.after.sequence
  if (first > truncated) faults.push(`batches up to ${first} are gone`)
  const found = new Map<string, number>()
  for (const { batchId, sequence } of reader.read(first)) {
    if (found.has(batchId)) faults.push(`${batchId} is there twice`)
    if (refused.has(batchId)) faults.push(`${batchId} was refused`)
    found.set(batchId, sequence)
  }
  reader.close()
  for (const [id, sequence] of sequences) {
    if (sequence > first && found.get(id) !== sequence) faults.push(`${id} is not ${sequence}`)
  }
  // The ids of one writer are 0, 1, 2 … in groups of one to four.
  const counts = new Map<string, number>()
  for (const id of found.keys()) {
    const [name, number] = [
      id.slice(0, id.lastIndexOf('-')),
      Number(id.slice(id.lastIndexOf('-') + 1)),
    ]
    counts.set(name, Math.max(counts.get(name) ?? 0, number + 1))
  }
  for (const [name, count] of counts)
    if (![0, 1, 3, 6].includes(count % 10)) faults.push(`${name} has a part of a group: ${count}`)
  return faults
}

interface Run {
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly before?: readonly string[]
}

/** Runs a writer to its end; returns whether it was killed. */
async function run({ args, environment = {}, before = [] }: Run, into: Acknowledged) {
  const [command, ...rest] = [...before, process.execPath, PROGRAM, ...args]
  // Node.js is to write no files of its own, which would be counted.
  const own = { NODE_OPTIONS: '', NODE_DISABLE_COMPILE_CACHE: '1' }
  const env = { ...process.env, ...own, ...environment }
  const child = spawn(command, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const text = textOf(child)
  const [, signal] = await once(child, 'close')
  into.take(await text)
  return signal === 'SIGKILL'
}

async function textOf(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.on('data', (data) => {
    text += data
  })
  await once(child, 'close')
  return text
}

t.test('writers that are killed at their calls that change a file', async (t) => {
  const home = temporaryDirectory(t)
  const firstCall = 1 + (testSeed(t) % CALL_STEP)
  const ways: readonly [when: string, leastCount: number][] = [
    ['before', 60],
    ['middle', 30],
    ['after', 60],
  ]
  await Promise.all(
    ways.map(async ([when, leastCount]) => {
      const { killCount, batchCount, faults } = await killedAtEach(
        join(home, when),
        when,
        firstCall,
      )
      t.same(faults, [], when)
      t.ok(killCount >= leastCount / CALL_STEP, `${when}: killed ${killCount} times`)
      t.ok(batchCount > killCount, `${batchCount} acknowledged`)
    }),
  )
})

/** The first writers begin a journal; the others go on with what those before them left. */
async function killedAtEach(home: string, when: string, firstCall: number) {
  const goingOn = new Acknowledged()
  const faults: string[] = []
  for (let killCount = 0; ; killCount++) {
    const at = firstCall + killCount * CALL_STEP
    const isFirst = at <= FIRST_COUNT
    const directory = join(home, isFirst ? `first-${at}` : 'journal')
    const said = isFirst ? new Acknowledged() : goingOn
    const truncated = Math.max(0, Math.max(0, ...said.sequences.values()) - 10)
    const isKilled = await run(
      {
        args: [directory, `${when}${at}`, GROUP_COUNT, '1500'],
        environment: {
          HICKORY_TEST_KILL: `${at}:${when}`,
          HICKORY_TEST_TRUNCATE: String(truncated),
        },
      },
      said,
    )
    // Unless it was killed before there was a directory.
    if (existsSync(directory)) {
      const found = await faultsIn(directory, said, truncated)
      faults.push(...found.map((fault) => `${when} call ${at}: ${fault}`))
    }
    if (!isKilled) return { killCount, batchCount: goingOn.sequences.size, faults }
  }
}

t.test(`three writers, of which each is killed ${RANDOM_KILL_COUNT} times`, async (t) => {
  const directory = join(temporaryDirectory(t), 'journal')
  const acknowledged = new Acknowledged()
  const kill = async (name: string) => {
    for (let round = 0; round < RANDOM_KILL_COUNT; round++) {
      const child = spawn(process.execPath, [
        PROGRAM,
        directory,
        `${name}${round}`,
        'Infinity',
        '20000',
      ])
      const text = textOf(child)
      // Each third one is killed at its start; the others write, however long a busy machine takes to start them.
      if (round % 3 > 0 && child.stdout) await Promise.race([once(child.stdout, 'data'), text])
      await sleep(100 * Math.random())
      child.kill('SIGKILL')
      acknowledged.take(await text)
    }
  }
  await Promise.all(['a', 'b', 'c'].map(kill))
  t.same(await faultsIn(directory, acknowledged), [])
  t.ok(
    acknowledged.sequences.size > RANDOM_KILL_COUNT,
    `${acknowledged.sequences.size} acknowledged`,
  )
  t.same([...new Set(acknowledged.outcomes)], ['written'])
})

/** Disturbs a call for one file of a journal that has some batches. */
async function disturbed(t: Test, file: (directory: string) => string, injection: string) {
  const directory = join(temporaryDirectory(t), 'journal')
  const acknowledged = new Acknowledged()
  await run({ args: [directory, 'one', '3', '100000'] }, acknowledged)
  const options = [
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    '-P',
    file(directory),
    '-e',
    `inject=${injection}`,
  ]
  const isKilled = await run(
    { args: [directory, 'two', GROUP_COUNT, '100000'], before: ['strace', ...options] },
    acknowledged,
  )
  return { directory, acknowledged, isKilled }
}

const firstFile = (directory: string) => journalPath(directory, 1)
const lmdb = (directory: string) => join(directory, 'head', 'data.mdb')

for (const [call, error, file, isDoubtful] of [
  ['fdatasync', 'EIO', firstFile, true],
  ['pwrite64', 'ENOSPC', firstFile, false],
  ['pwrite64', 'EIO', firstFile, false],
  ['pwrite64', 'EIO', positionPath, false],
  ['fdatasync', 'EIO', lmdb, false],
] as const) {
  t.test(
    `${error} from ${call} for ${file(' ')} refuses one group, and the next one goes on`,
    async (t) => {
      const { directory, acknowledged } = await disturbed(t, file, `${call}:error=${error}:when=2`)
      t.same(await faultsIn(directory, acknowledged), [])
      const refused = acknowledged.outcomes.filter((outcome) => outcome !== 'written')
      t.equal(refused.length, 1, refused.join())
      const refusedGroupCount = acknowledged.refused.size === 0 ? 0 : 1
      const writtenCount = acknowledged.outcomes.length - refused.length
      t.equal(writtenCount, 3 + Number(GROUP_COUNT) - refusedGroupCount)
      t.equal(existsSync(journalPath(directory, 2)), isDoubtful, 'a file that was not synced ends')
    },
  )
}

t.test('a writer that is killed at calls of LMDB', async (t) => {
  for (const call of ['fdatasync', 'pwrite64', 'writev']) {
    await Promise.all(
      [1, 2, 3, 4].map(async (when) => {
        const injection = `${call}:signal=SIGKILL:when=${when}`
        const { directory, acknowledged, isKilled } = await disturbed(t, lmdb, injection)
        t.same(await faultsIn(directory, acknowledged), [], `${call} ${when}`)
        t.ok(isKilled, 'it was killed')
      }),
    )
  }
})

t.test('a disk that is full refuses groups, and takes them when there is room', async (t) => {
  const home = temporaryDirectory(t)
  const disk = mountSmallDisk(join(home, 'disk'))
  if (disk === undefined) {
    t.comment('no permission to mount a small disk')
    t.end()
    return
  }
  const directory = join(home, 'disk', 'journal')
  const acknowledged = new Acknowledged()
  const writer = new JournalWriter({ directory, unindexedCount: 8 })
  const filler = join(home, 'disk', 'filler')
  try {
    writer.prepare()
    let refusedCount = 0
    for (let round = 0; round < 3; round++) {
      writeFileSync(filler, Buffer.alloc(2 << 20))
      for (let at = 0, isFull = false; !isFull; at++) {
        const changes = [{ op: 'delete' as const, identity: 'x'.repeat(10_000 + 1_000 * round) }]
        const batch = prepareBatch({ sourceId: 1, batchId: `r${round}s${at}-0`, changes })
        try {
          const [{ sequence }] = writer.append([batch])
          acknowledged.sequences.set(batch.batchId, sequence)
        } catch (fault) {
          isFull = true
          refusedCount++
          t.match(fault, /ENOSPC|No space/, (fault as Error).message)
          acknowledged.refused.add(batch.batchId)
          await writer.release()
        }
      }
      rmSync(filler)
      t.same(await faultsIn(directory, acknowledged), [])
      writer.truncate(0)
      await writer.release()
    }
    t.equal(refusedCount, 3)
    t.ok(acknowledged.sequences.size > 100, `${acknowledged.sequences.size} acknowledged`)
  } finally {
    await writer.release()
    disk.remove()
  }
})
