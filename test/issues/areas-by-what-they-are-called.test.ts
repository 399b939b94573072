/**
 * `hickory areas show "Harris County"` said that there is none, without a word of Harris, TX, and without an end of
 * its sentence.
 *
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { layerOf, squareArea } from '../support/data/areas.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const ADVICE = '. A name is a layer and a key, such as counties:48201.'
const HARRIS = '; is it counties:48201 (Harris, TX) or counties:48203 (Harrison, TX)?'

t.test('an area that is not there is looked for by what it is called', async (t) => {
  const data = join(temporaryDirectory(t), 'data')
  mkdirSync(data)
  const counties = layerOf(
    'counties',
    squareArea('48201', 0, 0, { name: 'Harris, TX' }),
    squareArea('48203', 2, 0, { name: 'Harrison, TX' }),
  )
  const zones = layerOf('zones', squareArea('z1', 4, 0, { name: 'Św. Anna' }))
  await writeLayers(data, { set: [counties, zones] })
  for (const [name, advice] of [
    ['Harris County', HARRIS],
    ['harris', HARRIS],
    ['Harrison County, Texas', '; is it counties:48203 (Harrison, TX)?'],
    ['Sw Anna', '; is it zones:z1 (Św. Anna)?'],
    ['48203', '; is it counties:48203 (Harrison, TX)?'],
    ['zones:Z1', '; is it zones:z1 (Św. Anna)?'],
    ['County of Harris', ADVICE],
    ['nowhere:1', ADVICE],
    [' ', ADVICE],
    [':', ADVICE],
  ]) {
    const { code, stderr } = await hickoryHere('areas', 'show', '--data', data, name)
    t.equal(code, 2)
    t.equal(
      stderr,
      `hickory: no area is called ${name}${advice} The layers are counties, zones\n`,
      name,
    )
  }
})
