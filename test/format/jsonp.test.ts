/**
 * JSONP: which name is called, and with what.
 *
 * @module
 */
import t from 'tap'
import type { BodyWriter } from '../../src/format/answer.js'
import { callbackOf, jsonp } from '../../src/format/jsonp.js'
import { limits } from '../../src/limits.js'
import { bodyText } from '../support/service/body-text.js'

t.test('a callback that is not empty is taken, without dangerous signs', async (t) => {
  const cases: [query: string, callback: string | undefined][] = [
    ['', undefined],
    ['callback=', undefined],
    ['callback=cb', 'cb'],
    ['CallBack=cb', 'cb'],
    ['callback=&CALLBACK=b', 'b'],
    ['callback=my.cb', 'my.cb'],
    ['callback=alert(1)//', 'alert_1___'],
    ['callback=x.y[0]', 'x.y_0_'],
    ['callback=%3C/script%3E', '__script_'],
    ['callback=$', '_'],
    ['callback=jQuery111_123', 'jQuery111_123'],
    ['callback=%C3%A6', '_'],
    ['callback=%F0%9F%98%80', '__'],
    ['callback=a%0D%0Ab', 'a__b'],
  ]
  for (const [query, callback] of cases) {
    t.equal(callbackOf(new URLSearchParams(query)), callback, query)
  }
})

t.test('what no script can call by that name is refused', async (t) => {
  const badNames = ['1abc', '.', '.a', 'a.', 'a..b', 'a.1', '1.5', '.5']
  for (const name of [...badNames, 'a'.repeat(limits.callbackCharCount + 1)]) {
    const query = new URLSearchParams({ callback: name })
    const error = { code: 'InvalidRequest', status: 400, field: 'callback' }
    t.throws(() => callbackOf(query), error, name)
  }
  const longest = 'a'.repeat(limits.callbackCharCount)
  t.equal(callbackOf(new URLSearchParams({ callback: longest })), longest)
})

t.test('a body becomes the argument of a call, without a semicolon', async (t) => {
  t.equal(jsonp('my.cb', '{"A":1}'), 'my.cb({"A":1})')
  t.equal(await bodyText(jsonp('cb', Buffer.from('{"A":"é"}'))), 'cb({"A":"é"})')
  const body: BodyWriter = {
    async write(sink) {
      sink.write(Buffer.from('{"A":'))
      sink.write(Buffer.from('1}'))
    },
  }
  t.equal(await bodyText(jsonp('cb', body)), 'cb({"A":1})')
})
