/**
 * Updates of Environment Canada have a block for the areas where a warning goes on, and one for those where it is over:
 * the people of both were selected, and nothing in the answer said so. Nothing said, either, that an alert without
 * `expires` was sent long ago. `hickory cap` printed neither the response type nor the urgency.
 *
 * @module
 */

import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { describeAlert } from '../../src/cap/describe.js'
import { drawingOfAlert } from '../../src/cap/drawing.js'
import { ServiceError } from '../../src/errors.js'
import { drawingOf, readSentAlert } from '../../src/operations/alerts/sent-alert.js'
import { answer } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { Remarks } from '../../src/selection/remarks.js'
import { areaOf, type Facts, factsOf, infoOf, writeAlert } from '../cap/writer.js'
import { weatherFeature } from '../support/data/alerts.js'
import { columnsOf } from '../support/data/columns.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

/** Seven in the first area, and three in the second. */
const columns = columnsOf(
  Array.from({ length: 10 }, (_, at) => ({
    lng: (at < 7 ? 105 : 205) * 1e6,
    lat: (105 + at) * 1e6,
    phone: `+999${at}`,
    contact: '',
  })),
)
const service = localService([{ id: 1, label: 'A', columns }], 100)
const LATER = '2999-01-01T00:00:00-00:00'
const AREAS = ['10,10 10,11 12,11 12,10 10,10', '10,20 10,21 12,21 12,20 10,20'].map((text) =>
  areaOf(['polygon', text]),
)
const STATUS = 'layer:EC-MSC-SMC:1.0:Alert_Location_Status'
const parameter = (name: string, value: string): Facts => [
  'parameter',
  [
    ['valueName', name],
    ['value', value],
  ],
]

type Changes = Readonly<Record<string, string>>

/** A block for each area: the first one goes on, and the second has these members besides. */
function alertOf(changes: Changes, more: readonly Facts[] = [], head: Changes = {}): string {
  const blocks = [
    infoOf([AREAS[0]], { expires: LATER }),
    infoOf([...more, AREAS[1]], { expires: LATER, ...changes }),
  ]
  return written(blocks, head)
}

function written(blocks: readonly (readonly Facts[])[], head: Changes = {}): string {
  const whole = factsOf([], head).filter(([name]) => name !== 'info')
  return writeAlert('1.2', [...whole, ...blocks.map((members): Facts => ['info', members])])
}

async function asked(request: object): Promise<[count: number | string, ...codes: string[]]> {
  try {
    const found = await answer(service, { countsOnly: true, ...request } as JsonObject, inTime())
    const { SourceRecords, Warnings = [] } = JSON.parse(await bodyText(found.json()))
    return [SourceRecords[0].Count, ...Warnings.map(({ Code }: { Code: string }) => Code)]
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault
    return [`${fault.status} ${fault.code}`]
  }
}

t.test('a block that is over is told of, and left out where that is asked for', async (t) => {
  const cases: [what: string, code: string, ...Parameters<typeof alertOf>][] = [
    ['an all-clear', 'InfoAllClear', {}, [['responseType', 'AllClear']]],
    [
      'among others',
      'InfoAllClear',
      {},
      [
        ['responseType', 'Monitor'],
        ['responseType', 'AllClear'],
      ],
    ],
    ['the past', 'InfoPast', { urgency: 'Past' }],
    ['an area where it ended', 'InfoPast', {}, [parameter(STATUS, 'ended')]],
    [
      'in other letters',
      'InfoPast',
      {},
      [parameter(STATUS.replace('1.0', '1.1').toUpperCase(), 'Ended')],
    ],
    ['what is unlikely', 'InfoUnlikely', { certainty: 'Unlikely' }],
  ]
  for (const [what, code, ...members] of cases) {
    const cap = alertOf(...members)
    t.same(await asked({ cap }), [10, code], what)
    t.same(await asked({ cap, ended: true }), [10, code], what)
    t.same(await asked({ cap, ended: false }), [7, code], `${what}, left out`)
    t.same(await asked({ cap, Ended: 'false' }), [7, code], `${what}, as a query has it`)
  }
  const goesOn: Parameters<typeof alertOf>[] = [
    [{}, [['responseType', 'Monitor']]],
    [{ urgency: 'Unknown', certainty: 'Possible' }],
    [{}, [parameter(STATUS, 'active')]],
    [{}, [parameter('Alert_Location_Status', 'ended')]],
  ]
  for (const members of goesOn)
    t.same(await asked({ cap: alertOf(...members), ended: false }), [10])
})

