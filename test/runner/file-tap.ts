/**
 * Stands for `tap` in a lane: each use goes to the file that is running, also from modules that files share.
 *
 * @module
 */
import type { Test } from 'tap'

const shared = globalThis as { hickoryFileTest?: Test }

const current = new Proxy({} as Test, {
  get(_, name) {
    const test = shared.hickoryFileTest
    if (test === undefined) return notRunning
    const member: unknown = Reflect.get(test, name, test)
    return typeof member === 'function' ? member.bind(test) : member
  },
})

/** tap itself takes its methods once, before there is a file. */
function notRunning(): never {
  throw new Error('a test is asked for after its file has ended')
}

// tap exports what is here, where an earlier copy of it has left its test. Hooks of the loader would have each import
// wait for a second thread.
Object.assign(globalThis, { [Symbol.for('TAP private constructor')]: current })
