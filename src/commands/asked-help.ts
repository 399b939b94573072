/**
 * A call for help in any order of its words, as commander answers it.
 *
 * @module
 */
import type { Command } from 'commander'

/**
 * `help keys create`, `keys help create` and `--help keys create` become `keys create --help`. For a command that
 * is unknown commander would print the help of the one above, so it becomes a call of that command, which is refused.
 */
export function askedHelp(program: Command, args: readonly string[]): readonly string[] {
  const path: string[] = []
  let command = program
  let isAsked = false
  for (const arg of args) {
    if (HELP_FLAGS.has(arg) || (arg === HELP_WORD && command.commands.length > 0)) {
      isAsked = true
      continue
    }
    if (arg.startsWith('-') || command.commands.length === 0) break
    path.push(arg)
    const sub = command.commands.find((one) => one.name() === arg)
    if (sub === undefined) return path
    command = sub
  }
  return isAsked ? [...path, '--help'] : args
}

/** The first word that is a command, or stands in its place. */
export function calledCommand(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-') && arg !== HELP_WORD)
}

const HELP_WORD = 'help'
const HELP_FLAGS: ReadonlySet<string> = new Set(['-h', '--help'])
