/**
 * Each mistake is made for real: the message says what is wrong, where, and what to do, and the page
 * shows it.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { makeMistakes, pageFile, pageText } from './page.js'

t.test('a mistake is told with what is wrong, where, and what to do', async (t) => {
  const made = await makeMistakes()
  t.ok(made.length >= 40)
  for (const { what, args, code, says, message, run } of made) {
    t.equal(run.code, code, `${args}: ${run.stderr}`)
    t.match(message, code === 0 ? /^hickory: warning: / : /^hickory: /, args)
    t.equal(message.split('\n').length, 1, `${what}: one line`)
    for (const part of Object.values(says)) t.match(message, part, args)
    t.notMatch(run.stdout + run.stderr, /99955501/, `${what}: no number is told`)
  }
  t.equal(
    readFileSync(pageFile, 'utf8'),
    pageText(made),
    '`npm run mistakes` writes the page again',
  )
})
