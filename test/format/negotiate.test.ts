/**
 * Which format an answer is written in.
 *
 * @module
 */
import t from 'tap'
import type { Format } from '../../src/format/formats.js'
import { type FormatHints, layoutOf, negotiate } from '../../src/format/negotiate.js'

type Case = [
  hints: Partial<Omit<FormatHints, 'query'>> & { query?: string },
  expected: Format,
  why: string,
]

const tables: Record<string, readonly Case[]> = {
  'a path of its own: suffix, callback, format=, Accept, JSON': [
    [{}, 'json', 'nothing is said'],
    [{ suffix: 'csv' }, 'csv', 'the suffix'],
    [{ suffix: 'csv', query: 'format=json', accept: 'application/json' }, 'csv', 'suffix first'],
    [{ suffix: 'json', query: 'format=csv', accept: 'text/csv' }, 'json', 'suffix first'],
    [{ suffix: 'csv', query: 'callback=cb' }, 'csv', 'only the suffix beats the callback'],
    [{ query: 'callback=cb&format=csv' }, 'json', 'a callback calls for JSON'],
    [{ query: 'CALLBACK=cb', accept: 'text/csv' }, 'json', 'keys in any case'],
    [{ query: 'callback=&format=csv' }, 'csv', 'an empty callback is none'],
    [{ query: 'format=csv', accept: 'application/json' }, 'csv', 'format= beats Accept'],
    [{ query: 'format=json', accept: 'text/csv' }, 'json', 'format= beats Accept'],
    [{ accept: 'text/csv' }, 'csv', 'Accept'],
  ],
  'a path of all operations: callback, format=, the path; Accept is not looked at': [
    [{ pathFormat: 'json' }, 'json', 'the path'],
    [{ pathFormat: 'csv' }, 'csv', 'the path'],
    [{ pathFormat: 'json', accept: 'text/csv' }, 'json', 'not Accept'],
    [{ pathFormat: 'csv', accept: 'application/json' }, 'csv', 'not Accept'],
    [{ pathFormat: 'csv', contentType: 'application/json' }, 'csv', 'not Content-Type'],
    [{ pathFormat: 'csv', query: 'format=json' }, 'json', 'format= beats the path'],
    [{ pathFormat: 'json', query: 'format=csv' }, 'csv', 'format= beats the path'],
    [{ pathFormat: 'csv', query: 'callback=cb' }, 'json', 'a callback beats the path'],
    [{ pathFormat: 'json', query: 'callback=cb&format=csv' }, 'json', 'and format='],
  ],
  'format= in any case, cut at the first dot': [
    [{ query: 'FORMAT=CSV' }, 'csv', 'key and value in any case'],
    [{ query: 'a=1&Format=Csv' }, 'csv', 'among others'],
    [{ query: 'format=csv.gz' }, 'csv', 'cut at the dot'],
    [{ query: 'format=&format=csv' }, 'csv', 'the one with a value'],
    [{ query: 'format=&x=1', accept: 'text/csv' }, 'csv', 'without a value it is none'],
    [{ query: 'format=ndjson' }, 'ndjson', 'lines'],
    [{ query: 'Format=NDJSON.gz' }, 'ndjson', 'in any case, cut at the dot'],
    [{ query: 'format=GeoJSON' }, 'geojson', 'features'],
  ],
  'Accept: CSV only where it is named and JSON is not acceptable': [
    [{ accept: '' }, 'json', 'empty'],
    [{ accept: 'TEXT/CSV' }, 'csv', 'any case'],
    [{ accept: 'text/csv; charset=utf-8' }, 'csv', 'parameters'],
    [{ accept: 'text/csv;header=present;q=0.1' }, 'csv', 'weights are not looked at'],
    [{ accept: 'text/csv, text/html' }, 'csv', 'what is not known aside'],
    [{ accept: 'image/png , text/csv' }, 'csv', 'spaces'],
    [{ accept: 'text/csv,application/json' }, 'json', 'order is not looked at'],
    [{ accept: 'application/json;q=0.1,text/csv;q=0.9' }, 'json', 'nor weights'],
    [{ accept: 'text/csv, Application/JSON; charset=utf-8' }, 'json', 'JSON is preferred'],
    [{ accept: 'text/csv,*/*;q=0.1' }, 'json', 'anything comes before CSV'],
    [{ accept: '*/*' }, 'json', 'anything'],
    [{ accept: 'text/json' }, 'json', 'no name of JSON here: the default'],
    [{ accept: 'text/csv,application/*' }, 'csv', 'no name of JSON either'],
    [{ accept: 'text/*' }, 'json', 'nothing matches: the default'],
    [{ accept: 'image/png' }, 'json', 'never 406'],
    [{ accept: 'text/csvx' }, 'csv', 'compared by how it begins'],
    [{ accept: 'nonsense;;,,' }, 'json', 'nonsense'],
  ],
  'NDJSON only where it is asked for, and nothing goes before it that goes before CSV': [
    [{ accept: 'application/x-ndjson' }, 'ndjson', 'its usual name'],
    [{ accept: 'Application/NDJSON; charset=utf-8' }, 'ndjson', 'its other name, in any case'],
    [{ accept: 'text/html, application/x-ndjson;q=0.1' }, 'ndjson', 'what is not known aside'],
    [{ accept: 'application/x-ndjson,application/json' }, 'json', 'JSON is preferred'],
    [{ accept: 'application/x-ndjson,*/*' }, 'json', 'anything comes before it'],
    [{ accept: 'application/x-ndjson,text/csv' }, 'csv', 'and CSV'],
    [{ accept: 'application/x-ndjson', query: 'format=json' }, 'json', 'format= beats Accept'],
    [{ accept: 'application/x-ndjson', pathFormat: 'json' }, 'json', 'so does the path'],
    [{ pathFormat: 'csv', query: 'format=ndjson' }, 'ndjson', 'which format= beats'],
    [{ suffix: 'csv', query: 'format=ndjson' }, 'csv', 'suffix first'],
    [{ query: 'callback=cb&format=ndjson' }, 'json', 'a callback calls for JSON'],
    [{ accept: 'application/x-ndjson', query: 'callback=cb' }, 'json', 'also beside Accept'],
    [{ contentType: 'application/x-ndjson' }, 'json', 'requests are not written in it'],
  ],
  'GeoJSON only where it is asked for, and a script can hold it': [
    [{ accept: 'application/geo+json' }, 'geojson', 'its usual name'],
    [{ accept: 'Application/vnd.geo+json; charset=utf-8' }, 'geojson', 'its former name'],
    [{ accept: 'application/geo+json,application/json' }, 'json', 'JSON is preferred'],
    [{ accept: 'application/geo+json, */*;q=0.1' }, 'json', 'anything comes before it'],
    [{ suffix: 'geojson', query: 'format=csv' }, 'geojson', 'suffix first'],
    [{ query: 'callback=cb&format=geojson' }, 'geojson', 'it is JSON'],
    [{ accept: 'application/geo+json', query: 'callback=cb' }, 'json', 'not by Accept'],
    [{ contentType: 'application/geo+json' }, 'json', 'who draws in it does not ask for it'],
  ],
  'who takes anything gets what the request is written in': [
    [{ accept: '*/*', contentType: 'text/csv' }, 'csv', 'CSV'],
    [{ accept: '*/*;q=0.1, text/html', contentType: 'Text/CSV; charset=utf-8' }, 'csv', 'CSV'],
    [{ contentType: 'text/csv' }, 'csv', 'no Accept is anything'],
    [{ accept: '*/*', contentType: 'application/json' }, 'json', 'JSON'],
    [{ accept: '*/*', contentType: 'application/x-www-form-urlencoded' }, 'json', 'forms'],
    [{ accept: '*/*', contentType: 'text/plain' }, 'json', 'what is not known'],
    [{ accept: 'application/json', contentType: 'text/csv' }, 'json', 'but not who names JSON'],
    [{ accept: 'image/png', contentType: 'text/csv' }, 'json', 'nor who takes neither'],
  ],
}

