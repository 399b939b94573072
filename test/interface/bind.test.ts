/**
 * What a client may write for each kind of member, and what becomes of it.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { Check } from 'typebox/value'
import type { ServiceError } from '../../src/errors.js'
import { bind } from '../../src/interface/bind.js'
import { MapConfigurationSchema } from '../../src/interface/configuration.js'
import { MapContextSchema } from '../../src/interface/context.js'
import { GeometrySchema } from '../../src/interface/geometry.js'
import { limits } from '../../src/limits.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

t.test('members are bound by name in any case, in the order of the schema', async (t) => {
  const written = {
    AREAS: [{ name: 'n', ID: 'i', geometry: { Rings: [[[1, 2]]], TYPE: 'polygon' } }],
    contextname: 'c',
    Version: { deep: [1] },
    iD: 'x',
  }
  t.equal(
    JSON.stringify(bind(MapContextSchema, written)),
    '{"Id":"x","ContextName":"c","Areas":[{"Id":"i","Name":"n",' +
      '"Geometry":{"type":"polygon","rings":[[[1,2]]]}}]}',
  )
})

t.test('what clients write for a value of another type is converted', async (t) => {
  const area = (member: string, value: unknown) => ({ Areas: [{ [member]: value }] })
  const layer = (member: string, value: unknown) => ({ layers: [{ [member]: value }] })
  const cases: [schema: 'context' | 'configuration', written: unknown, bound: unknown][] = [
    ['context', area('IsVisible', 'TRUE'), area('IsVisible', true)],
    ['context', area('IsVisible', 'false'), area('IsVisible', false)],
    ['context', area('IsVisible', 1), area('IsVisible', true)],
    ['context', area('IsVisible', '0'), area('IsVisible', false)],
    ['context', area('IsVisible', ''), { Areas: [{}] }],
    ['context', area('Name', -12), area('Name', '-12')],
    ['context', area('Name', 9_007_199_254_740_991), area('Name', '9007199254740991')],
    ['context', area('Name', true), area('Name', 'true')],
    ['context', area('Name', ''), area('Name', '')],
    ['context', area('ContactTotalCount', '1.5'), area('ContactTotalCount', 1.5)],
    ['configuration', layer('id', '12'), layer('id', 12)],
    ['configuration', layer('id', ' -3 '), layer('id', -3)],
    ['configuration', layer('id', '1e3'), layer('id', 1000)],
    ['configuration', layer('id', ''), { layers: [{}] }],
    ['configuration', layer('id', null), { layers: [{}] }],
    ['configuration', { layers: null }, {}],
    ['configuration', { contactCountMode: 'CONTACT' }, { contactCountMode: 'Contact' }],
    ['configuration', { contactCountMode: 0 }, { contactCountMode: 'ContactLocation' }],
    ['configuration', { ContactCountMode: '1' }, { contactCountMode: 'Contact' }],
    ['configuration', { contactCountMode: '' }, {}],
    [
      'configuration',
      { CustomerExtent: { Partwise: { Any: [{ null: null, b: 1 }] } } },
      { CustomerExtent: { Partwise: { Any: [{ b: 1 }] } } },
    ],
    ['configuration', null, {}],
  ]
  for (const [name, written, bound] of cases) {
    const schema = name === 'context' ? MapContextSchema : MapConfigurationSchema
    t.same(bind(schema, written), bound, JSON.stringify(written))
  }
})

t.test('what does not fit is refused, by the path of the member', async (t) => {
  const geometry = (rings: unknown) => ({ areas: [{}, { geometry: { rings } }] })
  const cases: [written: unknown, field: string | undefined][] = [
    [[], undefined],
    ['text', undefined],
    [{ Areas: {} }, 'Areas'],
    [{ Areas: '[]' }, 'Areas'],
    [{ Areas: [1] }, 'Areas[0]'],
    [{ Areas: [{}, null] }, 'Areas[1]'],
    [{ Id: {} }, 'Id'],
    [{ Id: 9_007_199_254_740_992 }, 'Id'],
    [{ Areas: [{ Name: -1e300 }] }, 'Areas[0].Name'],
    [{ Areas: [{ IsActive: 2 }] }, 'Areas[0].IsActive'],
    [{ Areas: [{ IsActive: 'yes' }] }, 'Areas[0].IsActive'],
    [{ Areas: [{ ContactTotalCount: '1,5' }] }, 'Areas[0].ContactTotalCount'],
    [{ Areas: [{ ContactTotalCount: '0x10' }] }, 'Areas[0].ContactTotalCount'],
    [{ Areas: [{ ContactTotalCount: '1e999' }] }, 'Areas[0].ContactTotalCount'],
    [{ Areas: [{ ContactTotalCount: true }] }, 'Areas[0].ContactTotalCount'],
    [geometry([[[1, 'x']]]), 'Areas[1].Geometry.rings[0][0][1]'],
    [geometry([[[1, null]]]), 'Areas[1].Geometry.rings[0][0][1]'],
    [geometry([[[1, '']]]), 'Areas[1].Geometry.rings[0][0][1]'],
    [geometry([[[Number.POSITIVE_INFINITY]]]), 'Areas[1].Geometry.rings[0][0][0]'],
    [{ Areas: [{ Geometry: { spatialReference: { wkid: 1.5 } } }] }, `${REFERENCE}.wkid`],
    [{ Areas: [{ Geometry: { spatialReference: { wkid: 2 ** 53 } } }] }, `${REFERENCE}.wkid`],
    [{ id: 'a', Id: 'b' }, 'Id'],
    [{ areas: [{ NAME: 'a', Name: 'b' }] }, 'Areas[0].Name'],
  ]
  for (const [written, field] of cases) {
    const fault = { code: 'InvalidRequest', status: 400, field }
    t.throws(() => bind(MapContextSchema, written), fault, JSON.stringify(written))
  }
  for (const contactCountMode of ['People', 2, -1, 0.5, {}, true]) {
    const fault = { code: 'InvalidRequest', field: 'contactCountMode' }
    t.throws(() => bind(MapConfigurationSchema, { contactCountMode }), fault)
  }
})

const REFERENCE = 'Areas[0].Geometry.spatialReference'

t.test('a member that is null in one of its spellings is given once', async (t) => {
  t.same(bind(MapContextSchema, { id: null, Id: 'b' }), { Id: 'b' })
})

t.test('unknown members are refused, or told of and dropped', async (t) => {
  const faults: unknown[] = []
  const tell = (fault: ServiceError) => faults.push([fault.code, fault.field])
  const strange = { Areas: [{ shape: 1, Nmae: 'x' }] }
  t.same(bind(MapContextSchema, strange, tell), { Areas: [{}] })
  t.same(faults, [
    ['UnknownMember', 'Areas[0].shape'],
    ['UnknownMember', 'Areas[0].Nmae'],
  ])
  const fault = { field: 'Areas[0].Nmae', message: /do you mean Name\?/ }
  t.throws(() => bind(MapContextSchema, { Areas: [{ Nmae: 'x' }] }), fault)
  t.same(bind(MapContextSchema, { shape: null }), {})
  const inherited = JSON.parse('{"__proto__":{"Id":"x"},"toString":1}')
  t.same(bind(MapContextSchema, inherited, tell), {})
})

t.test('a geometry of Esri may have more members, but none that is nearly known', async (t) => {
  const geometry = { rings: [[[1, 2]]], hasZ: false, cache: {} }
  t.same(bind(GeometrySchema, geometry), { rings: [[[1, 2]]] })
  const misspelt = { ...geometry, spatialRefrence: { wkid: 102100 } }
  const fault = { code: 'UnknownMember', message: /spatialReference/ }
  t.throws(() => bind(GeometrySchema, misspelt), fault)
})

t.test('an open member nests as deep as a body may, and no deeper', async (t) => {
  const nested = (depth: number) => {
    let value: unknown = 1
    for (let i = 0; i < depth; i++) value = { a: value }
    return { CustomerExtent: { Partwise: value } }
  }
  const deepest = limits.jsonDepthCount - 2
  t.same(bind(MapConfigurationSchema, nested(deepest)), nested(deepest))
  const fault = { code: 'InvalidRequest', field: 'CustomerExtent.Partwise' }
  t.throws(() => bind(MapConfigurationSchema, nested(deepest + 1)), fault)
})

/** Values that a schema allows, for one that is made of the kinds of this interface. */
function valuesOf(schema: object): fc.Arbitrary<unknown> {
  const { type, items, properties, enum: names } = schema as Described
  if (names !== undefined) return fc.constantFrom(...names)
  if (type === 'string') return fc.string()
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer') return fc.maxSafeInteger()
  if (type === 'number')
    return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0)
  if (type === 'array') return fc.array(valuesOf(items ?? {}), { maxLength: 3 })
  const members = Object.entries(properties ?? {}).map(([name, own]) => [name, valuesOf(own)])
  return fc.record(Object.fromEntries(members), { requiredKeys: [] })
}

