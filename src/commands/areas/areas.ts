/**
 * `hickory areas`: the gazetteer, whose areas requests call by their names.
 *
 * @module
 */
import { Command } from 'commander'
import type { CommandContext } from '../context.js'
import { addImport } from './import.js'
import { addLooks } from './looks.js'
import { addRemove } from './remove.js'

export function areasCommand(context: CommandContext): Command {
  const command = new Command('areas')
    .description('keep the areas that requests call by their names, such as counties')
    .addHelpText('after', HELP_TAIL)
  addImport(command, context)
  addLooks(command, context)
  addRemove(command, context)
  return command
}

const HELP_TAIL = `
An area is in a layer, and has a key there: counties:48201. It may have aliases, which are names without a
layer: SAME:048201. Each command that changes the gazetteer writes a new version of it beside the one that is
served, verifies it, and makes it current; services of the data directory follow by themselves.

Examples:
  $ hickory areas import --layer counties --key GEOID --name NAMELSAD --alias 'SAME=0{GEOID}' counties.zip
  $ hickory areas list
  $ hickory areas show SAME:048201
  $ hickory areas remove counties
`
