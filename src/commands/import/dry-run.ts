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
import type { Preview } from '../../sources/preview.js'
import type { CommandContext } from '../context.js'
import { print } from '../output.js'
import { endOnSignal } from './end-on-signal.js'
import { type Outcome, printPreview, printSource, printSummary, printTime } from './report.js'
import { assertPublishable, type ImportSource, labelSources, previewSource } from './source.js'

interface DryRunPlan {
  readonly dataDirectory: string
  readonly sources: readonly ImportSource[]
  readonly isList: boolean
  /** Rows to show of each source. */
  readonly rowCount: number
}

/** Takes no lock and publishes nothing; throws what an import would, but for all sources of a list. */
export async function dryRun({ log }: CommandContext, plan: DryRunPlan): Promise<void> {
  const startedMs = performance.now()
  const sources = await labelSources(plan.dataDirectory, plan.sources)
  const outcomes: Outcome[] = []
  const signals = endOnSignal()
  try {
    for (const source of sources) outcomes.push(await tryRead(log, plan, source))
  } finally {
    signals.forget()
  }
  if (plan.isList) printSummary(outcomes, 'could be')
  printTime(startedMs)
  const failedCount = outcomes.filter(({ failure }) => failure !== undefined).length
  if (failedCount > 0) {
    throw new OperatorError(
      'InputRejected',
      `${failedCount} of ${outcomes.length} sources could not be published`,
    )
  }
  print('dry run    nothing was published')
}

async function tryRead(
  log: Log,
  { dataDirectory, isList, rowCount }: DryRunPlan,
  source: ImportSource & { readonly label: string },
): Promise<Outcome> {
  const { id, label } = source
  printSource(id, label)
  const spool = join(tmpdir(), `hickory-import-${randomUUID()}`)
  let preview: Preview | undefined
  try {
    preview = await previewSource(log, source, rowCount, spool)
    printPreview(preview)
    await assertPublishable(dataDirectory, source, preview.report)
    return { id, label, report: preview.report, failure: undefined }
  } catch (error) {
    if (!(error instanceof OperatorError) || !isList) throw error
    print(`failed     ${error.message}`)
    return { id, label, report: preview?.report, failure: error.message }
  }
}
