/**
 * `hickory completion`: prints what makes a shell complete the commands, made from the commands.
 *
 * @module
 */
import { Argument, Command } from 'commander'
import { describe } from '../described.js'
import { print } from '../output.js'
import { bashCompletion } from './bash.js'
import { zshCompletion } from './zsh.js'

const shells = { bash: bashCompletion, zsh: zshCompletion } as const

type Shell = keyof typeof shells

export function completionCommand(): Command {
  return new Command('completion')
    .description('print what makes a shell complete commands, flags and files')
    .addArgument(new Argument('<SHELL>', 'shell that reads it').choices(Object.keys(shells)))
    .addHelpText('after', HELP_TAIL)
    .action((shell: Shell, _: object, { parent }: Command) => {
      // The program, which has all commands for the sake of this one.
      if (parent !== null) print(shells[shell](describe(parent)).trimEnd())
    })
}

const HELP_TAIL = `
The text is the same until another release is installed. It starts no program when a key is pressed.

Examples:
  $ source <(hickory completion bash)                                  # for this shell
  $ hickory completion bash > /etc/bash_completion.d/hickory           # for all, as root
  $ hickory completion zsh > /usr/local/share/zsh/site-functions/_hickory
`
