/**
 * What a run found, for whoever has to find out why.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finding, FuzzReport } from './fuzz.js'
import { writeTranscript } from './transcript.js'

/** One line a finding, with the requests as hexadecimal in files that test/fuzz/replay.ts reads. */
export function describeFinding({ what, seed, plans }: Finding): string {
  const requests = plans.map(({ number, plan }) => {
    const title = `seed ${seed}, request ${number}: ${what}`
    const path = join(tmpdir(), `hickory-fuzz-${seed}-${number}.txt`)
    const transcript = writeTranscript(title, plan)
    writeFileSync(path, transcript)
    return `\n  request ${number}, node dist/test/fuzz/replay.js ${path}\n  ${transcript.slice(0, SHOWN_CHAR_COUNT)}`
  })
  return `${what} (seed ${seed})${requests.join('')}`
}

const SHOWN_CHAR_COUNT = 4_000

export function describeReport(report: FuzzReport): string {
  const { sentCount, seconds, outcomes, residentBytes } = report
  const { warm, now, most } = residentBytes
  const counts = Object.entries(outcomes).sort(([, a], [, b]) => b - a)
  return (
    `${sentCount} requests in ${seconds.toFixed(1)} s, ` +
    `${Math.round(sentCount / seconds)}/s; resident ${megabytes(warm)} MB after the warm-up, ` +
    `${megabytes(now)} now, ${megabytes(most)} at the most; ` +
    counts.map(([outcome, count]) => `${outcome}: ${count}`).join(', ')
  )
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
