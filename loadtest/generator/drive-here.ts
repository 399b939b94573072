/**
 * Drives a server from this thread.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import type { DriveFigures, DrivePlan } from '../harness/drive.js'
import { processorUse, readProcessor } from '../harness/processor-time.js'
import { type Connection, takeOver } from './connections.js'
import { dealOut } from './deal.js'
import { closedLoop, type Loop, openLoop, type Times } from './loops.js'
import { createTally, type Outcome, type Tally } from './tally.js'

export async function driveHere(plan: DrivePlan): Promise<DriveFigures> {
  const { seconds, ratePerSecond } = plan
  const startMs = performance.now() + OPENING_MS
  const times = { startMs, endMs: startMs + 1000 * seconds }
  const loop = ratePerSecond === undefined ? closedLoop(times) : openLoop(times, ratePerSecond)
  const tally = createTally(seconds)
  const idleBefore = performance.eventLoopUtilization()
  const reading = watchProcessor(plan, times)
  await run(plan, times, loop, tally)
  const generatorBusyShare = performance.eventLoopUtilization(idleBefore).utilization
  const { offeredCount, sentCount } = loop
  const figures = tally.figures()
  const [before, after] = await reading
  return {
    ...figures,
    offeredCount,
    offeredPerSecond: offeredCount / seconds,
    sentCount,
    sentPerSecond: sentCount / seconds,
    unsentCount: offeredCount - sentCount,
    generatorBusyShare,
    processor: before && after && processorUse(before, after, figures.perSecond * seconds),
  }
}

/** After which a request counts as lost. */
const TIMEOUT_SECONDS = 10
/** In which connections are opened before the clock starts. */
const OPENING_MS = 300
/** How often autocannon looks whether it is to stop. */
const SAMPLE_MS = 100

/** Reads at both ends of what is measured. */
async function watchProcessor({ pid }: DrivePlan, { startMs, endMs }: Times) {
  if (pid === undefined) return []
  await sleep(startMs - performance.now())
  const before = readProcessor(pid)
  await sleep(endMs - performance.now())
  return [before, readProcessor(pid)]
}

function run(plan: DrivePlan, times: Times, loop: Loop, tally: Tally): Promise<void> {
  return new Promise((resolve, reject) => {
    const underWay = trackRequests(plan, times, loop, tally)
    const options: autocannon.Options = {
      url: plan.url,
      connections: plan.connectionCount,
      pipelining: 1,
      // It is stopped before that.
      duration: plan.seconds + 10 * TIMEOUT_SECONDS,
      sampleInt: SAMPLE_MS,
      timeout: TIMEOUT_SECONDS,
      setupClient: underWay.setupClient,
    }
    const instance = autocannon(options, (error) => {
      clearInterval(ticking)
      if (error) reject(error)
      else resolve()
    })
    instance.on('response', underWay.answered)
    instance.on('reqError', underWay.failed)
    const ticking = setInterval(() => {
      const nowMs = performance.now()
      loop.tick(nowMs)
      if (isDone(nowMs)) instance.stop()
    }, 1)
    const lastAnswerMs = times.endMs + 1000 * (TIMEOUT_SECONDS + 2)
    const isDone = (nowMs: number) =>
      loop.isOver(nowMs) &&
      (!loop.awaitsAnswers || underWay.settledCount >= loop.sentCount || nowMs >= lastAnswerMs)
  })
}

function trackRequests(plan: DrivePlan, times: Times, loop: Loop, tally: Tally) {
  const connections = new Map<autocannon.Client, Connection>()
  let outcome: Outcome = 'failed'
  const nextRequests = dealOut(plan, (answered) => {
    outcome = answered
  })
  const underWay = {
    /** Of requests that were answered or lost. */
    settledCount: 0,
    setupClient(client: autocannon.Client): void {
      client.setRequests(nextRequests())
      const connection = takeOver(client, {
        free: (freed) => loop.free(freed, performance.now()),
        lost() {
          underWay.settledCount++
          tally.lost()
        },
        timedOut: tally.timedOut,
      })
      connections.set(client, connection)
    },
    /** Comes right after the outcome of the same answer. */
    answered(client: autocannon.Client): void {
      const nowMs = performance.now()
      underWay.settledCount++
      const sinceMs = connections.get(client)?.answered() ?? nowMs
      if (!loop.awaitsAnswers && nowMs >= times.endMs) return
      tally.answered(outcome, nowMs - sinceMs, (nowMs - times.startMs) / 1000)
    },
    failed(error: Error): void {
      if (error.message !== 'request timed out') tally.connectionFailed()
    },
  }
  return underWay
}
