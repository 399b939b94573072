/**
 * Where processor time goes: what each thread of a server has used, and how long the machine did
 * nothing. Linux alone says it.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Since the start of the process, and of the machine. */
export interface ProcessorReading {
  readonly threads: readonly ThreadReading[]
  /** Of the whole process, with threads that have ended. */
  readonly processSeconds: number
  readonly machineSeconds: number
  readonly idleSeconds: number
}

export interface ThreadReading {
  readonly id: number
  readonly isMain: boolean
  readonly seconds: number
  readonly nice: number
}

/** Between two readings. */
export interface ProcessorUse {
  /** Microseconds a request, of all threads of the kind together. */
  readonly frontMicroseconds: number
  readonly queryMicroseconds: number
  readonly otherMicroseconds: number
  /** How much of the time of all cores nothing used, whatever else runs there. */
  readonly idleShare: number
}

/** Undefined where the system does not say it, and when the process has ended. */
export function readProcessor(pid: number): ProcessorReading | undefined {
  if (!existsSync(`/proc/${pid}/task`)) return undefined
  const machine = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))
  // What guests use is also among the first eight.
  const ticks = machine?.[1].split(' ').slice(0, 8).map(Number) ?? []
  return {
    threads: readdirSync(`/proc/${pid}/task`).flatMap((id) => readThread(pid, Number(id)) ?? []),
    processSeconds: secondsIn(fieldsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))),
    machineSeconds: ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND,
    idleSeconds: (ticks[3] + ticks[4]) / TICKS_PER_SECOND,
  }
}

/**
 * Tells the threads of a server apart by what they do, since Node.js 20 gives all of them one name. Query
 * workers let others go first (src/pool/worker.ts): they are nicer than the main thread. Front threads
 * share connections equally, so they are the busiest of the others and those at least half as busy. A
 * server of one thread has one front.
 */
export function processorUse(
  before: ProcessorReading,
  after: ProcessorReading,
  requestCount: number,
): ProcessorUse {
  const earlier = new Map(before.threads.map(({ id, seconds }) => [id, seconds]))
  const used = after.threads.map((thread) => ({
    ...thread,
    seconds: thread.seconds - (earlier.get(thread.id) ?? 0),
  }))
  const mainNice = used.find(({ isMain }) => isMain)?.nice ?? 0
  const queryTimes = used.filter(({ nice }) => nice > mainNice).map(({ seconds }) => seconds)
  const otherTimes = used.filter(({ nice }) => nice <= mainNice).map(({ seconds }) => seconds)
  const busiest = Math.max(...otherTimes)
  const frontSeconds = sumOf(otherTimes.filter((seconds) => seconds >= busiest / 2))
  const querySeconds = sumOf(queryTimes)
  const allSeconds = after.processSeconds - before.processSeconds
  const micros = (seconds: number) => (1e6 * Math.max(0, seconds)) / requestCount
  return {
    frontMicroseconds: micros(frontSeconds),
    queryMicroseconds: micros(querySeconds),
    otherMicroseconds: micros(allSeconds - frontSeconds - querySeconds),
    idleShare:
      (after.idleSeconds - before.idleSeconds) / (after.machineSeconds - before.machineSeconds),
  }
}

/** USER_HZ, which Linux shows to programs on every machine. */
const TICKS_PER_SECOND = 100

/** Undefined when the thread has just ended. */
function readThread(pid: number, id: number): ThreadReading | undefined {
  try {
    const fields = fieldsOf(readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'))
    return { id, isMain: id === pid, seconds: secondsIn(fields), nice: Number(fields[16]) }
  } catch {
    return undefined
  }
}

/** Those behind the name, which may have spaces. The first is the third of proc(5). */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** In the process and in the kernel. */
function secondsIn(fields: readonly string[]): number {
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
