/**
 * Each phone once: which source keeps it, in every form of an answer.
 *
 * @module
 */
import t from 'tap'
import type { Answer, Body } from '../../src/format/answer.js'
import { limits } from '../../src/limits.js'
import { answer } from '../../src/selection/answer.js'
import { isFilled } from '../../src/selection/catalogue.js'
import { mark } from '../../src/shard/suppressed.js'
import { columnsOf } from '../support/data/columns.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { type LocalService, localService } from '../support/service/local-service.js'

const west = { xmin: -10, ymin: -10, xmax: 0, ymax: 10 }
const everywhere = { xmin: -10, ymin: -10, xmax: 10, ymax: 10 }

/** Phones by source, with the contact behind a slash; `e` before one places it in the east. */
const WORLD = { 3: 'e1 2 2 4/a 5/a', 7: '1 2 6 e7', 9: '7 1 5 6' }

t.test('the source with the lowest id keeps a phone, among those that are selected', async (t) => {
  const cases: [name: string, asked: object, expected: string][] = [
    ['everywhere', { geoJSON: everywhere }, '3: 1 2 4 5; 7: 6 7; 9:'],
    ['in the west', { geoJSON: west }, '3: 2 4 5; 7: 1 6; 9: 7'],
    ['of two sources', { geoJSON: everywhere, sources: [7, 9] }, '7: 1 2 6 7; 9: 5'],
    ['of the last source', { geoJSON: everywhere, sources: [9] }, '9: 1 5 6 7'],
    ['of no source', { geoJSON: everywhere, sources: [] }, ''],
    [
      'of contacts, a number that its contact does not keep is another source’s',
      { geoJSON: everywhere, contactCountMode: 'Contact' },
      '3: 1 2 4; 7: 6 7; 9: 5',
    ],
    [
      'where a feature holds for some sources only',
      { geoJSON: { features: [feature(west), feature(everywhere, { sources: [7] })] } },
      '3: 2 4 5; 7: 1 6 7; 9:',
    ],
    [
      'less an exclusion for one source',
      {
        geoJSON: {
          features: [feature(everywhere), feature(everywhere, { sources: [3], exclude: true })],
        },
      },
      '3:; 7: 1 2 6 7; 9: 5',
    ],
    ['without it', { geoJSON: west, distinct: false }, '3: 2 2 4 5; 7: 1 2 6; 9: 1 5 6 7'],
    ['of shapes that hold nobody', { geoJSON: { x: 50, y: 50 } }, '3:; 7:; 9:'],
  ]
  for (const [name, asked, expected] of cases) {
    const service = world()
    t.equal(await listed(service, { distinct: true, ...asked }), expected, name)
    t.equal(await counted(service, { distinct: true, ...asked }), countsOf(expected), name)
  }
})

t.test('who is marked keeps its phone from nobody', async (t) => {
  const service = world()
  const [first] = service.shards
  if (first.marks === null) throw new Error('shards in arenas have marks')
  for (let at = 0; at < first.recipientCount; at++) mark(first.marks, at)
  const asked = { geoJSON: everywhere, distinct: true }
  t.equal(await listed(service, asked), '3:; 7: 1 2 6 7; 9: 5')
  t.equal(await counted(service, asked), countsOf('3:; 7: 1 2 6 7; 9: 5'))
})

t.test('every format has the same recipients, and pages are the list', async (t) => {
  const asked = { geoJSON: everywhere, distinct: true }
  const expected = ['1', '2', '4', '5', '6', '7'].map((phone) => `+999${phone}`)
  const given = await answer(world(), asked, inTime())
  const texts = [given.json(), given.ndjson?.() ?? '', given.csv('flat'), given.csv('sources')]
  for (const body of texts) t.same(phonesIn(await bodyText(body as Body)).sort(), expected)
  const pages: string[] = []
  let after: string | undefined
  do {
    const page: Answer = await answer(world(), { ...asked, limit: 2, after }, inTime())
    pages.push(...phonesIn(await bodyText(page.json())))
    after = page.headers['X-Next-After']
  } while (after !== undefined)
  t.same(pages.sort(), expected)
})

t.test('one task has all shards that are touched, in order', async (t) => {
  const many = '1 2 3 4 5 6 7 8 9'
  const service = localService(sourcesOf({ 3: many, 7: many, 9: many }), 2)
  const shardCount = service.shards.length
  t.ok(shardCount > limits.shardsPerTaskCount)
  await counted(service, { geoJSON: everywhere, distinct: true })
  await counted(service, { geoJSON: everywhere })
  const [task, ...others] = service.tasks
  if (!('shardIndexes' in task)) throw new Error('nothing is listed')
  const { shards } = service.catalogue
  t.same(
    [...task.shardIndexes],
    [...shards.keys()].filter((at) => isFilled(shards[at])),
  )
  t.ok(task.isDistinct && task.isLarge)
  t.ok(others.every((other) => other.kind === 'count' && !other.isDistinct))
})

function feature(geometry: object, properties: object = {}) {
  return { geometry, properties }
}

function world(): LocalService {
  return localService(sourcesOf(WORLD))
}

function sourcesOf(phones: Readonly<Record<number, string>>) {
  return Object.entries(phones).map(([id, list]) => ({
    id: Number(id),
    label: `Source ${id}`,
    columns: columnsOf(
      list.split(' ').map((text, at) => {
        const [, east, phone, contact = ''] = /^(e?)(\d)\/?(\w?)$/.exec(text) ?? []
        const lng = east === 'e' ? 5e7 : -5e7
        return { phone: `+999${phone}`, lng, lat: at, contact }
      }),
    ),
  }))
}

/** Phones by source, sorted, since the order of a list follows from places. */
async function listed(service: LocalService, request: object): Promise<string> {
  const given = await answer(service, { ...request }, inTime())
  return records(await bodyText(given.json()))
    .map(({ SourceId, Recipients = [] }) => {
      const phones = Recipients.map(({ Number: phone }) => ` ${phone.slice(4)}`).sort()
      return `${SourceId}:${phones.join('')}`
    })
    .join('; ')
}

async function counted(service: LocalService, request: object): Promise<string> {
  const given = await answer(service, { ...request, countsOnly: true }, inTime())
  return records(await bodyText(given.json()))
    .map(({ SourceId, Count }) => `${SourceId}: ${Count}`)
    .join('; ')
}

function countsOf(lists: string): string {
  if (lists === '') return ''
  return lists
    .split('; ')
    .map((list) => `${list.split(':')[0]}: ${list.split(' ').length - 1}`)
    .join('; ')
}

interface TestRecord {
  readonly SourceId: number
  readonly Count: number
  readonly Recipients?: readonly { readonly Number: string }[]
}

function records(json: string): readonly TestRecord[] {
  return JSON.parse(json).SourceRecords
}

function phonesIn(text: string): string[] {
  return text.match(/\+999\d/g) ?? []
}
