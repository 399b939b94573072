/**
 * Runs the `hickory` command in this process, which spares each call the start of an interpreter.
 *
 * @module
 */
import { commands } from '../../../src/commands/all.js'
import { runCommandLine } from '../../../src/commands/command-line.js'
import { setQuiet } from '../../../src/commands/output.js'
import type { Finished } from './hickory.js'

/** One call at a time: what is printed meanwhile is taken for its output. */
export async function hickoryHere(...args: readonly string[]): Promise<Finished> {
  const stdout = captured(process.stdout)
  const stderr = captured(process.stderr)
  const listeners = process.stdout.listeners('error')
  try {
    const code = await runCommandLine(commands, args)
    return { code, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    // For a command, `--quiet` holds as long as its process.
    setQuiet(false)
    stdout.restore()
    stderr.restore()
    const added = process.stdout.listeners('error').filter((one) => !listeners.includes(one))
    for (const listener of added) process.stdout.off('error', listener as () => void)
  }
}

function captured(stream: NodeJS.WriteStream): { text: () => string; restore: () => void } {
  const { write } = stream
  let text = ''
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    text += Buffer.from(chunk as string).toString()
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done as () => void)
    return true
  }
  return {
    text: () => text,
    restore: () => {
      stream.write = write
    },
  }
}
