/**
 * Loaded before a script (`node --import …/report-peak.js?file=PATH`): when the process ends, writes
 * the most memory that it held to the file.
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = new URL(import.meta.url).searchParams.get('file')
if (isMainThread && path !== null) {
  process.on('exit', () => writeFileSync(path, `${peakBytes()}`))
}

function peakBytes(): number {
  const status = '/proc/self/status'
  const found = existsSync(status)
    ? /^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync(status, 'utf8'))
    : null
  // The other figure may be that of the process which started this one.
  return 1024 * (found === null ? process.resourceUsage().maxRSS : Number(found[1]))
}
