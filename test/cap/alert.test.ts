import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import type { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { areaOf, type Facts, factsOf, geocode, infoOf, writeAlert } from './writer.js'

const place = areaOf(['circle', '32.9525,-115.5527 1'])

t.test('the members of an alert are read', async (t) => {
  const area: Facts = [
    'area',
    [
      ['areaDesc', ' Überall '],
      ['polygon', '1,2 3,4 5,0 1,2'],
      ['circle', '1,2 3'],
      geocode('SAME', '048201'),
      ['altitude', '-12.5'],
      ['ceiling', '1000'],
    ],
  ]
  const facts: Facts[] = [
    ...factsOf([], { msgType: 'Update' }).filter(([name]) => name !== 'info'),
    ['code', 'IPAWSv1.0'],
    ['references', 'a@b,1,2026-05-24T16:00:00-07:00\n a@b,2,2026-05-24T16:10:00-07:00 '],
    ['info', infoOf([area], { language: 'fr-CA' })],
    ['info', infoOf([area], { language: '' })],
    ['!Signature', 'x'],
  ]
  const alert = readAlert(writeAlert('1.2', facts), 'cap')
  t.match(alert, {
    version: '1.2',
    identifier: 'T-1',
    sender: 'desk@example.org',
    sent: {
      text: '2026-05-24T16:49:00-07:00',
      atMs: Date.UTC(2026, 4, 24, 23, 49),
      isAsWritten: true,
    },
    status: 'Actual',
    msgType: 'Update',
    scope: 'Public',
    codes: ['IPAWSv1.0'],
    areReferencesWhole: true,
    isSigned: false,
  })
  t.same(alert.references, [
    { sender: 'a@b', identifier: '1', sent: '2026-05-24T16:00:00-07:00' },
    { sender: 'a@b', identifier: '2', sent: '2026-05-24T16:10:00-07:00' },
  ])
  t.same(
    alert.infos.map(({ language }) => language),
    ['fr-CA', 'en-US'],
  )
  t.match(alert.infos[0].areas[0], {
    areaDesc: 'Überall',
    polygons: [{ text: '1,2 3,4 5,0 1,2', path: 'cap.info[0].area[0].polygon[0]' }],
    circles: [{ text: '1,2 3', path: 'cap.info[0].area[0].circle[0]' }],
    geocodes: [{ name: 'SAME', value: '048201', path: 'cap.info[0].area[0].geocode[0]' }],
    altitude: -12.5,
    ceiling: 1000,
  })
})

t.test('versions 1.1 and 1.0 are read, with what is different in them', async (t) => {
  t.equal(readAlert(writeAlert('1.1', factsOf([place])), 'cap').version, '1.1')
  const old = factsOf([areaOf(['geocode', 'FIPS6=006109'])]).filter(([name]) => name !== 'scope')
  const alert = readAlert(writeAlert('1.0', old), 'cap')
  t.equal(alert.scope, undefined)
  t.match(alert.infos[0].areas[0].geocodes, [{ name: 'FIPS6', value: '006109' }])
  t.match(faultOf(writeAlert('1.0', factsOf([areaOf(['geocode', '006109'])]))), {
    code: 'InvalidCap',
    message: /name=value/,
  })
  t.match(faultOf(writeAlert('1.2', old)), { code: 'InvalidCap' })
})

t.test('what is no alert is refused by what it is', async (t) => {
  const cases: [text: string, message: RegExp][] = [
    ['<feed xmlns="http://www.w3.org/2005/Atom"/>', /is an Atom feed/],
    [
      `<EDXLDistribution><x>${writeAlert('1.2', factsOf([place])).slice(39)}</x></EDXLDistribution>`,
      /EDXL-DE/,
    ],
    ['<rss/>', /RSS/],
    ['<alert/>', /without a namespace/],
    ['<alert xmlns="urn:oasis:names:tc:emergency:cap:1.3"/>', /unknown/],
    ['<kml/>', /no alert of CAP/],
  ]
  for (const [text, message] of cases) {
    t.match(faultOf(text), { code: 'InvalidCap', message, field: 'cap' }, text.slice(0, 40))
  }
  t.match(faultOf('<!DOCTYPE a><alert/>'), { code: 'InvalidXml' })
})

t.test(
  'a member that is missing, repeated, misspelt or wrong is refused by its path',
  async (t) => {
    const cases: [changed: Facts[], field: string][] = []
    const all = factsOf([place])
    for (const [i, [name]] of all.entries()) {
      if (name === 'info') continue
      cases.push([all.filter((_, j) => j !== i), 'cap'])
      cases.push([[...all, all[i]], 'cap'])
    }
    for (const [i, [name]] of infoOf([]).entries()) {
      if (name === 'language' || name === 'expires') continue
      const info = infoOf([]).filter((_, j) => j !== i)
      cases.push([[...all, ['info', info]], 'cap.info[1]'])
    }
    for (const name of ['status', 'msgType', 'scope', 'sent', 'identifier']) {
      cases.push([factsOf([place], { [name]: '' }), `cap.${name}`])
    }
    for (const name of ['urgency', 'severity', 'certainty', 'expires', 'event']) {
      cases.push([factsOf([place], { [name]: '' }), `cap.info[0].${name}`])
    }
    for (const time of [
      '2026-02-30T00:00:00-00:00',
      '2026-05-24T16:49:00',
      '2026-05-24',
      '2026-05-24T24:49:00-00:00',
      '2026-05-24T16:49:00-15:00',
    ]) {
      cases.push([factsOf([place], { expires: time }), 'cap.info[0].expires'])
    }
    const area = 'cap.info[0].area[0]'
    cases.push([factsOf([['area', [['circle', '1,2 3']]]]), area])
    cases.push([factsOf([areaOf(['polygn', '1,2 3,4 5,0 1,2'])]), area])
    cases.push([factsOf([areaOf(['!polygon', '1,2 3,4 5,0 1,2'])]), area])
    cases.push([
      factsOf([areaOf(['polygon', [['polygon', '1,2 3,4 5,0 1,2']]])]),
      `${area}.polygon[0]`,
    ])
    cases.push([factsOf([areaOf(['altitude', 'high'], ['circle', '1,2 3'])]), `${area}.altitude`])
    cases.push([factsOf([areaOf(['geocode', [['value', '1']]])]), `${area}.geocode[0]`])
    for (const [facts, field] of cases) {
      const fault = faultOf(writeAlert('1.2', facts))
      t.match(fault, { code: 'InvalidCap', status: 400, field }, String(fault?.message))
    }
  },
)

t.test('elements are bounded', async (t) => {
  const alertOf = (codeCount: number) => {
    const codes = Array.from({ length: codeCount }, (): Facts => ['code', 'a'])
    return writeAlert('1.2', [...factsOf([place]), ...codes])
  }
  const elementCount = alertOf(0).split(/<\w/).length - 1
  const bound = limits.capElementCount - elementCount
  t.equal(readAlert(alertOf(bound), 'cap').codes.length, bound)
  t.throws(() => readAlert(alertOf(bound + 1), 'cap'), { code: 'TooComplex', field: 'cap' })
})

t.test('times are read in the way of CAP, and in others that leave no doubt', async (t) => {
  const expiresOf = (expires: string) =>
    readAlert(writeAlert('1.2', factsOf([place], { expires })), 'cap').infos[0].expires
  const atMs = Date.UTC(2026, 4, 24, 16, 49)
  t.match(expiresOf('2026-05-24T16:49:00-00:00'), { atMs, isAsWritten: true })
  t.match(expiresOf('2026-05-24T18:49:00+02:00'), { atMs, isAsWritten: true })
  t.match(expiresOf('2026-05-24T16:49:00Z'), { atMs, isAsWritten: false })
  t.match(expiresOf('2026-05-24T16:49:00.250Z'), { atMs: atMs + 250, isAsWritten: false })
})

t.test('references that are not triples are not taken for all there are', async (t) => {
  const facts: Facts[] = [...factsOf([place]), ['references', 'a,1,2026-05-24T16:00:00-07:00 2']]
  const { references, areReferencesWhole } = readAlert(writeAlert('1.2', facts), 'cap')
  t.equal(references.length, 1)
  t.equal(areReferencesWhole, false)
})

function faultOf(text: string): ServiceError | undefined {
  try {
    readAlert(text, 'cap')
  } catch (fault) {
    return fault as ServiceError
  }
  return undefined
}
