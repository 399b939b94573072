import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { drawingOfAlert } from '../../src/cap/drawing.js'
import type { CapProfile } from '../../src/cap/profiles.js'
import { ServiceError } from '../../src/errors.js'
import { areaOf, type Facts, factsOf, geocode, infoOf, writeAlert } from './writer.js'

/** What a rule says of an alert: `must version` where it is broken, `should shapes` where it is advice. */
function findingsOf(profile: CapProfile, facts: readonly Facts[]): string[] {
  const alert = readAlert(writeAlert('1.2', facts), 'cap')
  try {
    const { warnings } = drawingOfAlert(alert, { nowMs: 0, profile })
    return warnings
      .filter(({ code }) => code === 'ProfileAdvice')
      .map(({ message }) => `should ${ruleIn(message, profile)}`)
  } catch (fault) {
    if (!(fault instanceof ServiceError) || fault.code !== 'ProfileViolated') throw fault
    return [`must ${ruleIn(fault.message, profile)}`]
  }
}

function ruleIn(message: string, profile: CapProfile): string {
  return new RegExp(`\\(rule ([\\w-]+) of ${profile}\\)`).exec(message)?.[1] ?? message
}

const event = (name: string, value: string): Facts => ['eventCode', geocode(name, value)[1]]
const same = event('SAME', 'FFW')
/** A fan of so many points, the closing one counted. */
const square = (decimals: number, count = 5): Facts => {
  const point = (lat: number, lng: number) => `${lat.toFixed(decimals)},${lng.toFixed(decimals)}`
  const edge = Array.from({ length: count - 3 }, (_, i) => point(20, 20 + i))
  return ['polygon', [point(10, 20), ...edge, point(11, 119), point(10, 20)].join(' ')]
}

function american(...members: readonly Facts[]): Facts[] {
  return [...factsOf([areaOf(...members), same]), ['code', 'IPAWSv1.0']]
}

t.test('WEA: ten shapes, a hundred points and two decimals', async (t) => {
  const county = geocode('SAME', '048201')
  const circles = (count: number) =>
    Array.from({ length: count }, (_, i): Facts => ['circle', `10.00,20.${i + 10} 1`])
  const of = (...members: readonly Facts[]) => findingsOf('WEA', american(county, ...members))
  t.same(of(square(2)), [])
  t.same(of(square(5)), [])
  t.same(of(square(1)), ['must decimals'])
  t.same(of(['circle', '10,20 1']), ['must decimals'])
  t.same(of(...circles(9), square(2)), [])
  t.same(of(...circles(10), square(2)), ['must shapes'])
  t.same(of(square(5, 100)), [])
  t.same(of(square(5, 101)), ['must points'])
  t.same(findingsOf('WEA', american(square(2))), ['should same-geocode'])
})

t.test('WEA: the profile of IPAWS', async (t) => {
  const area = areaOf(square(2), geocode('SAME', '048201'))
  const good = american(square(2), geocode('SAME', '048201'))
  const of = (facts: readonly Facts[]) => findingsOf('WEA', facts)
  t.same(of(good), [])
  t.same(of(good.filter(([name]) => name !== 'code')), ['must version'])
  const update = factsOf([area, same], { msgType: 'Update' })
  const code: Facts = ['code', 'IPAWSv1.0']
  t.same(of([...update, code]), ['must references'])
  t.same(of([...update, code, ['references', 'a,b,2026-05-24T16:00:00-07:00']]), [])
  t.same(of([...factsOf([area]), code]), ['must same-event'])
  t.same(of([...factsOf([area, same, same]), code]), ['must same-event'])
  t.same(of([...good, ['info', infoOf([area, event('SAME', 'TOR')])]]), ['must one-event'])
  t.same(of([...good, ['info', infoOf([area, same], { category: 'Geo' })]]), ['must one-category'])
  const endless = infoOf([area, same]).filter(([name]) => name !== 'expires')
  t.same(of([...good.filter(([name]) => name !== 'info'), ['info', endless]]), ['must expires'])
  t.same(of([...factsOf([area, same], { urgency: 'Future' }), code]), ['should imminent'])
})

t.test('NWS: codes of zones and counties, and one polygon', async (t) => {
  const codes = [geocode('SAME', '048201'), geocode('UGC', 'TXC201')]
  const of = (...members: readonly Facts[]) => findingsOf('NWS', american(...members))
  t.same(of(...codes), [])
  t.same(of(square(2), ...codes), [])
  t.same(of(codes[0]), ['must ugc-geocode'])
  t.same(of(codes[1]), ['must same-geocode'])
  t.same(of(square(2), square(3), ...codes), ['must one-polygon'])
  t.same(of(['circle', '10,20 1'], ...codes), ['must no-circle'])
})

t.test('CAP-CP: its codes by their form', async (t) => {
  const code: Facts = ['code', 'profile:CAP-CP:0.4']
  const storm = event('profile:CAP-CP:Event:0.4', 'thunderstorm')
  const place = geocode('profile:CAP-CP:Location:0.3', '4819')
  const head = factsOf([]).filter(([name]) => name !== 'info')
  const info = (language: string, ...members: readonly Facts[]): Facts => [
    'info',
    infoOf(members, { language }),
  ]
  const of = (...facts: readonly Facts[]) => findingsOf('CAP-CP', [...head, ...facts])
  const area = areaOf(square(2), place)
  const [english, french] = [info('en-CA', area, storm), info('fr-CA', area, storm)]
  t.same(of(code, english, french), [])
  t.same(of(code, english), ['should languages'])
  t.same(of(english, french), ['must version'])
  t.same(of(code), ['must info'])
  t.same(of(code, info('en-CA', area), info('fr-CA', area)), ['must event-code'])
  t.same(of(code, english, info('fr-CA', area, event('profile:CAP-CP:Event:0.4', 'wind'))), [
    'must one-event',
  ])
  t.same(of(code, info('en-CA', areaOf(square(2)), storm)), ['must location-code'])
  t.same(of(code, info('en-CA', areaOf(place), storm), info('fr-CA', areaOf(place), storm)), [
    'should shapes',
  ])
})

t.test('with a profile, geocodes count only where there are no shapes', async (t) => {
  const alert = readAlert(
    writeAlert('1.2', american(square(2), geocode('SAME', '048201'), geocode('UGC', 'TXC201'))),
    'cap',
  )
  const count = (options: object) =>
    drawingOfAlert(alert, { nowMs: 0, ...options }).drawing.features.length
  t.equal(count({}), 2)
  t.equal(count({ profile: 'NWS' }), 1)
  t.equal(count({ profile: 'NWS', geocodes: 'union' }), 2)
})
