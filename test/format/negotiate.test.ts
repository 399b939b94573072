/**
 * Which format an answer is written in.
 *
 * @module
 */
import t from 'tap'
import { type Format, negotiate } from '../../src/format/negotiate.js'

t.test('the suffix wins over the query, that over Accept, and JSON is the rest', async (t) => {
  const cases: [suffix: Format | undefined, query: string, accept: string, Format][] = [
    [undefined, '', '', 'json'],
    ['csv', '', '', 'csv'],
    ['csv', 'format=json', 'application/json', 'csv'],
    ['json', 'format=csv', 'text/csv', 'json'],
    [undefined, 'format=csv', 'application/json', 'csv'],
    [undefined, 'format=json', 'text/csv', 'json'],
    [undefined, '', 'text/csv', 'csv'],
  ]
  for (const [suffix, query, accept, expected] of cases) {
    const wishes = { suffix, query: new URLSearchParams(query), accept }
    t.equal(negotiate(wishes), expected, `${suffix} ?${query} ${accept}`)
  }
})

t.test('format= is read in any case, and what it does not know is JSON', async (t) => {
  const cases: [query: string, Format][] = [
    ['FORMAT=CSV', 'csv'],
    ['a=1&Format=Csv', 'csv'],
    ['format=csv.gz', 'csv'],
    ['format=csv&format=json', 'csv'],
    ['format=&format=csv', 'csv'],
    ['format=bogus', 'json'],
    ['format=xml', 'json'],
    ['format=.csv', 'json'],
    ['format=csvx', 'json'],
  ]
  for (const [query, expected] of cases) {
    const wishes = { suffix: undefined, query: new URLSearchParams(query), accept: 'text/csv' }
    t.equal(negotiate(wishes), expected, query)
  }
  const absent = {
    suffix: undefined,
    query: new URLSearchParams('format=&x=1'),
    accept: 'text/csv',
  }
  t.equal(negotiate(absent), 'csv', 'a format without a value is none')
})

t.test('Accept gives CSV only where it is named and JSON is not acceptable', async (t) => {
  const cases: [accept: string | undefined, Format][] = [
    [undefined, 'json'],
    ['', 'json'],
    ['text/csv', 'csv'],
    ['TEXT/CSV', 'csv'],
    ['text/csv; charset=utf-8', 'csv'],
    ['text/csv;header=present;q=0.1', 'csv'],
    ['text/csv, text/html', 'csv'],
    ['image/png , text/csv', 'csv'],
    ['text/csv,application/json', 'json'],
    ['application/json;q=0.1,text/csv;q=0.9', 'json'],
    ['text/csv, Application/JSON; charset=utf-8', 'json'],
    ['text/csv,application/*', 'json'],
    ['text/csv,*/*;q=0.1', 'json'],
    ['*/*', 'json'],
    ['text/*', 'json'],
    ['text/json', 'json'],
    ['image/png', 'json'],
    ['text/csvx', 'json'],
    ['nonsense;;,,', 'json'],
  ]
  for (const [accept, expected] of cases) {
    const wishes = { suffix: undefined, query: new URLSearchParams(), accept }
    t.equal(negotiate(wishes), expected, accept ?? 'absent')
  }
})
