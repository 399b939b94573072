/**
 * No option of an alert widens it: whatever is asked for, exactly those are selected whom a reading of its own finds by
 * brute force (test/oracle), or the request is refused. All of them are among those whom the whole alert selects.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { drawingOfAlert } from '../../src/cap/drawing.js'
import { CAP_PROFILES } from '../../src/cap/profiles.js'
import { ServiceError } from '../../src/errors.js'
import { alertAreas } from '../../src/operations/alerts/sent-alert.js'
import { answer } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { optionsOf } from '../../src/selection/shapes/cap.js'
import { expectedOf } from '../oracle/request.js'
import { columnsOf } from '../support/data/columns.js'
import { namedAreas } from '../support/data/named-areas.js'
import { testSeed } from '../support/random/properties.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'
import { type Facts, geocode, writeAlert } from './writer.js'

/** In quarters of a degree, around the antimeridian; edges, holes and people share the lattice. */
type Box = readonly [west: number, south: number, width: number, height: number]

interface Geocode {
  readonly system: string
  readonly code: string
}

interface TestArea {
  readonly polygons: readonly Box[]
  readonly holes: readonly Box[]
  readonly holeName: string
  readonly circles: readonly (readonly [lng: number, lat: number, kilometres: number])[]
  readonly geocodes: readonly Geocode[]
}

interface TestInfo {
  readonly language: string
  readonly expires: string
  readonly urgency: string
  readonly certainty: string
  readonly responseType: string
  readonly status: string
  readonly areas: readonly TestArea[]
}

interface Options {
  readonly language?: string
  readonly expired?: boolean
  readonly ended?: boolean
  readonly profile?: string
  readonly geocodes?: string
  readonly geocodeSystems?: readonly string[]
}

const WEST = 178
const CELL_DEGREES = 0.25
const CELLS = 16

const box: fc.Arbitrary<Box> = fc.tuple(
  fc.integer({ min: 0, max: CELLS - 2 }),
  fc.integer({ min: 0, max: CELLS - 2 }),
  fc.integer({ min: 1, max: CELLS }),
  fc.integer({ min: 1, max: CELLS }),
)
const some = <T>(each: fc.Arbitrary<T>, maxLength: number) => fc.array(each, { maxLength })
const CAP_CP = 'profile:CAP-CP:Location:0.3'
/** By the names of the gazetteer; the rest of what is drawn for is not there. */
const NAMED: Readonly<Record<string, Box>> = {
  'SAME:048201': [2, 2, 6, 6],
  'SAME:048202': [9, 0, 5, 16],
  'UGC:TXC201': [0, 8, 16, 3],
  'CAP-CP:4811': [4, 4, 2, 9],
}
const known: fc.Arbitrary<Geocode> = fc.constantFrom(
  { system: 'SAME', code: '048201' },
  { system: 'FIPS6', code: '048202' },
  { system: 'nwsUGC', code: 'TXC201' },
  { system: CAP_CP, code: '4811' },
)
const strange: fc.Arbitrary<Geocode> = fc.constantFrom(
  { system: 'SAME', code: '048999' },
  { system: 'WARNCELLID', code: '809000001' },
  { system: 'layer:unknown:1', code: '7' },
  { system: 'EXCLUDE_CIRCLE', code: '1,179 5' },
  { system: 'EXCLUDE_POLYGON', code: '1,179 2,179 2,180' },
)
const area: fc.Arbitrary<TestArea> = fc.record({
  polygons: fc.oneof(
    { weight: 5, arbitrary: fc.array(box, { minLength: 1, maxLength: 3 }) },
    some(box, 1),
  ),
  holes: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: some(box, 3) },
  ),
  holeName: fc.constantFrom('EXCLUDE_POLYGON', 'exclude_polygon', ' Exclude Polygon '),
  circles: fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    some(
      fc.tuple(
        fc.integer({ min: 0, max: CELLS }),
        fc.integer({ min: 0, max: CELLS }),
        fc.constantFrom(0, 20, 27.8, 100),
      ),
      2,
    ),
  ),
  geocodes: fc.array(
    fc.oneof({ weight: 40, arbitrary: known }, { weight: 1, arbitrary: strange }),
    { maxLength: 3 },
  ),
})
const info: fc.Arbitrary<TestInfo> = fc.record({
  language: fc.constantFrom('en-US', 'en-US', 'en-CA', 'fr-CA', 'es'),
  expires: fc.constantFrom('', '2001-01-01T00:00:00-00:00', LATER(), LATER()),
  urgency: fc.constantFrom('Immediate', 'Immediate', 'Immediate', 'Past'),
  certainty: fc.constantFrom('Observed', 'Likely', 'Likely', 'Likely', 'Unlikely'),
  responseType: fc.constantFrom('', '', '', 'Shelter', 'AllClear'),
  status: fc.constantFrom('', '', '', 'active', 'ended'),
  areas: fc.array(area, { minLength: 1, maxLength: 3 }),
})
const alerts = fc.array(info, { minLength: 1, maxLength: 3 })
const maybe = <T>(...values: T[]) =>
  fc.constantFrom<(T | undefined)[]>(undefined, undefined, undefined, ...values)
