/**
 * Runs a sub-command and turns a failure into a message and an exit code.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { Command, CommanderError, Option } from 'commander'
import { readValues } from '../config.js'
import { errorTables, OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { createLog, type Log } from '../log.js'
import { whyUnwritten } from '../system-refusals.js'
import { readVersion } from '../version.js'
import { assertUtf8 } from './argument-bytes.js'
import { askedHelp, calledCommand } from './asked-help.js'
import { CommandAudit } from './command-audit.js'
import type { CommandContext } from './context.js'
import { assertNoFile } from './existing-directory.js'
import { messageOf } from './failure-message.js'
import { installationFault } from './installation-fault.js'
import { setQuiet } from './output.js'

/** What a command may do to a process that is its own. */
type OwnProcess = Pick<CommandContext, 'lowerPriority' | 'endUnread'>

type CommandFactory = (context: CommandContext) => Command

/** How each sub-command is loaded, by its name. */
export type CommandTable = Readonly<Record<string, () => Promise<CommandFactory>>>

/**
 * @param args  without the interpreter and the script
 * @returns the exit code
 */
export async function runCommandLine(
  table: CommandTable,
  args: readonly string[],
  own: OwnProcess = {},
): Promise<number> {
  let unprinted: Error | undefined
  setQuiet(false)
  // A reader that has seen enough, as `| head` has, is no fault. Whatever it is, work goes on: what is
  // done with a disk must not depend on one that is full of what was printed.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unprinted ??= error
  })
  const audit = new CommandAudit()
  const exitCode = await runCommand(table, args, own, audit, () => unprinted)
  await audit.end(exitCode)
  return exitCode
}

async function runCommand(
  table: CommandTable,
  args: readonly string[],
  own: OwnProcess,
  audit: CommandAudit,
  unprintedOf: () => Error | undefined,
): Promise<number> {
  try {
    assertUtf8(args)
    const log = createLog(readValues({}).logLevel)
    const program = await createProgram(table, args, own, audit, log)
    await program.parseAsync(askedHelp(program, args), { from: 'user' })
    // The last line may fail after it was written.
    await setImmediate()
    const unprinted = unprintedOf()
    if (unprinted === undefined || LASTING.has(calledCommand(args) ?? '')) return 0
    throw new OperatorError('Failed', `done, but standard output ${whyUnwritten(unprinted)}`)
  } catch (error) {
    return report(error)
  }
}

/** With all commands, as a call of one has it; to be described, not to be run. */
export function wholeProgram(table: CommandTable): Promise<Command> {
  return createProgram(table, [], {}, new CommandAudit(), createLog('silent'))
}

async function createProgram(
  table: CommandTable,
  args: readonly string[],
  own: OwnProcess,
  audit: CommandAudit,
  log: Log,
): Promise<Command> {
  // Loading one command of them keeps the libraries of the others out of memory.
  const called = calledCommand(args)
  const program = new Command('hickory')
    .description('Who is inside this shape, exactly, now? Recipient selection for alerting.')
    .version(readVersion())
    .exitOverride()
  pointToHelp(program, 'hickory')
  const context: CommandContext = {
    dataDirectory: (flag) => assertNoFile(readValues({ data: flag }).data),
    log,
    record: (facts) => audit.record(facts),
    ...own,
  }
  program.hook('preAction', (_, command) => refuseEmpty(command))
  for (const name of toLoad(table, args, called)) {
    const create = await table[name]()
    const command = inherit(create(context), program, `hickory ${name}`)
    endsUnread(command, own)
    audit.addTo(command)
    if (QUIET_COMMANDS.has(name)) addQuiet(command, log)
    program.addCommand(command)
  }
  return program
}

function inherit(command: Command, above: Command, path: string): Command {
  command.copyInheritedSettings(above)
  pointToHelp(command, path)
  refuseTwice(command)
  for (const sub of command.commands) inherit(sub, command, `${path} ${sub.name()}`)
  return command
}

/** The last value of an option that is given twice would count, and the first one would do nothing. */
function refuseTwice(command: Command): void {
  for (const option of command.options) {
    // Those that collect their values are meant to be given often.
    const collects = option.parseArg !== undefined && option.argChoices === undefined
    if (option.isBoolean() || collects) continue
    let isGiven = false
    command.on(`option:${option.name()}`, () => {
      if (isGiven) {
        throw new OperatorError('Usage', `${option.long} is given twice: leave one of them out`)
      }
      isGiven = true
    })
  }
}

