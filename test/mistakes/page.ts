/**
 * The page of mistakes, as it follows from what the commands say.
 *
 * @module
 */
import { fileURLToPath } from 'node:url'
import type { Finished } from '../support/service/hickory.js'
import { type Mistake, mistakes } from './mistakes.js'
import { makeWorld } from './world.js'

export const pageFile = fileURLToPath(new URL('../../../docs/mistakes.md', import.meta.url))

export interface Made extends Mistake {
  readonly run: Finished
  /** What was said on standard error. */
  readonly message: string
}

/** Makes all mistakes: those of services in processes of their own, beside the others. */
export async function makeMistakes(): Promise<Made[]> {
  const world = await makeWorld()
  const makeSome = async (some: readonly Mistake[]) => {
    const made: Made[] = []
    for (const mistake of some) {
      const run = await world.run(mistake.args.split(' '))
      // Lines of the log are for machines.
      const lines = run.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
      made.push({ ...mistake, run, message: lines.join('\n') })
    }
    return made
  }
  try {
    const isOfService = ({ args }: Mistake) => args.startsWith('serve ')
    const made = await Promise.all([
      makeSome(mistakes.filter((mistake) => !isOfService(mistake))),
      makeSome(mistakes.filter(isOfService)),
    ])
    return made.flat()
  } finally {
    await world.remove()
  }
}

export function pageText(made: readonly Made[]): string {
  const rows = made.map(
    ({ what, args, code, message }) =>
      `| ${what} | ${codeText(`hickory ${args}`)} | ${codeText(message)} | ${code} |`,
  )
  return `${HEAD}${rows.join('\n')}\n`
}

/** Backticks within code take more of them around it. */
function codeText(text: string): string {
  const plain = text.replaceAll('|', '\\|')
  return text.includes('`') ? `\`\` ${plain} \`\`` : `\`${plain}\``
}

const HEAD = `# Mistakes

What an operator can get wrong, what the command says, and its exit code.

## Contents

- [The promise](#the-promise)
- [The table](#the-table)

## The promise

A message is one line on standard error that begins with \`hickory:\`. It says what is wrong, with the bad
value; where, such as a flag, a file or a line; and what to do. It never has a telephone number. A
warning says \`hickory: warning:\`, and the exit code is 0. [The exit codes](errors.md#errors-of-a-command)
are those of all commands.

\`npm run mistakes\` makes each of these mistakes and writes this page. A test holds the messages against the
promise, and the page against what the commands say.

## The table

The directory \`data\` has a snapshot with 20 recipients of source 1.

| mistake | command | message | exit code |
|---|---|---|---|
`