const options: fc.Arbitrary<Options> = fc
  .record({
    language: maybe('en', 'en', 'en-US', 'es'),
    expired: fc.constantFrom(true, true, undefined),
    ended: maybe(false, true),
    profile: maybe(...CAP_PROFILES),
    geocodes: maybe('union', 'fallback'),
    geocodeSystems: fc.option(
      fc.subarray(['SAME', 'ugc', CAP_CP, 'WARNCELLID', 'EXCLUDE_POLYGON']),
      { nil: undefined },
    ),
  })
  .map((record) => JSON.parse(JSON.stringify(record)) as Options)

function LATER(): string {
  return '2999-01-01T00:00:00-00:00'
}

/** Each beyond 180 by its own longitude, as CAP may have it. */
const lngOf = (cell: number) => WEST + cell * CELL_DEGREES
const latOf = (cell: number) => cell * CELL_DEGREES
const ringOf = ([west, south, width, height]: Box) =>
  [
    [west, south],
    [west + width, south],
    [west + width, south + height],
    [west, south + height],
    [west, south],
  ].map(([x, y]) => [lngOf(x), latOf(y)])
const textOf = (each: Box) =>
  ringOf(each)
    .map(([lng, lat]) => `${lat.toFixed(2)},${lng.toFixed(2)}`)
    .join(' ')

function write(infos: readonly TestInfo[]): string {
  const pair = (name: string, valueName: string, value: string): Facts => [
    name,
    [
      ['valueName', valueName],
      ['value', value],
    ],
  ]
  const head: Facts[] = [
    ['identifier', 'T-1'],
    ['sender', 'desk@example.org'],
    ['sent', '2026-05-24T16:49:00-07:00'],
    ['status', 'Actual'],
    ['msgType', 'Alert'],
    ['scope', 'Public'],
    ['code', 'IPAWSv1.0'],
    ['code', 'profile:CAP-CP:0.4'],
  ]
  const body = infos.map((each): Facts => {
    const optional = (name: string, text: string): Facts[] => (text === '' ? [] : [[name, text]])
    const areas = each.areas.map(
      (one): Facts => [
        'area',
        [
          ['areaDesc', 'somewhere'],
          ...one.polygons.map((polygon): Facts => ['polygon', textOf(polygon)]),
          ...one.circles.map(([x, y, kilometres]): Facts => {
            return ['circle', `${latOf(y).toFixed(2)},${lngOf(x).toFixed(2)} ${kilometres}`]
          }),
          ...one.geocodes.map(({ system, code }) => geocode(system, code)),
          ...one.holes.map((hole) => geocode(one.holeName, textOf(hole))),
        ],
      ],
    )
    return [
      'info',
      [
        ['language', each.language],
        ['category', 'Met'],
        ['event', 'Flood'],
        ...optional('responseType', each.responseType),
        ['urgency', each.urgency],
        ['severity', 'Severe'],
        ['certainty', each.certainty],
        pair('eventCode', 'SAME', 'FFW'),
        pair('eventCode', 'profile:CAP-CP:Event:0.4', 'flashFlood'),
        ...optional('expires', each.expires),
        ...(each.status === ''
          ? []
          : [pair('parameter', 'layer:EC-MSC-SMC:1.0:Alert_Location_Status', each.status)]),
        ...areas,
      ],
    ]
  })
  return writeAlert('1.2', [...head, ...body])
}

