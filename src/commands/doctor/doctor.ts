/**
 * `hickory doctor`: looks at the machine and at a data directory, and says what to do.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { OperatorError } from '../../errors.js'
import type { CommandContext } from '../context.js'
import { print } from '../output.js'
import { formatTable } from '../table.js'
import { type Check, type Finding, failed } from './check.js'
import { directoryChecks, largestRecipientCount } from './directory.js'
import { machineChecks } from './machine.js'

interface Flags {
  readonly data?: string
  readonly full?: true
  readonly json?: true
}

export function doctorCommand(context: CommandContext): Command {
  return new Command('doctor')
    .description('check the machine and the data directory, and say what to do')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--full', 'read every byte of every snapshot')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action((flags: Flags) => doctor(context, flags))
}

const HELP_TAIL = `
The command changes nothing, and a service or an import may run at the same time. Without --full it reads
of each snapshot the manifest and the beginning of each file. The exit code is 0 unless a check failed;
a warning is no failure.

Example:
  $ hickory doctor --data ./data/local
`

async function doctor(context: CommandContext, { data, full, json }: Flags): Promise<void> {
  const dataDirectory = context.dataDirectory(data)
  const checks = [
    ...machineChecks(await largestRecipientCount(dataDirectory)),
    ...(existsSync(dataDirectory)
      ? directoryChecks(dataDirectory, full === true)
      : [{ name: 'directory', look: () => missing(dataDirectory) }]),
  ]
  const results: (Finding & { readonly name: string })[] = []
  for (const check of checks) results.push({ name: check.name, ...(await findingOf(check)) })
  const bad = results.filter(({ state }) => state === 'failed').map(({ name }) => name)
  if (json === true) {
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
