/**
 * Scripts of this repository, run by themselves and measured.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runScript } from '../harness/processes.js'

export interface MeasuredRun {
  readonly wallMs: number
  /** The most memory that it held, shared memory included. */
  readonly peakBytes: number
}

/** @param args  the script and its arguments */
export async function runMeasured(
  args: readonly string[],
  signal: AbortSignal,
): Promise<MeasuredRun> {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-bench-'))
  try {
    const peakPath = join(directory, 'peak')
    const report = new URL('report-peak.js', import.meta.url)
    report.searchParams.set('file', peakPath)
    const startedMs = performance.now()
    await runScript(['--import', report.href, ...args], signal)
    const wallMs = performance.now() - startedMs
    return { wallMs, peakBytes: Number(readFileSync(peakPath, 'utf8')) }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
