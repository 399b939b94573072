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
    if (test === undefined) throw new Error('a test is asked for after its file has ended')
    const member: unknown = Reflect.get(test, name, test)
    return typeof member === 'function' ? member.bind(test) : member
  },
})

// biome-ignore lint/style/noDefaultExport: this is how tap is imported.
export default current
