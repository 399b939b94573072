/**
 * Which engine there is to be, and what it can do here.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import type { Engine, EngineName } from './engine.js'

/** @throws OperatorError  when it cannot be loaded here */
export async function loadEngine(name: EngineName): Promise<Engine> {
  if (name === 'node') return (await import('./node.js')).nodeHttp
  try {
    return (await import('./addon.js')).addon
  } catch {
    throw new OperatorError('Usage', `--http-engine uws is not there for ${HERE}. ${INSTEAD}`)
  }
}

/** The addon where it has a binary, `node:http` elsewhere. */
export async function bestEngine(): Promise<Engine> {
  try {
    return await loadEngine('uws')
  } catch {
    return await loadEngine('node')
  }
}

/**
 * Whether several threads or processes can listen on one port at the same time by `node:net` (the option
 * `reusePort`).
 */
export function sharesPorts(): boolean {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return process.platform === 'linux' && (major > 22 || (major === 22 && minor >= 12))
}

const HERE = `Node.js ${process.versions.node} on ${process.platform} ${process.arch}`

const INSTEAD =
  'Use Node.js 22, which it has a binary for on Linux with glibc, macOS and Windows, or leave the setting out'
