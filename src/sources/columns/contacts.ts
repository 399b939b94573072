/**
 * The contact of each recipient: recipients with the same contact text share one, and so do
 * recipients without a contact text that have the same phone. The two never mix: a contact text
 * that reads like a phone is not that phone. Contacts are dense, by first appearance.
 *
 * @module
 */
import { limits } from '../../limits.js'
import {
  importThreadCount,
  runTasksHere,
  startTaskThreads,
  type TaskRunner,
} from '../../threads/tasks.js'
import { binTexts, type ContactTexts, findFirsts, hashTexts } from './contact-texts.js'

/** The task of a thread; see contact-texts.ts. */
type ContactTask = { readonly texts: ContactTexts } & (
  | { readonly kind: 'hash'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'bin'
      readonly start: number
      readonly end: number
      readonly positions: Uint32Array
    }
  | { readonly kind: 'find'; readonly bins: Uint32Array }
)

/** The counts of the bins after `hash`, nothing otherwise. */
export function runContactTask(task: ContactTask): Uint32Array | undefined {
  if (task.kind === 'hash') return hashTexts(task.texts, task.start, task.end)
  if (task.kind === 'bin') binTexts(task.texts, task.start, task.end, task.positions)
  else findFirsts(task.texts, task.bins)
  return undefined
}

type Texts = Pick<
  ContactTexts,
  'recipientCount' | 'phoneOffsets' | 'phones' | 'contactOffsets' | 'contactTexts'
>

/** @param threadCount  0 to work on this thread */
export async function findContacts(
  texts: Texts,
  threadCount: number = defaultThreadCount(texts.recipientCount),
): Promise<{ contacts: Uint32Array; contactCount: number }> {
  const { recipientCount } = texts
  const binBits = Math.ceil(Math.log2(Math.max(1, recipientCount / BIN_RECIPIENT_COUNT)))
  const firsts = new Uint32Array(new SharedArrayBuffer(4 * recipientCount))
  const binned = new Uint32Array(new SharedArrayBuffer(8 * recipientCount))
  // No shift by 32 bits: one bin is two of which one is empty.
  const all: ContactTexts = { ...texts, binBits: Math.max(1, binBits), firsts, binned }
  const runner: TaskRunner<ContactTask, Uint32Array | undefined> =
    threadCount === 0 ? runTasksHere(runContactTask) : startTaskThreads(ENTRY, threadCount)
  try {
    await findAllFirsts(all, Math.max(1, threadCount), runner)
  } finally {
    await runner.close()
  }
  return { contacts: firsts, contactCount: number(firsts) }
}

const ENTRY = new URL('../../../workers/contacts.js', import.meta.url)
/** Few enough that the table of a bin stays in the cache of a core. */
const BIN_RECIPIENT_COUNT = 1 << 15
/** Bins are handed out in this many groups a thread, so that none waits long for another. */
const GROUPS_PER_THREAD = 4

function defaultThreadCount(recipientCount: number): number {
  return recipientCount < limits.threadlessRecipientCount ? 0 : importThreadCount()
}

async function findAllFirsts(
  texts: ContactTexts,
  partCount: number,
  runner: TaskRunner<ContactTask, Uint32Array | undefined>,
): Promise<void> {
  const { recipientCount } = texts
  const bound = (part: number) => Math.floor((recipientCount * part) / partCount)
  const parts = Array.from({ length: partCount }, (_, part) => ({
    start: bound(part),
    end: bound(part + 1),
  }))
  const counts = (await Promise.all(
    parts.map((part) => runner.run({ texts, kind: 'hash', ...part })),
  )) as Uint32Array[]
  const { bins, positions } = placeBins(counts)
  await Promise.all(
    parts.map((part, at) => runner.run({ texts, kind: 'bin', ...part, positions: positions[at] })),
  )
  const groupBins = Math.ceil((bins.length - 1) / (partCount * GROUPS_PER_THREAD))
  const groups: Promise<unknown>[] = []
  for (let first = 0; first + 1 < bins.length; first += groupBins) {
    const group = bins.slice(first, first + groupBins + 1)
    groups.push(runner.run({ texts, kind: 'find', bins: group }))
  }
  await Promise.all(groups)
}

/** Where the bins begin, and where in them the recipients of each part. */
function placeBins(counts: readonly Uint32Array[]) {
  const binCount = counts[0].length
  const bins = new Uint32Array(binCount + 1)
  const positions = counts.map(() => new Uint32Array(binCount))
  let end = 0
  for (let bin = 0; bin < binCount; bin++) {
    bins[bin] = end
    for (const [part, count] of counts.entries()) {
      positions[part][bin] = end
      end += count[bin]
    }
  }
  bins[binCount] = end
  return { bins, positions }
}

/** Turns first recipients into contacts, in place: those of earlier recipients are known by then. */
function number(firsts: Uint32Array): number {
  let contactCount = 0
  for (let row = 0; row < firsts.length; row++) {
    const first = firsts[row]
    firsts[row] = first === row ? contactCount++ : firsts[first]
  }
  return contactCount
}