for (const [title, cases] of Object.entries(tables)) {
  t.test(title, async (t) => {
    for (const [{ query, ...hints }, expected, why] of cases) {
      const format = negotiate({
        pathFormat: undefined,
        suffix: undefined,
        accept: undefined,
        contentType: undefined,
        ...hints,
        query: new URLSearchParams(query),
      })
      t.equal(format, expected, `${why}: ${JSON.stringify({ ...hints, query })}`)
    }
  })
}

t.test('a format that is not known is refused', async (t) => {
  const queries = ['bogus', 'xml', 'x-ndjson', '.csv', 'csvx', 'geo+json', 'constructor']
  for (const value of queries) {
    const hints = {
      pathFormat: undefined,
      suffix: undefined,
      query: new URLSearchParams({ format: value }),
      accept: 'text/csv',
      contentType: undefined,
    }
    const fault = { code: 'InvalidRequest', field: 'format' }
    t.throws(() => negotiate(hints), fault, value)
    t.throws(() => negotiate({ ...hints, suffix: 'csv' }), fault, value)
  }
})

t.test('layout= is read in any case, flat by default, and nothing else is guessed', async (t) => {
  const cases: [query: string, layout: string | undefined][] = [
    ['', 'flat'],
    ['layout=', 'flat'],
    ['layout=flat', 'flat'],
    ['layout=sources', 'sources'],
    ['LAYOUT=Sources', 'sources'],
    ['layout=&layout=sources', 'sources'],
    ['layout=source', undefined],
    ['layout=nested', undefined],
  ]
  for (const [text, layout] of cases) {
    const query = new URLSearchParams(text)
    if (layout !== undefined) t.equal(layoutOf(query), layout, text)
    else t.throws(() => layoutOf(query), { code: 'InvalidRequest', field: 'layout' }, text)
  }
})
