/**
 * `hickory import --dry-run`: shows what an import would read, and changes nothing.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import type { Log } from '../../log.js'
import { readReference } from '../../snapshot/retention/reference.js'
import type { ReadReport } from '../../sources/batch.js'
import type { CommandContext } from '../context.js'
import { print } from '../output.js'
import { endOnSignal } from './end-on-signal.js'
import type { ImportRecord } from './json-report.js'
import { assertPublishable } from './publishable.js'
import { type Outcome, printPreview, printSource, printSummary, printTime } from './report.js'
import { type ImportSource, labelSources, previewSource } from './source.js'

interface DryRunPlan {
  readonly dataDirectory: string
  readonly sources: readonly ImportSource[]
  readonly isList: boolean
  /** Rows to show of each source. */
  readonly rowCount: number
  /** Gets what becomes of the sources. */
  readonly record: ImportRecord
}

/** Takes no lock and publishes nothing; throws what an import would, but for all sources of a list. */
export async function dryRun({ log }: CommandContext, plan: DryRunPlan): Promise<void> {
  const startedMs = performance.now()
  const sources = await labelSources(plan.dataDirectory, plan.sources)
  const { outcomes } = plan.record
  const signals = endOnSignal()
  try {
    const { heldCounts } = await readReference(plan.dataDirectory)
    for (const source of sources) {
      outcomes.push(await tryRead(log, plan, source, heldCounts.get(source.id)))
    }
  } finally {
    signals.forget()
  }
  if (plan.isList) printSummary(outcomes, 'could be')
  printTime(startedMs)
  const failed = outcomes.filter(({ failure }) => failure !== undefined)
  if (failed.length > 0) {
    throw new OperatorError(
      failed.every(({ hasTripped }) => hasTripped) ? 'Guarded' : 'InputRejected',
      `${failed.length} of ${outcomes.length} sources could not be published`,
    )
  }
  print('dry run    nothing was published')
}

async function tryRead(
  log: Log,
  { isList, rowCount }: DryRunPlan,
  source: ImportSource & { readonly label: string },
  heldCount: number | undefined,
): Promise<Outcome> {
  const { id, label } = source
  printSource(id, label)
  const spool = join(tmpdir(), `hickory-import-${randomUUID()}`)
  let report: ReadReport | undefined
  try {
    const preview = await previewSource(log, source, rowCount, spool)
    report = preview.report
    printPreview(preview)
    assertPublishable(source, preview, heldCount)
    return { id, label, report, failure: undefined, hasTripped: false }
  } catch (error) {
    if (!(error instanceof OperatorError) || !isList) throw error
    print(`failed     ${error.message}`)
    return { id, label, report, failure: error.message, hasTripped: error.code === 'Guarded' }
  }
}
