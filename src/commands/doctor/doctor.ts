/**
 * `hickory doctor`: looks at the machine and at a data directory, and says what to do.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { Command, Option } from 'commander'
import { OperatorError } from '../../errors.js'
import { assertOwnId } from '../../store/check.js'
import type { CommandContext } from '../context.js'
import { print } from '../output.js'
import { formatTable } from '../table.js'
import { type Check, type Finding, failed, type Result } from './check.js'
import { directoryChecks, largestRecipientCount } from './directory.js'
import { machineChecks } from './machine.js'
import { SAMPLE_RECIPIENT_COUNT } from './sample.js'
import { selfTest } from './self-test.js'

interface Flags {
  readonly data?: string
  readonly full?: true
  readonly selfTest?: true
  readonly json?: true
}

export function doctorCommand(context: CommandContext): Command {
  return new Command('doctor')
    .description('check the machine and the data directory, and say what to do')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--full', 'read every byte of every snapshot')
    .addOption(
      new Option(
        '--self-test',
        'import and serve made-up recipients, and compare answers with brute force',
      ).conflicts(['data', 'full']),
    )
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action((flags: Flags) => doctor(context, flags))
}

const HELP_TAIL = `
The command changes nothing, and a service or an import may run at the same time. Without --full it reads
of each snapshot the manifest and the beginning of each file. The exit code is 0 unless a check failed;
a warning is no failure.

--self-test looks at no data directory. It makes up recipients, imports them into a temporary directory, serves
them on a free port of 127.0.0.1, and compares counts and lists with brute force. It takes some seconds, needs no
network, and leaves nothing behind.

Examples:
  $ hickory doctor --data ./data/local
  $ hickory doctor --self-test
`

async function doctor(context: CommandContext, flags: Flags): Promise<void> {
  const dataDirectory = flags.selfTest ? undefined : context.dataDirectory(flags.data)
  if (dataDirectory !== undefined) await assertOwnId(dataDirectory)
  const results =
    dataDirectory === undefined
      ? [...(await resultsOf(machineChecks(SAMPLE_RECIPIENT_COUNT))), ...(await selfTest())]
      : await lookAtAll(dataDirectory, flags.full === true)
  const bad = results.filter(({ state }) => state === 'failed').map(({ name }) => name)
  if (flags.json === true) {
    print(JSON.stringify({ dataDirectory, isHealthy: bad.length === 0, checks: results }, null, 2))
  } else {
    const rows = results.map(({ name, state, found, advice }) => [
      name,
      state,
      advice === undefined ? found : `${found}. ${capitalised(advice)}`,
    ])
    for (const line of formatTable(['<check', '<state', '<'], rows)) print(line)
  }
  if (bad.length > 0)
    throw new OperatorError(
      'Failed',
      `failed: ${bad.join(', ')}. What to do stands beside each check`,
    )
}

async function lookAtAll(dataDirectory: string, isFull: boolean): Promise<Result[]> {
  const machine = machineChecks(await largestRecipientCount(dataDirectory))
  return await resultsOf([
    ...machine,
    ...(existsSync(dataDirectory)
      ? directoryChecks(dataDirectory, isFull)
      : [{ name: 'directory', look: () => missing(dataDirectory) }]),
  ])
}

/** One after the other. */
async function resultsOf(checks: readonly Check[]): Promise<Result[]> {
  const results: Result[] = []
  for (const check of checks) results.push({ name: check.name, ...(await findingOf(check)) })
  return results
}

function missing(dataDirectory: string): Finding {
  return failed(`${dataDirectory} does not exist`, 'name the data directory with --data')
}

/** A check that cannot be made has failed: it is one of those that a service would make. */
async function findingOf({ look }: Check): Promise<Finding> {
  try {
    return await look()
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException
    const isForeign = code === 'EACCES' || code === 'EPERM'
    return failed(
      message,
      isForeign ? 'run as the user who owns the directory' : 'see docs/operations/run.md',
    )
  }
}

function capitalised(text: string): string {
  return text.startsWith('`') ? text : text[0].toUpperCase() + text.slice(1)
}