t.test('an alert all of which is over is refused where that is left out', async (t) => {
  const over = infoOf([AREAS[1]], { expires: LATER, urgency: 'Past' })
  const cap = written([over, over])
  t.same(await asked({ cap }), [3, 'InfoPast'])
  t.same(await asked({ cap, ended: false }), ['422 CapEnded'])
  t.same(await asked({ cap, ended: 'no' }), ['400 InvalidRequest'])
  t.same(
    await asked({ bbox: [0, 0, 1, 1], ended: false }),
    ['400 InvalidRequest'],
    'without an alert',
  )
  // What goes on has expired, and what has not is over.
  const both = written([infoOf([AREAS[0]]), over])
  t.same(await asked({ cap: both }), [10, 'InfoPast', 'InfoExpired'])
  t.same(await asked({ cap: both, ended: false }), ['422 CapExpired'])
  t.same(await asked({ cap: both, ended: false, expired: true }), [7, 'InfoPast', 'InfoExpired'])
})

t.test('an Update all of which is over is kept without an area', async (t) => {
  const over = infoOf([AREAS[1]], { expires: LATER, urgency: 'Past' })
  const kept = (msgType: string, ended: boolean) => {
    const cap = written([over], { msgType })
    const sent = readSentAlert({ Identifier: 'T-1', cap, ended }, new Remarks())
    return drawingOf(sent).drawing.features.length
  }
  for (const msgType of ['Update', 'Cancel']) {
    t.equal(kept(msgType, true), 1)
    t.equal(kept(msgType, false), 0, msgType)
  }
  t.throws(() => kept('Alert', false), { code: 'CapEnded' })
})

t.test('in an alert of api.weather.gov as well', async (t) => {
  const ring = [
    [10, 10],
    [11, 10],
    [11, 12],
    [10, 12],
    [10, 10],
  ]
  const of = (changes: object) => asked({ cap: weatherFeature(ring, changes) })
  t.same(await of({}), [7])
  t.same(await of({ response: 'AllClear' }), [7, 'InfoAllClear'])
  t.same(await of({ urgency: 'Past' }), [7, 'InfoPast'])
  t.same(await of({ certainty: 'Unlikely' }), [7, 'InfoUnlikely'])
  t.same(await of({ parameters: { [STATUS]: ['ended'] } }), [7, 'InfoPast'])
  t.same(await asked({ cap: weatherFeature(ring, { urgency: 'Past' }), ended: false }), [
    '422 CapEnded',
  ])
})

t.test('an alert without expires that was sent long ago is told of', async (t) => {
  const sentMs = Date.UTC(2026, 4, 24, 23, 49)
  const hourMs = 3_600_000
  const told = (nowMs: number, more: readonly Facts[] = [], isEndless = true) => {
    const members = infoOf([AREAS[0]], { expires: LATER }).filter(
      ([name]) => !isEndless || name !== 'expires',
    )
    const at = members.findIndex(([name]) => name === 'area')
    const alert = readAlert(written([members.toSpliced(at, 0, ...more)]), 'cap')
    return drawingOfAlert(alert, { nowMs }).warnings.map(({ code, path }) => `${code} ${path}`)
  }
  t.same(told(sentMs), [])
  t.same(told(sentMs + 24 * hourMs), [])
  t.same(told(sentMs + 24 * hourMs + 1), ['InfoOld cap.info[0]'])
  t.same(told(sentMs + 100_000 * hourMs, [], false), [], 'it has expires')
  // It is for what begins three days later.
  for (const name of ['effective', 'onset']) {
    const later: Facts[] = [[name, '2026-05-27T16:49:00-07:00']]
    t.same(told(sentMs + 95 * hourMs, later), [])
    t.same(told(sentMs + 97 * hourMs, later), ['InfoOld cap.info[0]'])
  }
})

t.test('each block is printed with what it asks to be done, and how soon', async (t) => {
  const text = alertOf({ urgency: 'Past', certainty: 'Unlikely' }, [
    ['responseType', 'AllClear'],
    ['responseType', 'Monitor'],
  ])
  const alert = readAlert(text, 'cap')
  t.same(describeAlert(alert, drawingOfAlert(alert, { nowMs: 0 })).infos, [
    ['0', 'en-US', 'Flood', '', 'Immediate', 'Severe', 'Observed', LATER],
    ['1', 'en-US', 'Flood', 'AllClear Monitor', 'Past', 'Severe', 'Unlikely', LATER],
  ])
})
