/**
 * Arguments that are not UTF-8, such as names of files that a machine of another encoding wrote. Node.js hands them over
 * with U+FFFD in place of what it cannot read, so that another file would be read or made.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { OperatorError } from '../errors.js'

const LOST = '\ufffd'

/**
 * @param given  the bytes of the command line, where the system tells them
 * @throws OperatorError  Usage
 */
export function assertUtf8(args: readonly string[], given = commandLineBytes()): void {
  const lost = args.find((arg) => arg.includes(LOST))
  // The name of a file may truly have the character.
  if (lost === undefined || given === undefined || isUtf8(given)) return
  throw new OperatorError(
    'Usage',
    `${lost} is not UTF-8 where ${LOST} stands: give the file or directory another name (mv), and name it anew`,
  )
}

function commandLineBytes(): Buffer | undefined {
  try {
    return readFileSync('/proc/self/cmdline')
  } catch {
    // Where there is no such file, names are Unicode.
    return undefined
  }
}