interface Described {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: object
  readonly properties?: Readonly<Record<string, object>>
}

/** The same, as careless clients write it: names in other cases, in another order, in quotes. */
function carelessly(schema: object, value: unknown, turn: (count: number) => number): unknown {
  const { items, properties, type } = schema as Described
  if (Array.isArray(value)) return value.map((item) => carelessly(items ?? {}, item, turn))
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, own]) => {
      const spelt = [name, name.toUpperCase(), name.toLowerCase()][turn(3)]
      return [spelt, carelessly(properties?.[name] ?? {}, own, turn)]
    })
    return Object.fromEntries(turn(2) === 0 ? members.reverse() : members)
  }
  const isQuoted = turn(2) === 0 && type !== 'string'
  return isQuoted ? String(value) : value
}

for (const [name, schema] of [
  ['configurations', MapConfigurationSchema],
  ['contexts', MapContextSchema],
] as const) {
  t.test(`${name} are bound to the same, however carelessly they are written`, async (t) => {
    fc.assert(
      fc.property(valuesOf(schema), fc.infiniteStream(fc.nat()), (value, numbers) => {
        const turn = (count: number) => (numbers.next().value ?? 0) % count
        const bound = bind(schema, carelessly(schema, value, turn))
        return Check(schema, bound) && JSON.stringify(bound) === JSON.stringify(value)
      }),
      { seed: testSeed(t), numRuns: byTier({ ci: 100, soak: 2_000 }) },
    )
  })

  t.test(`anything at all is either bound to valid ${name} or refused`, async (t) => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom(...Object.keys(schema.properties)) }),
        (value) => {
          try {
            const bound = bind(schema, value)
            return (
              Check(schema, bound) && JSON.stringify(bind(schema, bound)) === JSON.stringify(bound)
            )
          } catch (fault) {
            const { code = '' } = fault as { code?: string }
            return ['InvalidRequest', 'UnknownMember'].includes(code)
          }
        },
      ),
      { seed: testSeed(t), numRuns: byTier({ ci: 150, soak: 2_000 }) },
    )
  })
}

