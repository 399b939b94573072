/**
 * Servers that are not ours, such as proxies, run for a test.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import type { Owner } from './hickory.js'

/** Resolves when a port of this machine is listened on; ended with the test. */
export async function startProgram(
  t: Owner,
  command: string,
  args: readonly string[],
  port: number,
): Promise<ChildProcess> {
  // Where Debian has servers, and only root looks by itself.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  t.teardown(() => child.kill('SIGTERM'))
  let written = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      written += text
    })
  }
  let end: string | undefined
  child.once('error', (error) => {
    end = error.message
  })
  child.once('exit', (code) => {
    end = `it ended with ${code}`
  })
  const deadlineMs = performance.now() + 10_000
  while (!(await isListenedOn(port))) {
    if (end !== undefined || performance.now() > deadlineMs) {
      throw new Error(`${command} does not start: ${end ?? 'nobody listens'}: ${written}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return child
}

function isListenedOn(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
