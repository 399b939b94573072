/**
 * The table of formats, and what the description of the service says of them.
 *
 * @module
 */
import t from 'tap'
import { openApi } from '../../src/describe/open-api.js'
import type { Answer } from '../../src/format/answer.js'
import { formatNames, formats } from '../../src/format/formats.js'

const answer: Answer = {
  headers: {},
  heldBytes: 0,
  json: () => '{"a":1}',
  geoJson: () => '{"type":"FeatureCollection","features":[]}',
  csv: (layout) => `${layout}\r\n`,
  csvRecord: () => ({ header: '', row: '' }),
}

t.test('each format writes the form of an answer that is its own', async (t) => {
  const bodies = formatNames.map((name) => [name, formats[name].body(answer, 'sources')])
  t.same(Object.fromEntries(bodies), {
    json: '{"a":1}',
    csv: 'sources\r\n',
    ndjson: '{"a":1}\n',
    geojson: '{"type":"FeatureCollection","features":[]}',
  })
  const tags = formatNames.flatMap((name) => [
    formats[name].tag('flat'),
    formats[name].tag('sources'),
  ])
  const others = ['ndjson', 'ndjson', 'geojson', 'geojson']
  t.same(tags, ['json', 'json', 'csv-flat', 'csv-sources', ...others])
})

t.test('OpenAPI has the name and the type of each', async (t) => {
  const text = JSON.stringify(openApi('0.0.0'))
  t.ok(text.includes(JSON.stringify({ type: 'string', enum: formatNames })))
  const [, types = ''] = /"description":"Format of the answer,([^"]+)"/.exec(text) ?? []
  for (const name of formatNames) {
    const [type] = formats[name].contentType.split(';')
    t.ok(types.includes(type), type)
  }
})
