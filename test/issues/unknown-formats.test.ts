import t from 'tap'
import { negotiate } from '../../src/format/negotiate.js'

const hints = {
  pathFormat: undefined,
  suffix: undefined,
  accept: undefined,
  contentType: undefined,
}

/** `?format=xml` was answered in JSON with status 200, and so was `?format=geojson`. */
t.test('a format that is not known is refused, by the names of those that are', async (t) => {
  for (const format of ['xml', 'geo+json', 'cvs', 'parquet']) {
    t.throws(() => negotiate({ ...hints, query: new URLSearchParams({ format }) }), {
      code: 'InvalidRequest',
      message: /json, csv, ndjson or geojson/,
      field: 'format',
    })
  }
  t.equal(negotiate({ ...hints, query: new URLSearchParams('format=geojson') }), 'geojson')
})
