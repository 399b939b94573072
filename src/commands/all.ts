/**
 * Loads a sub-command only when it is called, or for its help.
 *
 * @module
 */
import type { CommandTable } from './command-line.js'

export const commands = {
  serve: async () => (await import('./serve.js')).serveCommand,
  import: async () => (await import('./import/import.js')).importCommand,
  apply: async () => (await import('./apply.js')).applyCommand,
  compact: async () => (await import('./compact.js')).compactCommand,
  follow: async () => (await import('./follow.js')).followCommand,
  inspect: async () => (await import('./inspect/inspect.js')).inspectCommand,
  verify: async () => (await import('./verify.js')).verifyCommand,
  rollback: async () => (await import('./rollback.js')).rollbackCommand,
  pin: async () => (await import('./pin.js')).pinCommand,
  unpin: async () => (await import('./pin.js')).unpinCommand,
  accept: async () => (await import('./accept.js')).acceptCommand,
  remove: async () => (await import('./remove.js')).removeCommand,
  suppress: async () => (await import('./suppress.js')).suppressCommand,
  keys: async () => (await import('./keys/keys.js')).keysCommand,
  areas: async () => (await import('./areas/areas.js')).areasCommand,
  audit: async () => (await import('./audit/audit.js')).auditCommand,
  cluster: async () => (await import('./cluster/cluster.js')).clusterCommand,
  doctor: async () => (await import('./doctor/doctor.js')).doctorCommand,
  backup: async () => (await import('./backup.js')).backupCommand,
  restore: async () => (await import('./restore.js')).restoreCommand,
  generate: async () => (await import('./generate.js')).generateCommand,
  cap: async () => (await import('./cap.js')).capCommand,
  completion: async () => (await import('./completion/completion.js')).completionCommand,
} as const satisfies CommandTable
