/**
 * The forms of a Guid.
 *
 * @module
 */
import t from 'tap'
import { newGuid, parseGuid } from '../../src/store/guid.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const DASHED = '4c1f9a2e-7b6d-4e0f-9a3b-5c8d1e2f7a60'

t.test('every usual form is understood, in any case', async (t) => {
  for (const form of [ID, DASHED, `{${DASHED}}`, `(${DASHED})`]) {
    t.equal(parseGuid(form), ID, form)
    t.equal(parseGuid(form.toUpperCase()), ID, form)
  }
})

t.test('nothing else is', async (t) => {
  const invalid = ['', 'x', `${ID}0`, ID.slice(1), `{${ID}}`, `{${DASHED})`, `{${DASHED}`]
  for (const text of [...invalid, ` ${DASHED}`, `${DASHED}\n`, DASHED.replace('4', 'g')]) {
    t.equal(parseGuid(text), undefined, text)
  }
})

t.test('new ones are Guids, and not the same', async (t) => {
  const [left, right] = [newGuid(), newGuid()]
  t.equal(parseGuid(left), left)
  t.not(left, right)
})
