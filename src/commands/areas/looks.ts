/**
 * `hickory areas list` and `hickory areas show`: what the gazetteer has.
 *
 * @module
 */
import type { Command } from 'commander'
import type { CommandContext } from '../context.js'

export function addLooks(_command: Command, _context: CommandContext): void {}
