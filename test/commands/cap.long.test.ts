/**
 * `hickory cap` as a process: what it prints of an alert, all faults of a bad one, and its exit codes.
 *
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { areaOf, type Facts, factsOf, geocode, infoOf, writeAlert } from '../cap/writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const cli = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const directory = temporaryDirectory(t)
const LATER = '2999-05-25T16:49:00-07:00'

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'cap', ...args], {
    cwd: directory,
    encoding: 'utf8',
  })
  return { code: status, stdout, stderr }
}

function fileOf(name: string, text: string): string {
  writeFileSync(join(directory, name), text)
  return name
}

const head = factsOf([]).filter(([name]) => name !== 'info')
const info = (language: string, ...areas: readonly Facts[]): Facts => [
  'info',
  infoOf(areas, { language, expires: LATER }),
]
const square: Facts = ['polygon', '10,20 10,21 11,21 11,20 10,20']
const area = areaOf(square, ['circle', '10,20 10'], geocode('SAME', '048201'), ['altitude', '0'])
const good = writeAlert('1.2', [...head, info('en-US', area), info('es-MX', area)])

t.test('an alert is told in words', async (t) => {
  const { code, stdout, stderr } = run(fileOf('good.xml', good))
  t.equal(code, 0, stderr)
  t.equal(stderr, '')
  t.match(
    stdout,
    'T-1 of desk@example.org, sent 2026-05-24T16:49:00-07:00\nCAP 1.2, Actual, Alert, Public\n',
  )
  t.match(stdout, /^0 +en-US +Flood +Immediate +Severe +Observed +2999-05-25T16:49:00-07:00$/m)
  t.match(stdout, /^1 +es-MX/m)
  t.match(stdout, /^0\.0 +1 +5 +0 +1 +0 +SAME:048201 +somewhere$/m)
  t.match(stdout, 'bounds: 19.9087, 9.9101, 21, 11 (west, south, east, north)')
  t.match(stdout, /^warning: PolygonAndGeocodes: cap\.info\[0\]\.area\[0\] .*\(and 1 more\)$/m)
  t.match(stdout, /^warning: AltitudeIgnored: /m)
  t.notMatch(stdout, 'fault')
})

t.test('its area is GeoJSON, from a file or from standard input', async (t) => {
  const { stdout } = run('--geojson', '--geocodes', 'fallback', '--language', 'es', 'good.xml')
  const drawing = JSON.parse(stdout)
  t.match(drawing.features, [
    { geometry: { type: 'Polygon' } },
    { geometry: { type: 'Point', coordinates: [20, 10] }, properties: { radius: 10_000 } },
  ])
  t.equal(drawing.features.length, 2)
  const piped = execFileSync(process.execPath, [cli, 'cap', '--geojson', '--systems', 'UGC', '-'], {
    input: good,
    encoding: 'utf8',
  })
  t.same(JSON.parse(piped).features.length, 2)
})

t.test('all faults are told, and the exit code is that of bad input', async (t) => {
  const bad = areaOf(
    ['polygon', '10,20 10,21 11,21 11,20'],
    ['polygon', '95,20 95,21 96,21 95,20'],
    ['circle', '1,2'],
  )
  fileOf('bad.xml', writeAlert('1.2', [...head, info('en-US', bad), info('fr-CA', areaOf())]))
  const { code, stdout, stderr } = run('bad.xml')
  t.equal(code, 5)
  t.match(
    stderr,
    /^hickory: bad\.xml cannot be sent: CapPolygonOpen: cap\.info\[0\].*, and 3 more\n$/,
  )
  t.same(
    stdout.match(/^fault: \w+/gm),
    ['CapPolygonOpen', 'AxesExchanged', 'InvalidCap', 'CapAreaMissing'].map(
      (name) => `fault: ${name}`,
    ),
  )
  const json = JSON.parse(run('--json', 'bad.xml').stdout)
  t.match(json.faults, [{ code: 'CapPolygonOpen', path: 'cap.info[0].area[0].polygon[0]' }])
  t.equal(json.faults.length, 4)
  t.same(run('--geojson', 'bad.xml').stdout, '', 'half an area is not printed')
})

t.test('a profile, a language and the time are checked', async (t) => {
  t.match(run('--profile', 'WEA', 'good.xml'), { code: 5, stdout: /rule version of WEA/ })
  t.match(run('--language', 'fr', 'good.xml'), { code: 5, stderr: /CapLanguageMissing/ })
  const old = fileOf(
    'old.xml',
    writeAlert('1.2', factsOf([area], { expires: '2001-05-25T16:49:00-07:00' })),
  )
  t.match(run(old), { code: 5, stderr: /CapExpired/ })
  t.match(run('--expired', old), { code: 0, stdout: /InfoExpired/ })
})

t.test('what is no alert, and what is too large, is refused in one line', async (t) => {
  const cases: [args: string[], code: number, message: RegExp][] = [
    [['missing.xml'], 5, /missing\.xml does not exist/],
    [[fileOf('feed.xml', '<feed/>')], 5, /feed\.xml: InvalidCap: cap is an Atom feed/],
    [[fileOf('text.xml', 'no alert')], 5, /text\.xml: InvalidXml/],
    [[fileOf('shape.json', '{"type": "Feature"}')], 5, /no alert of api\.weather\.gov/],
    [[fileOf('half.json', '{"type"')], 5, /neither XML nor JSON/],
    [[fileOf('large.xml', ' '.repeat(limits.bodyBytes + 1))], 5, /more than 4 MiB/],
    [['--language', 'e n', 'good.xml'], 2, /--language must be a language/],
    [['--profile', 'EAS', 'good.xml'], 2, /WEA, NWS, CAP-CP/],
    [['--json', '--geojson', 'good.xml'], 2, /cannot be used with/],
  ]
  for (const [args, code, message] of cases) {
    const found = run(...args)
    t.match(found, { code, stderr: message }, args.join(' '))
    t.equal(found.stderr.trimEnd().split('\n').length, 1)
  }
})

t.test('nothing in an alert moves the cursor', async (t) => {
  const evil = good.replaceAll('Flood', '\u202eFlood').replaceAll('T-1', 'T\u200b-1')
  const { stdout } = run(fileOf('evil.xml', evil))
  t.match(stdout, '\\u{202e}Flood')
  t.match(stdout, 'T\\u{200b}-1')
})
