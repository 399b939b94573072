/**
 * Runs this program as a process of its own, as a user would: what ends it, such as a library that this processor
 * cannot run, is then told as a finding.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readEnvironment } from '../../config.js'
import { limits } from '../../limits.js'

export interface Program {
  readonly ended: Promise<Ended>
  /** Resolves with the first line of standard error that has a text; undefined where it ends without one. */
  lineWith(text: string): Promise<string | undefined>
  /** Asks it to end. */
  stop(): void
}

interface Ended {
  /** Undefined where a signal ended it, or it could not be started. */
  readonly code: number | undefined
  readonly stdout: string
  /** How it ended and the last that it said, for people. */
  readonly text: string
}

/** It ends at the latest with this process, and after `limits.selfTestMs`. */
export function startProgram(...args: readonly string[]): Program {
  const cli = fileURLToPath(new URL('../../cli.js', import.meta.url))
  const child = spawn(process.execPath, [cli, ...args], {
    env: withoutSettings(),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limits.selfTestMs,
    killSignal: 'SIGKILL',
  })
  const kill = () => child.kill('SIGKILL')
  // Before what it has written is removed.
  process.prependListener('exit', kill)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve) => {
    const end = (code: number | null, how: string) => {
      process.off('exit', kill)
      const said = stderr.trim().split('\n').at(-1) ?? ''
      resolve({ code: code ?? undefined, stdout, text: said === '' ? how : `${how}: ${said}` })
    }
    child.once('error', ({ message }) => end(null, `could not be started (${message})`))
    child.once('close', (code, signal) => end(code, `ended with ${code ?? signal}`))
  })
  return {
    ended,
    async lineWith(text) {
      const line = new Promise<string>((resolve) => {
        child.stderr.on('data', () => {
          const whole = stderr.slice(0, stderr.lastIndexOf('\n')).split('\n')
          const found = whole.find((each) => each.includes(text))
          if (found !== undefined) resolve(found)
        })
      })
      return await Promise.race([line, ended.then(() => undefined)])
    },
    stop: () => child.kill('SIGTERM'),
  }
}

/** Settings of somebody's service, such as keys or a port, are not for the self-test. */
function withoutSettings(): Record<string, string | undefined> {
  const variables = Object.entries(readEnvironment())
  return Object.fromEntries(
    variables.filter(([name]) => !name.toUpperCase().startsWith('HICKORY_')),
  )
}
