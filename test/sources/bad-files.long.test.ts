import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { readRows } from '../support/data/read-files.js'
import { runSql, writeEveryFormat } from '../support/data/recipient-files.js'

function readFile(t: Test, name: string, content: string | Uint8Array) {
  const path = join(t.testdir({}), name)
  writeFileSync(path, content)
  return readRows([path])
}

t.test('what is not a file of recipients is refused, and its name told', async (t) => {
  const feature = '{"type":"Feature","geometry":null,"properties":{"number":"1"}}'
  const cases: [name: string, content: string | Uint8Array, message: RegExp][] = [
    ['a.ndjson', '', /a\.ndjson is empty/],
    ['a.parquet', '', /is empty/],
    ['a.parquet', 'number,lat,lng\n', /not Parquet/],
    ['a.parquet', 'PAR1PAR1', /cannot be read as Parquet/],
    ['a.parquet.gz', gzipSync('PAR1'), /gzip around Parquet/],
    ['a.json', '[]', /one JSON array.*jq/],
    ['a.json', '[\n{"number":"1"}]', /one JSON array/],
    ['a.ndjson', Buffer.from('{"a":1}', 'utf16le'), /UTF-16/],
    ['a.ndjson', '{}\n{}\n', /no column "number"/],
    ['a.ndjson', '{"number":"1","LAT":1,"lat2":2}', /no column "lng".*LAT, lat2/],
    ['a.geojson', '{"type":"FeatureCollection"}', /no "features"/],
    ['a.geojson', `{"type":"FeatureCollection","features":[${feature}`, /cut off/],
    ['a.geojson', `{"type":"FeatureCollection","features":[${feature},]}`, /comma/],
    ['a.geojson', `{"type":"FeatureCollection","features":[,]}`, /comma/],
    ['a.geojson', `{"type":"FeatureCollection","features":[${feature}]} x`, /not JSON/],
    ['a.geojson', `{"type":"FeatureCollection","features":[${feature}}}`, /bracket/],
    ['a.geojson', `{\n"type":"FeatureCollection","features":[],"features":[]}`, /two lists/],
  ]
  for (const [name, content, message] of cases) {
    await t.rejects(readFile(t, name, content), { code: 'InputRejected', message }, `${message}`)
  }
})

t.test('a collection without features has no recipients', async (t) => {
  const read = await readFile(t, 'a.geojson', '{"type":"FeatureCollection","features":[ ]}')
  t.match(read, { rowCount: 0, acceptedCount: 0 })
})

t.test('what a collection has beside its features is bounded', async (t) => {
  const feature =
    '{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"number":"1"}}'
  const make = (byteCount: number) => {
    const frame = '{"type":"FeatureCollection","x":"","features":[]}'
    const pad = 'x'.repeat(byteCount - frame.length)
    return `{"type":"FeatureCollection","x":"${pad}","features":[${feature}]}`
  }
  const most = limits.collectionFrameBytes
  t.equal((await readFile(t, 'a.geojson', make(most))).acceptedCount, 1)
  const failed = readFile(t, 'a.geojson', make(most + 1))
  await t.rejects(failed, { code: 'InputRejected', message: /one feature a line/ })
})

t.test('a cut or damaged file is refused, or nothing of it is lost', async (t) => {
  const directory = t.testdir({})
  const rows = Array.from({ length: 500 }, (_, index) => ({
    ...{ number: `+999${index * 7919}`, lat: (index % 180) - 90, lng: index % 180 },
    contact: `c${index}`,
  }))
  const names = await writeEveryFormat(directory, rows)
  const damageCount = 12
  for (const name of names.filter((name) => /\.(gz|zst|parquet)$/.test(name))) {
    const content = readFileSync(join(directory, name))
    const path = join(directory, `cut-${name}`)
    for (const share of [0.1, 0.5, 0.9, 0.999]) {
      writeFileSync(path, content.subarray(0, Math.floor(content.length * share)))
      await t.rejects(readRows([path]), { code: 'InputRejected' }, `${name} at ${share}`)
    }
    for (let at = 4; at < content.length; at += Math.ceil(content.length / damageCount)) {
      const damaged = Buffer.from(content)
      damaged[at] ^= 4
      writeFileSync(path, damaged)
      const read = await readRows([path]).catch((error: { code: string }) => error.code)
      if (typeof read === 'string') t.equal(read, 'InputRejected', `${name} at ${at}`)
      // A checksum over all of it is there in gzip alone.
      else t.notOk(name.endsWith('.gz') && at > 10 && at < content.length - 8, `${name} at ${at}`)
    }
  }
})

t.test('messages do not repeat what may be data', async (t) => {
  const path = join(t.testdir({}), 'a.parquet')
  await runSql(`COPY (SELECT 1 AS "+999123456", 2 AS lat) TO '${path}' (FORMAT parquet)`)
  const failure = await readRows([path]).catch((error: Error) => error.message)
  t.match(failure, /found \?, lat/)
  t.notMatch(failure, /999123456/)
})