/** What the options leave, as features for the oracle. What it does not know selects nobody. */
function featuresOf(infos: readonly TestInfo[], asked: Options): object[] {
  const isEnded = (each: TestInfo) =>
    each.responseType === 'AllClear' ||
    each.urgency === 'Past' ||
    each.certainty === 'Unlikely' ||
    each.status === 'ended'
  const range = asked.language?.toLowerCase()
  const chosen = infos
    .filter(
      ({ language }) => range === undefined || `${language.toLowerCase()}-`.startsWith(`${range}-`),
    )
    .filter((each) => asked.ended !== false || !isEnded(each))
  const isFallback =
    asked.geocodes === 'fallback' || (asked.geocodes === undefined && asked.profile !== undefined)
  return chosen
    .flatMap(({ areas }) => areas)
    .flatMap(({ polygons, holes, circles, geocodes }) => {
      const isDrawn = polygons.length + circles.length > 0
      const names = isDrawn && isFallback ? [] : geocodes.flatMap((each) => nameOf(each, asked))
      return [
        ...polygons.map((polygon) => ({
          geometry: { type: 'Polygon', coordinates: [ringOf(polygon), ...holes.map(ringOf)] },
        })),
        ...circles.map(([x, y, kilometres]) => ({
          geometry: { type: 'Point', coordinates: [lngOf(x), latOf(y)] },
          properties: kilometres === 0 ? {} : { radius: kilometres * 1000 },
        })),
        ...names.map((name) => ({
          geometry: { type: 'Polygon', coordinates: [ringOf(NAMED[name])] },
        })),
      ]
    })
}

const SYSTEMS: Readonly<Record<string, string>> = {
  SAME: 'SAME',
  FIPS6: 'SAME',
  nwsUGC: 'UGC',
  [CAP_CP]: 'CAP-CP',
}

function nameOf({ system, code }: Geocode, { geocodeSystems }: Options): string[] {
  const one = SYSTEMS[system]
  const name = `${one}:${code}`
  if (!(name in NAMED)) return []
  const wanted = geocodeSystems?.map((each) => SYSTEMS[each] ?? each.toUpperCase())
  return wanted === undefined || wanted.includes(one) ? [name] : []
}

const people = Array.from({ length: 33 * 33 }, (_, at) => ({
  lng: WEST + ((at % 33) / 2 + (at % 5 === 0 ? 0.1 : 0)) * CELL_DEGREES,
  lat: (Math.floor(at / 33) / 2) * CELL_DEGREES,
})).map(({ lng, lat }, at) => ({
  lng: Math.round((lng > 180 ? lng - 360 : lng) * 1e7),
  lat: Math.round(lat * 1e7),
  phone: `+999${at}`,
  contact: '',
}))
const areas = namedAreas(
  Object.fromEntries(
    Object.entries(NAMED).map(([name, each]) => [
      name,
      { type: 'Polygon', coordinates: [ringOf(each)] },
    ]),
  ),
)
const service = {
  ...localService([{ id: 1, label: 'A', columns: columnsOf(people) }], 200),
  areas: () => areas,
}
const points = people.map(({ lng, lat }, at) => ({
  lngUnits: lng,
  latUnits: lat,
  contact: at,
  tieRank: at,
}))

/** The people that a request selects, or the code by which it is refused. */
async function selectedBy(request: object): Promise<Set<string> | string> {
  try {
    const found = await answer(service, request as JsonObject, inTime())
    const { SourceRecords } = JSON.parse(await bodyText(found.json()))
    return new Set(
      SourceRecords[0].Recipients.map(({ Number: phone }: { Number: string }) => phone),
    )
  } catch (fault) {
    if (!(fault instanceof ServiceError) || fault.status >= 500) throw fault
    return fault.code
  }
}

