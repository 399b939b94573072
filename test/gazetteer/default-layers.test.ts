/**
 * The gazetteer that comes with the program has the codes that alerts use.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import t from 'tap'
import { countryCodes } from '../../src/gazetteer/country-codes.js'
import { areasDirectory } from '../../src/gazetteer/directory.js'
import { openGazetteer } from '../../src/gazetteer/gazetteer.js'
import { makeDefaultAreas } from '../../src/gazetteer/make-default.js'
import { stateCodes } from '../../src/gazetteer/state-codes.js'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { layerOf, squareArea } from '../support/data/areas.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('codes lead to the areas that they name', async (t) => {
  const data = temporaryDirectory(t)
  const made = await makeDefaultAreas(data)
  t.same(
    made?.layers.map(({ layer, areaCount }) => [layer, areaCount]),
    [
      ['counties', 3_230],
      ['countries', 253],
      ['states', 56],
    ],
  )
  t.ok(existsSync(areasDirectory(data)))
  t.equal(await makeDefaultAreas(data), undefined, 'once')
  const gazetteer = openGazetteer(data)
  t.teardown(() => gazetteer?.close())
  const named = (name: string) => {
    const area = gazetteer?.find(name)
    return area && `${area.id} ${area.name}`
  }
  for (const name of ['counties:48201', 'SAME:048201', 'FIPS:48201', 'UGC:TXC201']) {
    t.equal(named(name), 'counties:48201 Harris, TX', name)
  }
  for (const name of ['states:48', 'states:TX', 'SAME:048000', 'FIPS:48']) {
    t.equal(named(name), 'states:48 Texas', name)
  }
  for (const name of ['countries:840', 'ISO:US', 'ISO:USA', 'countries:US']) {
    t.equal(named(name), 'countries:840 United States of America', name)
  }
  t.equal(named('countries:Kosovo'), 'countries:Kosovo Kosovo', 'what has no code has its name')
  t.equal(named('counties:51610'), undefined, 'a city that is less than a point on this map')
  t.same(
    gazetteer?.at(-95.37e7, 29.76e7).map(({ id }) => id),
    ['counties:48201', 'states:48', 'countries:840'],
  )
  t.same(
    gazetteer?.at(178e7, -17.8e7).map(({ id }) => id),
    ['countries:242'],
    'Fiji',
  )
  t.equal(stateCodes().size, 56)
  t.equal(countryCodes().size, 249)
})

t.test('a layer of an operator takes the place of one of the same name', async (t) => {
  const data = temporaryDirectory(t)
  await makeDefaultAreas(data)
  const { layers } = await writeLayers(data, {
    set: [layerOf('counties', squareArea('x', 0, 0, { aliases: ['SAME:048201'] }))],
  })
  t.same(
    layers.map(({ layer, areaCount }) => [layer, areaCount]),
    [
      ['counties', 1],
      ['countries', 253],
      ['states', 56],
    ],
  )
  const gazetteer = openGazetteer(data)
  t.teardown(() => gazetteer?.close())
  t.equal(gazetteer?.find('SAME:048201')?.id, 'counties:x')
  t.equal(gazetteer?.find('counties:48201'), undefined)
})
