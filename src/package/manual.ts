/**
 * What is made from the commands for the people who call them: the page of the manual, and completions.
 *
 * @module
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { commands } from '../commands/all.js'
import { wholeProgram } from '../commands/command-line.js'
import { bashCompletion } from '../commands/completion/bash.js'
import { zshCompletion } from '../commands/completion/zsh.js'
import { describe } from '../commands/described.js'
import { readVersion } from '../version.js'
import { manPage } from './man-page.js'

/**
 * Writes them below a folder that systems know as `/usr/share`.
 *
 * @param timeS  of the page, in seconds since 1970
 */
export async function writeManual(root: string, share: string, timeS: number): Promise<void> {
  const program = describe(await wholeProgram(commands))
  const errorsText = await readFile(join(root, 'docs/errors.md'), 'utf8')
  const files = {
    'man/man1/hickory.1': manPage(program, { version: readVersion(), timeS, errorsText }),
    'bash-completion/completions/hickory': bashCompletion(program),
    'zsh/site-functions/_hickory': zshCompletion(program),
  }
  for (const [name, text] of Object.entries(files)) {
    const path = join(share, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}
