/**
 * Names that are nearly known.
 *
 * @module
 */
import t from 'tap'
import { nearestName } from '../../src/interface/near-miss.js'
import { limits } from '../../src/limits.js'

t.test('two edits away is near, in any letter case and with separators', async (t) => {
  const known = ['countsOnly', 'geoJSON', 'sources']
  for (const [name, meant] of [
    ['countOnly', 'countsOnly'],
    ['COUNTS_ONLY', 'countsOnly'],
    ['cuontsOnly', 'countsOnly'],
    ['geo-json', 'geoJSON'],
    ['gejson', 'geoJSON'],
    ['source', 'sources'],
    ['sourcs', 'sources'],
    ['sou', undefined],
    ['contextId', undefined],
    ['', undefined],
  ] as const) {
    t.equal(nearestName(name, known), meant, name)
  }
})

t.test('short names are like few others', async (t) => {
  t.equal(nearestName('crsx', ['crs']), 'crs')
  t.equal(nearestName('c', ['crs']), undefined)
  t.equal(nearestName('xx', ['x']), undefined)
})

t.test('of several the nearest is meant', async (t) => {
  t.equal(nearestName('Numbrs', ['Number', 'Numbers']), 'Numbers')
})

t.test('a name as long as any is compared, and a longer one is like nothing', async (t) => {
  const longest = 'a'.repeat(limits.memberNameCharCount)
  t.equal(nearestName(`${longest.slice(1)}b`, [longest]), longest)
  t.equal(nearestName(longest.repeat(100), [longest]), undefined)
})
