/**
 * The lines of commands in an audit: what changes a data directory, or takes numbers out of it, is recorded
 * before it begins and when it has ended.
 *
 * @module
 */
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { entryOf } from '../audit/entry.js'
import { AuditWriter } from '../audit/writer.js'
import { readValues } from '../config.js'
import { OperatorError } from '../errors.js'
import { readCurrent } from '../snapshot/directory.js'
import { isRefusal } from '../system-refusals.js'
import { warn } from './output.js'

/** Commands that are recorded, and the flags with which they only look. Those within another have its name, too. */
const RECORDED: Readonly<Record<string, readonly string[]>> = {
  import: ['dryRun'],
  suppress: ['count'],
  rollback: ['list'],
  pin: [],
  unpin: [],
  accept: [],
  remove: [],
  apply: [],
  compact: [],
  follow: [],
  backup: [],
  restore: [],
  'areas import': ['dryRun'],
  'areas remove': [],
  'keys create': [],
  'keys revoke': [],
  'keys rotate': [],
  'keys certificates': [],
}

export class CommandAudit {
  #begun: Begun | undefined
  #facts: Readonly<Record<string, unknown>> = {}

  /** Has a command recorded before it acts, if it is one that is, and there is an audit. */
  addTo(command: Command, parent = ''): void {
    const name = parent + command.name()
    for (const inner of command.commands) this.addTo(inner, `${name} `)
    const looking = RECORDED[name]
    if (looking === undefined) return
    command.option('--audit <DIR>', 'record the command in this directory (HICKORY_AUDIT)')
    command.hook('preAction', async () => {
      const flags = command.opts<Flags>()
      if (!looking.some((name) => flags[name] !== undefined))
        await this.#begin(name, command, flags)
    })
  }

  /** Takes what the command did; nothing of people. */
  record(facts: Readonly<Record<string, unknown>>): void {
    this.#facts = { ...this.#facts, ...facts }
  }

  /** To be called when the command is over. */
  async end(exitCode: number): Promise<void> {
    if (this.#begun === undefined) return
    const { writer, sequence, dataDirectory } = this.#begun
    const outcome = exitCode === 0 ? 'completed' : 'failed'
    const snapshotId = await currentId(dataDirectory)
    const ended = { begun: sequence, outcome, exitCode, snapshotId, ...this.#facts }
    try {
      writer.append([entryOf({ event: 'command', phase: 'ended', ...ended })])
    } catch (fault) {
      warn(`the end of this command could not be recorded: ${reasonOf(fault)}`)
    } finally {
      await writer.release()
    }
  }

  /** @throws OperatorError  when it cannot be recorded: then nothing is done */
  async #begin(name: string, { args }: Command, flags: Flags): Promise<void> {
    const given = Object.fromEntries(
      ['audit', 'data'].flatMap((each) => {
        const value = flags[each]
        return typeof value === 'string' ? [[each, value]] : []
      }),
    )
    const { audit: directory, auditKeepDays: keepDays, data: dataDirectory } = readValues(given)
    if (directory === undefined) return
    const writer = new AuditWriter({ directory, keepDays })
    const { source, scopes } = flags
    const about = {
      command: name,
      // Values may be passwords, numbers or the names of files of people.
      flags: Object.keys(flags).filter((name) => flags[name] !== undefined),
      sourceId: typeof source === 'string' && /^\d+$/.test(source) ? Number(source) : undefined,
      // Names and scopes of keys are no secrets.
      ...(name.startsWith('keys ') && { changedKey: flags.name ?? args[0], scopes }),
      pid: process.pid,
      user: userName(),
      dataDirectory,
      snapshotId: await currentId(dataDirectory),
    }
    try {
      writer.prepare()
      const { first } = writer.append([entryOf({ event: 'command', phase: 'begun', ...about })])
      this.#begun = { writer, sequence: first, dataDirectory }
    } catch (fault) {
      await writer.release()
      const problem = `the audit ${directory} cannot be written: ${reasonOf(fault)}`
      const advice = 'make room, or name another directory with --audit'
      throw new OperatorError('Failed', `${problem}: ${advice}. Nothing was done`, { cause: fault })
    }
  }
}

/** As they were given. */
type Flags = Readonly<Record<string, unknown>>

interface Begun {
  readonly writer: AuditWriter
  readonly sequence: number
  readonly dataDirectory: string
}

/** Undefined where there is none, or none that can be read. */
async function currentId(dataDirectory: string): Promise<string | undefined> {
  return await readCurrent(dataDirectory).catch(() => undefined)
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A user without an entry of the system.
    return String(process.getuid?.() ?? '')
  }
}

/** LMDB adds pages and sizes, which say nothing to an operator. */
function reasonOf(fault: unknown): string {
  if (isRefusal(fault) && fault.code === 'EEXIST') return `${fault.path} is no directory`
  return (fault as Error).message.replace(/: Attempting to write page.*$/s, '')
}
