/**
 * A geocode of an alert that no area has was told of as `…area[0].properties.area`, a member that no alert has, without
 * its code, and SAME 48201 was said to mean counties:48201: the way to write it is SAME 048201.
 *
 * `hickory cap` called a CSV XML that is not well-formed at its end.
 *
 * @module
 */

import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { drawingOfAlert } from '../../src/cap/drawing.js'
import { ServiceError } from '../../src/errors.js'
import { alertAreas } from '../../src/operations/alerts/sent-alert.js'
import type { NamedAreas } from '../../src/selection/named-areas.js'
import { validate } from '../../src/selection/validate.js'
import { readXml } from '../../src/xml/read-xml.js'
import { areaOf, factsOf, geocode, writeAlert } from '../cap/writer.js'
import { layerOf, squareArea, writtenGazetteer } from '../support/data/areas.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const AREA = 'cap.info[0].area[0]'

function faultOf(read: () => unknown): ServiceError | undefined {
  try {
    read()
  } catch (fault) {
    if (fault instanceof ServiceError) return fault
    throw fault
  }
  return undefined
}

/** As a request finds it, and as an alert that is to be kept does. */
function faultsOf(areas: NamedAreas | undefined, cap: string): (ServiceError | undefined)[] {
  const alert = readAlert(cap, 'cap')
  return [
    faultOf(() => validate({ cap }, undefined, undefined, areas)),
    faultOf(() => alertAreas(alert, drawingOfAlert(alert, { nowMs: 0 }), areas)),
  ]
}

const alertOf = (...geocodes: (readonly [name: string, code: string])[]) =>
  writeAlert(
    '1.2',
    factsOf([areaOf(...geocodes.map(([name, code]) => geocode(name, code)))], {
      expires: '2999-01-01T00:00:00-00:00',
    }),
  )

t.test('a geocode that no area has is told by its place and its code', async (t) => {
  const areas = await writtenGazetteer(
    t,
    temporaryDirectory(t),
    layerOf('counties', squareArea('48201', 0, 0, { aliases: ['SAME:048201', 'UGC:TXC201'] })),
    layerOf('zones', squareArea('1', 0, 0)),
  )
  const cases: [name: string, code: string, message: string][] = [
    [
      'SAME',
      '48201',
      'is SAME:48201, which is the name of no area of the gazetteer: do you mean SAME:048201?',
    ],
    [
      'FIPS6',
      '48201',
      'is FIPS6:48201, which is the name of no area of the gazetteer: do you mean SAME:048201?',
    ],
    ['SAME', '48202', 'is SAME:48202, which is the name of no area of the gazetteer'],
    [
      'ugc',
      'txc201',
      'is UGC:txc201, which is the name of no area of the gazetteer: do you mean counties:48201?',
    ],
    [
      'zones',
      '2',
      'is zones:2, which is the name of no area of the gazetteer: do you mean zones:1?',
    ],
    // Either could be a number to be called.
    ['WARNCELLID', '809000001', 'is the name of no area of the gazetteer'],
    ['SAME', '+9995550001', 'is the name of no area of the gazetteer'],
    ['ours', '49.4,12.4', 'is the name of no area of the gazetteer'],
  ]
  for (const [name, code, message] of cases) {
    for (const fault of faultsOf(areas, alertOf([name, code]))) {
      const field = `${AREA}.geocode[0]`
      t.match(fault, { code: 'UnknownArea', field, message: `${field} ${message}` })
      t.equal(fault?.message, `${field} ${message}`)
    }
  }
  for (const fault of faultsOf(
    areas,
    alertOf(['SAME', '048201'], ['zones', '1'], ['zones', '7']),
  )) {
    t.match(fault, { code: 'UnknownArea', field: `${AREA}.geocode[2]` }, 'the one of three')
  }
  for (const fault of faultsOf(undefined, alertOf(['SAME', '048201']))) {
    t.match(fault, { code: 'UnknownArea', field: `${AREA}.geocode[0]` }, 'without a gazetteer')
  }
  t.same(areas.nearest('SAME:48201'), ['SAME:048201'])
  t.same(areas.nearest('towns:48201'), ['counties:48201'], 'the advice to others is as it was')
})

t.test('what is no XML is called so, at the line where that shows', async (t) => {
  const cases: [text: string, line: number][] = [
    ['number,lat,lng\n+9995550001,29.7,-95.3\n', 1],
    ['{"type": "Feature"}', 1],
    ['\n\n  [1, 2]', 3],
    ['\ufeffno alert', 1],
  ]
  for (const [text, line] of cases) {
    for (const source of [text, Buffer.from(text)]) {
      const message = `cap is no XML, which begins with < (line ${line})`
      const fault = faultOf(() => readXml(source, 'cap'))
      t.match(fault, { code: 'InvalidXml', field: 'cap' })
      t.equal(fault?.message, message)
    }
  }
  t.equal(readXml('\ufeff\n <a/>', 'cap').name, 'a')
})
