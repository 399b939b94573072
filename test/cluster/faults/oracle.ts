/**
 * What each answer must have been: the journal is read from its beginning, and who is inside is found by plain comparison.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { journalDirectory } from '../../../src/journal/files.js'
import { verifyJournal } from '../../../src/journal/verify.js'
import type { Acknowledged, Asked, Clients } from './clients.js'
import { CHANGED_SOURCE, hundredths, mark, type WireChange } from './crowd.js'
import type { Witness } from './witness.js'

interface Verified {
  readonly batchCount: number
  readonly answerCount: number
  readonly listCount: number
  readonly problems: readonly string[]
}

/**
 * @param csv  of the source as it was imported
 * @param witness  which has the whole journal
 */
export function verify(clients: Clients, csv: string, witness: Witness): Verified {
  const crowd = new Crowd(csv)
  const problems: string[] = []
  const acknowledged = new Map(clients.acknowledged.map((one) => [one.batchId, one]))
  const seen = new Set<string>()
  const answers = [...clients.asked].sort((a, b) => a.sequence - b.sequence)
  let answerAt = 0
  const check = (upTo: number) => {
    for (; answerAt < answers.length && answers[answerAt].sequence <= upTo; answerAt++) {
      const problem = crowd.compare(answers[answerAt])
      if (problem !== undefined) problems.push(problem)
    }
  }
  let batchCount = 0
  for (const { sequence, sourceId, batchId, changes } of witness.read()) {
    check(sequence - 1)
    if (sourceId !== CHANGED_SOURCE) continue
    batchCount++
    if (seen.has(batchId)) problems.push(`batch ${sequence} is there twice`)
    seen.add(batchId)
    const sent = acknowledged.get(batchId)
    if (sent !== undefined && sent.sequence !== sequence) {
      problems.push(`batch ${sequence} was acknowledged as ${sent.sequence}`)
    }
    if (sent !== undefined && textOf(sent) !== textOfJournal(changes)) {
      problems.push(`batch ${sequence} has other changes than those that were sent`)
    }
    for (const change of changes) crowd.change(change)
  }
  check(Number.POSITIVE_INFINITY)
  for (const { batchId, sequence } of clients.acknowledged) {
    if (!seen.has(batchId)) problems.push(`batch ${sequence} was acknowledged, and is not there`)
  }
  const listCount = answers.filter(({ marks }) => marks !== undefined).length
  return { batchCount, answerCount: answers.length, listCount, problems }
}

/** Where the journal of a machine ends, after all of it was checked. */
async function endOfJournal(data: string): Promise<string> {
  const { last } = await verifyJournal(journalDirectory(data))
  const { sequence, hash } = last
  return `${sequence} ${hash}`
}

/** @returns where all journals end; undefined where they do not become the same in time */
export async function untilSameEnd(directories: readonly string[]): Promise<string | undefined> {
  for (let attempt = 0; attempt < 60; attempt++) {
    const ends = await Promise.all(directories.map(endOfJournal))
    if (new Set(ends).size === 1) return ends[0]
    await sleep(500)
  }
  return undefined
}

/** In arrays, for a million questions. */
class Crowd {
  readonly #places = new Map<string, number>()
  readonly #phones: string[] = []
  #lngs = new Int32Array(1_024)
  #lats = new Int32Array(1_024)

  constructor(csv: string) {
    for (const line of csv.trim().split('\n').slice(1)) {
      const [phone, lat, lng] = line.split(',')
      this.#set(phone, Math.round(Number(lng) * 100), Math.round(Number(lat) * 100))
    }
  }

  change(change: JournalChange): void {
    if (change.op === 'upsert') {
      this.#set(change.phone, hundredths(change.lng), hundredths(change.lat))
    } else if (change.op === 'delete') this.#remove(phoneOfIdentity(change.identity))
  }

  compare({ box, sequence, count, marks }: Asked): string | undefined {
    const { west, south, east, north } = box
    let found = 0
    let sum = 0
    for (let at = 0; at < this.#phones.length; at++) {
      const lng = this.#lngs[at]
      const lat = this.#lats[at]
      if (lng < west || lng > east || lat < south || lat > north) continue
      found++
      if (marks !== undefined) sum += mark(this.#phones[at])
    }
    if (found === count && (marks === undefined || marks === sum)) return undefined
    return `at ${sequence} there are ${found}, and the answer says ${count}`
  }

  #set(phone: string, lng: number, lat: number): void {
    let at = this.#places.get(phone)
    if (at === undefined) {
      at = this.#phones.length
      this.#places.set(phone, at)
      this.#phones.push(phone)
      if (at >= this.#lngs.length) this.#grow()
    }
    this.#lngs[at] = lng
    this.#lats[at] = lat
  }

  #remove(phone: string): void {
    const at = this.#places.get(phone)
    if (at === undefined) return
    this.#places.delete(phone)
    const last = this.#phones.length - 1
    const moved = this.#phones[last]
    this.#phones.pop()
    if (at === last) return
    this.#phones[at] = moved
    this.#lngs[at] = this.#lngs[last]
    this.#lats[at] = this.#lats[last]
    this.#places.set(moved, at)
  }

  #grow(): void {
    const grown = (old: Int32Array) => {
      const all = new Int32Array(2 * old.length)
      all.set(old)
      return all
    }
    this.#lngs = grown(this.#lngs)
    this.#lats = grown(this.#lats)
  }
}

type JournalChange =
  ReturnType<Witness['read']> extends Generator<infer Batch>
    ? Batch extends { readonly changes: readonly (infer Change)[] }
      ? Change
      : never
    : never

/** Nobody has a contact here. */
const phoneOfIdentity = (identity: string) => identity.split('\0')[0]

function textOf({ changes }: Acknowledged): string {
  return changes
    .map((change: WireChange) => {
      if (change.op === 'delete') return change.number
      return `${change.number} ${Math.round(change.lng * 100)} ${Math.round(change.lat * 100)}`
    })
    .join()
}

function textOfJournal(changes: readonly JournalChange[]): string {
  return changes
    .map((change) => {
      if (change.op === 'upsert') {
        return `${change.phone} ${hundredths(change.lng)} ${hundredths(change.lat)}`
      }
      return change.op === 'delete' ? phoneOfIdentity(change.identity) : change.op
    })
    .join()
}