/** A script gives it where a variable of it is not set. A message about it would name nothing. */
function refuseEmpty(command: Command): void {
  const { args, options, registeredArguments } = command
  const index = args.indexOf('')
  const argument = registeredArguments[Math.min(index, registeredArguments.length - 1)]
  const option = options.find(
    (each) =>
      /<(FILE|DIR)>/.test(each.flags) && command.getOptionValue(each.attributeName()) === '',
  )
  const name = argument?.name() ?? option?.long
  if (name !== undefined)
    throw new OperatorError('Usage', `${name} must be a text that is not empty`)
}

function toLoad(table: CommandTable, args: readonly string[], called: string | undefined) {
  const isKnown = called !== undefined && Object.hasOwn(table, called)
  if (isKnown && called !== DESCRIBES_ALL) return [called]
  return VERSION_FLAGS.has(args[0]) ? [] : Object.keys(table)
}

const VERSION_FLAGS: ReadonlySet<string | undefined> = new Set(['-V', '--version'])

/** The command that prints something of all commands, and finds them in its parent. */
const DESCRIBES_ALL = 'completion'

/** What the parser of arguments says is one line like any other message, and names the help that has the options. */
function pointToHelp(command: Command, path: string): void {
  command.configureOutput({
    outputError: (text, write) => {
      const [problem = '', ...suggestions] = text
        .trim()
        .replace(/^error: /, '')
        .split('\n')
      const suggested = suggestions.map((line) => ` ${line.replace('Did', 'did')}`).join('')
      const what = `${problem.replace(/\.$/, '')}${suggested}`
      write(`hickory: ${what}; \`${path} --help\` says what is allowed\n`)
    },
  })
}

/** Those that a timer may start, and of which the exit code says what became of them. */
const QUIET_COMMANDS: ReadonlySet<string> = new Set([
  'import',
  'apply',
  'compact',
  'suppress',
  'verify',
  'rollback',
  'pin',
  'unpin',
  'accept',
  'remove',
  'backup',
  'restore',
  'generate',
])

function addQuiet(command: Command, log: Log): void {
  const asksForOutput = ['json', 'list', 'count', 'dryRun'].filter((name) =>
    command.options.some((option) => option.attributeName() === name),
  )
  const quiet = new Option('--quiet', 'print nothing as long as all is well')
  command.addOption(quiet.conflicts(asksForOutput))
  command.hook('preAction', () => {
    if (command.opts<{ quiet?: true }>().quiet !== true) return
    setQuiet(true)
    if (log.isLevelEnabled('info')) log.level = 'warn'
  })
}

/** Those that go on until they are told to stop. */
const LASTING: ReadonlySet<string> = new Set(['serve', 'follow'])

/** Those whose work is not what they print, and the flags with which it is. */
const WORKING: Readonly<Record<string, readonly string[]>> = {
  serve: [],
  follow: [],
  import: ['dryRun'],
  suppress: ['list', 'count'],
  rollback: ['list'],
  pin: [],
  unpin: [],
  accept: [],
  remove: [],
  apply: [],
  compact: [],
  backup: [],
  restore: [],
  generate: [],
  'areas import': ['dryRun'],
  'areas remove': [],
}

function endsUnread(command: Command, own: OwnProcess, parent = ''): void {
  const name = parent + command.name()
  for (const inner of command.commands) endsUnread(inner, own, `${name} `)
  const printing = WORKING[name]
  if (printing === undefined) return
  command.hook('preAction', () => {
    const flags = command.opts<Record<string, unknown>>()
    if (flags.out === '-' || printing.some((flag) => flags[flag] !== undefined)) return
    // Who tells a service to stop waits for its end.
    own.endUnread?.(LASTING.has(name) ? limits.logEndMs : limits.outputEndMs)
  })
}

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has written the message itself; help and version are not failures.
    return error.exitCode === 0 ? 0 : errorTables.operatorErrors.Usage
  }
  const fault = installationFault(error) ?? error
  process.stderr.write(`hickory: ${messageOf(fault)}\n`)
  return fault instanceof OperatorError ? fault.exitCode : errorTables.operatorErrors.Failed
}