/** Who must be selected, and who may be. */
function expectedBy(infos: readonly TestInfo[], asked: Options) {
  const geoJSON = { type: 'FeatureCollection', features: featuresOf(infos, asked) }
  const [{ verdicts }] = expectedOf({ geoJSON }, [{ id: 1, points }]).records
  const phones = (...wanted: string[]) =>
    new Set(people.filter((_, at) => wanted.includes(verdicts[at])).map(({ phone }) => phone))
  return { surely: phones('inside'), possibly: phones('inside', 'either') }
}

const isWithin = (some: Set<string>, all: Set<string>) => [...some].every((each) => all.has(each))

t.test('whatever is asked for, an alert selects what it says, and never more', async (t) => {
  const answered = new Map<string, number>()
  const refused = new Map<string, number>()
  const count = (counts: Map<string, number>, key: string) =>
    counts.set(key, (counts.get(key) ?? 0) + 1)
  const property = fc.asyncProperty(
    alerts,
    fc.array(options, { minLength: 3, maxLength: 3 }),
    async (infos, asked) => {
      const cap = write(infos)
      const whole = expectedBy(infos, {})
      const plain = await selectedBy({ cap, expired: true })
      const cannotExclude = infos.some((each) =>
        each.areas.some(
          ({ geocodes, holes, polygons, circles }) =>
            geocodes.some(({ system }) => system.startsWith('EXCLUDE')) ||
            (holes.length > 0 && (polygons.length === 0 || circles.length > 0)),
        ),
      )
      for (const given of [{ expired: true }, ...asked]) {
        const selected = await selectedBy({ cap, ...given })
        if (typeof selected === 'string') {
          count(refused, selected)
          continue
        }
        const { surely, possibly } = expectedBy(infos, given)
        for (const name of Object.keys(given)) count(answered, name)
        if (infos.some((each) => each.areas.some(({ holes }) => holes.length > 0)))
          count(answered, 'hole')
        const hasForgotten = !isWithin(surely, selected)
        if (hasForgotten) throw new Error(`somebody is missing with ${JSON.stringify(given)}`)
        if (!isWithin(selected, possibly)) throw new Error(`widened with ${JSON.stringify(given)}`)
        if (!isWithin(selected, whole.possibly)) throw new Error('more than in the whole alert')
        if (typeof plain !== 'string' && !isWithin(selected, plain))
          throw new Error('more than without')
        // What excludes in an unknown way is refused, in whatever block it is left out.
        const isAllChosen = !('language' in given) && given.ended !== false
        if (cannotExclude && isAllChosen) throw new Error('an exclusion was left out')
        const alert = readAlert(cap, 'cap')
        const kept = alertAreas(
          alert,
          drawingOfAlert(alert, optionsOf(given as object as never)),
          areas,
        )
        const features = kept.flatMap(({ Drawing }) => (Drawing as { features: object[] }).features)
        const again = await selectedBy({ geoJSON: { type: 'FeatureCollection', features } })
        if (typeof again === 'string' || !isWithin(again, selected) || !isWithin(selected, again)) {
          throw new Error(`kept, it selects others: ${JSON.stringify(given)}`)
        }
      }
    },
  )
  const numRuns = byTier({ ci: 30, soak: 5_000 })
  await fc.assert(property, { seed: testSeed(t), numRuns })
  t.comment(`answered with ${[...answered].join(' ')}; refused ${[...refused].join(' ')}`)
  for (const name of [
    'language',
    'expired',
    'ended',
    'profile',
    'geocodes',
    'geocodeSystems',
    'hole',
  ]) {
    t.ok((answered.get(name) ?? 0) > numRuns / 50, name)
  }
  t.ok((refused.get('CapExclusion') ?? 0) > numRuns / 10, 'what cannot be followed')
})
