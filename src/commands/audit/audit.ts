/**
 * `hickory audit`: verifies and shows what a service and its commands recorded.
 *
 * @module
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { Command } from 'commander'
import { verifyAudit } from '../../audit/verify.js'
import { readValues } from '../../config.js'
import { OperatorError } from '../../errors.js'
import { print } from '../output.js'
import { type ShowFlags, showAudit } from './show.js'

export function auditCommand(): Command {
  const audit = new Command('audit').description('verify and show who listed and changed what')
  audit
    .command('verify')
    .description('check that no line was changed, removed or added since it was written')
    .argument('[DIR]', 'audit directory (HICKORY_AUDIT)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', VERIFY_HELP)
    .action(verify)
  audit
    .command('show')
    .description('print lines of an audit')
    .argument('[DIR]', 'audit directory (HICKORY_AUDIT)')
    .option('--since <TIME>', 'lines from a time on: 90s, 30m, 2h, 7d ago, or 2026-11-22T18:00Z')
    .option('--operation <NAME>', 'lines of one operation, command or event')
    .option('--key <NAME>', 'lines of one key')
    .option('--json', 'print the lines as they were written')
    .addHelpText('after', SHOW_HELP)
    .action((given: string | undefined, flags: ShowFlags) => {
      const directory = directoryOf(given)
      assertAudit(directory)
      return showAudit(directory, flags)
    })
  return audit
}

const VERIFY_HELP = `
Each line carries the SHA-256 of the line before it, and the directory \`head\` says which line is the last
one. The command names the first file and line that is not as it was written, and ends with exit code 12.
A service may write meanwhile. Whoever can write to the directory can write all of it anew: note the last
sequence and hash elsewhere, as this command prints them, to find that, too.

Example:
  $ hickory audit verify /var/log/hickory/audit
`

const SHOW_HELP = `
A list and a change have two lines: \`begun\`, written before anything was sent or changed, and \`ended\`. The
command does not verify what it prints.

Example:
  $ hickory audit show /var/log/hickory/audit --since 2h --operation RecipientRequest
`

async function verify(given: string | undefined, { json }: { json?: true }): Promise<void> {
  const directory = directoryOf(given)
  assertAudit(directory)
  const verdict = await verifyAudit(directory)
  const { damage, fileCount, lineCount, firstSequence, last, behindBytes } = verdict
  if (json === true) print(JSON.stringify({ isWhole: damage === undefined, ...verdict }))
  if (damage !== undefined) {
    const { file, line, problem } = damage
    const place = [file, ...(line === undefined ? [] : [`line ${line}`])].join(', ')
    const good =
      lineCount === 0 ? '' : `; the ${lineCount} lines before it are as they were written`
    throw new OperatorError(
      'AuditDamaged',
      `the audit ${directory} is not as it was written: ${place} ${problem}${good}`.replace(
        ': ,',
        ':',
      ),
    )
  }
  if (json === true) return
  print(`files      ${fileCount}`)
  print(`lines      ${lineCount}, from ${firstSequence} on`)
  print(`last       ${last.sequence} ${last.hash}`)
  if (behindBytes > 0)
    print(`behind it  ${behindBytes} bytes that are being written, or that a writer left`)
}

/** @throws OperatorError  Usage, where no audit ever was */
function assertAudit(directory: string): void {
  const isThere = existsSync(directory) && statSync(directory).isDirectory()
  if (isThere && readdirSync(directory).some((name) => /^(audit-|head$)/.test(name))) return
  const problem = isThere ? 'holds no audit' : 'is no directory'
  throw new OperatorError('Usage', `${directory} ${problem}: name the --audit of the service`)
}

function directoryOf(given: string | undefined): string {
  const { audit } = readValues({ audit: given })
  if (audit !== undefined) return audit
  throw new OperatorError('Usage', 'name the audit directory, or set HICKORY_AUDIT')
}
