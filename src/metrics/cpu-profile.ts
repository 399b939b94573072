/**
 * A profile of the processor time of this thread, as Chrome and VS Code read it. It has the names of
 * functions and their places in the code, and nothing of what they work on.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { Session } from 'node:inspector'

export interface RunningProfile {
  /** Ends it, and gives it as JSON; takes some milliseconds for each second of it. */
  stop(): string
}

export function startProfile(): RunningProfile {
  const session = new Session()
  session.connect()
  ask(session, 'Profiler.enable')
  ask(session, 'Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS })
  ask(session, 'Profiler.start')
  return {
    stop() {
      const { profile } = ask(session, 'Profiler.stop') as { profile: object }
      session.disconnect()
      return JSON.stringify(profile)
    },
  }
}

const SAMPLE_MICROSECONDS = 1_000

/** A session of the same thread answers before `post` returns. */
function ask(session: Session, method: string, parameters: object = {}): unknown {
  let answer: { readonly fault: Error | null; readonly result: unknown } | undefined
  session.post(method, parameters, (fault, result) => {
    answer = { fault, result }
  })
  assert(answer, 'the profiler answers at once')
  if (answer.fault !== null) throw answer.fault
  return answer.result
}
