/**
 * Templates of keys, names and aliases.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import {
  fieldTemplate,
  readTemplate,
  templateFiller,
} from '../../../src/gazetteer/drafts/template.js'
import { testSeed } from '../../support/random/properties.js'

const REJECTED = { code: 'InputRejected' }

const filled = (text: string, properties: Record<string, unknown>) =>
  templateFiller(
    readTemplate(text, '--alias'),
    Object.keys(properties),
    'a.shp',
    '--alias',
  )(properties, 'a.shp: feature 1')

t.test('fields, parts of fields, and braces', async (t) => {
  const properties = {
    GEOID: '48201',
    STATE: 'TX',
    'ref:iso': 'US-TX',
    n: 7,
    big: 10n ** 18n,
    none: ' ',
  }
  t.equal(filled('0{GEOID}', properties), '048201')
  t.equal(filled('{STATE}C{GEOID:2:5}', properties), 'TXC201')
  t.equal(filled('{GEOID:2}', properties), '201')
  t.equal(filled('{ref:iso}', properties), 'US-TX')
  t.equal(filled('{ref:iso:3}', properties), 'TX')
  t.equal(filled('{{{n}}}-{big}', properties), '{7}-1000000000000000000')
  t.equal(filled('x', properties), 'x')
  t.equal(filled('0{none}', properties), undefined)
})

t.test('what is wrong is named', async (t) => {
  for (const text of ['{', '}', '{a', 'a}', '{}', '{a}}', '{{a}']) {
    t.throws(() => readTemplate(text, '--alias'), { code: 'Usage', message: /--alias/ }, text)
  }
  t.throws(() => filled('{geoid}', { GEOID: '1', NAME: 'x' }), {
    ...REJECTED,
    message: 'a.shp has no field "geoid" for --alias; its fields are GEOID, NAME',
  })
  t.throws(() => filled('{geoid:1}', { GEOID: '1' }), REJECTED)
  t.throws(() => filled('{GEOID:3:3}', { GEOID: '12345' }), { code: 'Usage' })
  t.throws(() => filled('{GEOID:2:5}', { GEOID: '1234' }), { ...REJECTED, message: /too short/ })
  t.throws(() => filled('{GEOID:5}', { GEOID: '12345' }), { ...REJECTED, message: /too short/ })
  for (const value of [true, {}, [], 2 ** 53, 1e300]) {
    t.throws(() => filled('{a}', { a: value }), REJECTED)
  }
  t.equal(filled('{a}', { a: Number.NaN }), undefined)
})

t.test('any literals and any fields come out as they went in', async (t) => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 })
  const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  const name = value.filter((each) => !/[{}:]/.test(each) && each !== '__proto__')
  const isPlain = (each: string) => each.trim() === each && each !== '' && !each.includes('\ufffd')
  const part = fc.record({ before: text, name, value: value.filter(isPlain) })
  const property = fc.property(fc.array(part, { maxLength: 4 }), text, (parts, end) => {
    const escaped = (literal: string) => literal.replace(/[{}]/g, '$&$&')
    const properties = Object.fromEntries(parts.map((each) => [each.name, each.value]))
    const template = parts.map((each) => `${escaped(each.before)}{${each.name}}`).join('')
    const expected = parts.map((each) => each.before + properties[each.name]).join('')
    t.equal(filled(template + escaped(end), properties), expected + end)
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 300 })
})

t.test('a field alone', async (t) => {
  const fill = templateFiller(fieldTemplate('a{b'), ['a{b'], 'f', '--key')
  t.equal(fill({ 'a{b': 'x' }, 'f'), 'x')
})
