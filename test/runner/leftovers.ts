/**
 * What a test file leaves in its process for the files after it: handles, listeners, globals, limits, the environment.
 *
 * @module
 */
import { getPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/limits.js'

/** A stream or a worker that was closed needs some turns to go. */
const GRACE_MS = 1_000
const LOOK_MS = 10

/** The runner's own, and what libraries make once for a process. */
const KEPT_GLOBALS = /^(hickoryFileTest|__lmdb_)/

type Counts = ReadonlyMap<string, number>

/** Made before a file runs; asked after it. */
export class Leftovers {
  readonly #handles = handles()
  readonly #listeners = listeners()
  readonly #globals = globals()
  readonly #environment = { ...process.env }
  readonly #limits: Readonly<Record<string, unknown>> = { ...limits }
  readonly #priority = getPriority()
  readonly #directory = process.cwd()

  /** Each in words, such as `2 × Timeout`; what goes by itself within a second does not count. */
  async left(): Promise<string[]> {
    const endMs = performance.now() + GRACE_MS
    let more = added(this.#handles, handles())
    while (more.length > 0 && performance.now() < endMs) {
      await sleep(LOOK_MS, undefined, { ref: false })
      more = added(this.#handles, handles())
    }
    return [
      ...more,
      ...added(this.#listeners, listeners()).map((what) => `${what} listeners of the process`),
      ...this.#changedGlobals(),
      ...this.#changedLimits(),
      ...this.#changedEnvironment(),
      ...(getPriority() === this.#priority ? [] : ['another priority']),
      ...(process.cwd() === this.#directory ? [] : ['another working directory']),
    ]
  }

  #changedGlobals(): string[] {
    const isChanged = ([name, now]: [string, PropertyDescriptor]) => {
      const before = this.#globals.get(name)
      // Node.js itself replaces a getter by its value when it is first read.
      return (
        before === undefined || (before.get === undefined && !Object.is(before.value, now.value))
      )
    }
    return [...globals()].filter(isChanged).map(([name]) => `a changed global ${name}`)
  }

  #changedLimits(): string[] {
    return Object.entries(limits)
      .filter(([name, now]) => now !== this.#limits[name])
      .map(([name]) => `a changed limit ${name}`)
  }

  #changedEnvironment(): string[] {
    const names = new Set([...Object.keys(process.env), ...Object.keys(this.#environment)])
    return [...names]
      .filter((name) => process.env[name] !== this.#environment[name])
      .map((name) => `a changed variable ${name}`)
  }
}

function handles(): Counts {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** Without those for the end of the process, which modules add once when they are loaded. */
function listeners(): Counts {
  const names = process.eventNames().filter((name) => name !== 'exit')
  return new Map(names.map((name) => [String(name), process.listenerCount(name)]))
}

function globals(): ReadonlyMap<string, PropertyDescriptor> {
  const own = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
  return new Map(own.filter(([name]) => !KEPT_GLOBALS.test(name)))
}

function added(before: Counts, after: Counts): string[] {
  return [...after]
    .filter(([kind, count]) => count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} × ${kind}`)
}
