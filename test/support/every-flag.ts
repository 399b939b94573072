/**
 * Every flag of every command, as commander has them.
 *
 * @module
 */
import type { Command } from 'commander'
import { commands } from '../../src/commands/all.js'
import { wholeProgram } from '../../src/commands/command-line.js'

interface FlagOf {
  /** Such as `hickory keys create`. */
  readonly path: string
  readonly flag: string
}

export async function everyFlag(): Promise<FlagOf[]> {
  const below = (command: Command, above: string): FlagOf[] => {
    const path = `${above}${command.name()}`
    const flags = command.options.flatMap(({ short, long }) => [short, long])
    return [
      ...flags.filter((flag) => flag !== undefined).map((flag) => ({ path, flag })),
      ...command.commands.flatMap((sub) => below(sub, `${path} `)),
    ]
  }
  return below(await wholeProgram(commands), '')
}
