/**
 * What can be learnt of the threads of a service while it runs: profiles, and heaps in numbers.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Profiler } from '../admin/cpu-profile-route.js'
import type { AdminRoute } from '../admin/listener.js'
import { limits } from '../limits.js'
import { startProfile } from '../metrics/cpu-profile.js'
import { countedSamples } from '../metrics/exposition.js'
import { heapFigures } from '../metrics/heap-figures.js'
import type { MetricsMemory } from '../metrics/memory.js'
import type { AskFront } from './ask-fronts.js'
import type { ServiceState } from './state.js'

/** Query workers are those that a front had when it was last asked, by their place there. */
export function threadProfiler(
  state: ServiceState,
  frontCount: number,
  workerCountOf: (frontIndex: number) => number,
): Profiler {
  const fronts = Array.from({ length: frontCount }, (_, front) => front)
  return {
    threads: () => [
      'main',
      ...fronts.flatMap((front) => [
        `front-${front}`,
        ...Array.from({ length: workerCountOf(front) }, (_, at) => `front-${front}-query-${at}`),
      ]),
    ],
    async profile(thread, ms, gone) {
      const [, front, worker] = /^front-(\d+)(?:-query-(\d+))?$/.exec(thread) ?? []
      if (front === undefined) return profileHere(ms, gone)
      const question = {
        kind: 'profile',
        ms,
        ...(worker !== undefined && { worker: Number(worker) }),
      } as const
      return askerOf(state)(Number(front), question, ms + limits.threadAnswerMs)
    },
  }
}

async function profileHere(ms: number, gone: AbortSignal): Promise<string> {
  const profile = startProfile()
  await sleep(ms, undefined, { signal: gone, ref: false }).catch(() => {})
  return profile.stop()
}

/** `/debug/heap`. A query worker tells its heap only after tasks, so that there is no more of it. */
export function heapRoute(
  state: ServiceState,
  memory: MetricsMemory,
  frontCount: number,
): AdminRoute {
  const samples = countedSamples(memory)
  return async () => {
    const fronts = await Promise.all(
      Array.from({ length: frontCount }, async (_, front) => {
        try {
          const text = await askerOf(state)(front, { kind: 'heap' }, limits.threadAnswerMs)
          return [`front-${front}`, JSON.parse(text)]
        } catch (fault) {
          return [`front-${front}`, { fault: (fault as Error).message }]
        }
      }),
    )
    const sizes = samples('hickory_heap_size_bytes')
    const told = samples('hickory_heap_used_bytes').flatMap(({ labels: { thread }, value }, at) =>
      /^(main|front)/.test(thread)
        ? []
        : [[thread, { usedBytes: value, sizeBytes: sizes[at].value }]],
    )
    const threads = Object.fromEntries([['main', heapFigures()], ...fronts, ...told])
    const body = JSON.stringify({ process: process.memoryUsage(), threads }, null, 2)
    return { status: 200, contentType: 'application/json', body: `${body}\n` }
  }
}

function askerOf({ askFront }: ServiceState): AskFront {
  if (askFront === undefined) throw new Error('the thread is starting')
  return askFront
}