t.test('what cannot be dropped without changing a shape is refused', async (t) => {
  const area = (Geometry: unknown) => ({ Areas: [{ Geometry }] })
  const ring = [[[1, 2]]]
  const cases: [geometry: object, field: string][] = [
    [{ curveRings: [] }, 'curveRings'],
    [{ type: 'extent', XMin: 1, ymin: 2, xmax: 3, ymax: 4 }, 'XMin'],
    [{ x: 1, y: 2 }, 'x'],
    [{ paths: ring }, 'paths'],
    [{ type: 'Polygon', coordinates: ring }, 'coordinates'],
    [{ rings: ring, crs: {} }, 'crs'],
    [{ rings: ring, spatialReference: { wkt: 'w' } }, 'spatialReference.wkt'],
  ]
  for (const [geometry, field] of cases) {
    const fault = { code: 'InvalidRequest', field: `Areas[0].Geometry.${field}` }
    t.throws(() => bind(MapContextSchema, area(geometry)), fault, field)
    const boundary = { CustomerBoundaryGeometry: geometry }
    const boundaryFault = { code: 'InvalidRequest', field: `CustomerBoundaryGeometry.${field}` }
    t.throws(() => bind(MapConfigurationSchema, boundary), boundaryFault, field)
  }
  const spatialReference = { wkid: 102100, wkt: 'w' }
  t.same(
    bind(MapContextSchema, area({ rings: ring, hasZ: false, curveRings: null, spatialReference })),
    area({ rings: ring, spatialReference: { wkid: 102100 } }),
  )
})
