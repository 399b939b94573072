/**
 * What the figures were measured on.
 *
 * @module
 */
import { arch, availableParallelism, cpus, platform } from 'node:os'

export function machineLine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `${model}, ${availableParallelism()} cores, ${platform()} ${arch()}, node ${process.version}`
}
