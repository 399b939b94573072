/**
 * `hickory areas remove`: takes a layer out of the gazetteer.
 *
 * @module
 */
import type { Command } from 'commander'
import type { CommandContext } from '../context.js'
import { print } from '../output.js'
import { DATA_OPTION, type DataFlag, existingData } from './data-option.js'
import { printWritten, writeOrEnd } from './written.js'

export function addRemove(command: Command, context: CommandContext): void {
  command
    .command('remove')
    .description('take a layer out; whoever still names its areas gets UnknownArea')
    .argument('<LAYER>', 'the layer, such as counties')
    .option(...DATA_OPTION)
    .action(async (layer: string, flags: DataFlag) => {
      const written = await writeOrEnd(existingData(context, flags), { remove: [layer] })
      context.record?.({ layer, areasVersion: written.version })
      print(`removed    ${layer}`)
      printWritten(written)
    })
}
