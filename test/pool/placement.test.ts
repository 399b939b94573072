import t from 'tap'
import { type Lane, placeFor, type QueryThread } from '../../src/pool/placement.js'

/** Of each worker: how many small, large and rows tasks it has, a digit each. */
type UnderWay = string

const cases: readonly (readonly [string, Lane, UnderWay, number | undefined])[] = [
  ['the least busy one', 'small', '101 100 101', 1],
  ['the first of equals', 'small', '000 000', 0],
  ['not behind a large one', 'small', '010 102', 1],
  ['two small ones at most', 'small', '200 200', undefined],
  ['in spite of rows', 'small', '102', 0],
  ['rows beside one other task', 'rows', '100', 0],
  ['rows not behind two', 'rows', '101 200 002', undefined],
  ['rows not behind a large one', 'rows', '010 001', 1],
  ['a large one', 'large', '202 000', 1],
  ['a large one in spite of others', 'large', '202 202', 0],
  ['one worker is kept free of large ones', 'large', '010 000', undefined],
  ['two of three may have a large one', 'large', '010 000 000', 1],
  ['not three of three', 'large', '010 010 000', undefined],
  ['the only worker has all lanes', 'large', '200', 0],
  ['no worker', 'small', '', undefined],
]

/** While rows wait. */
const casesBesideRows: typeof cases = [
  ['one small one at most', 'small', '100 101', undefined],
  ['small ones before rows', 'small', '002', 0],
  ['rows beside one small one', 'rows', '100', 0],
]

/** The same while small ones come in. */
const casesBesideBoth: typeof cases = [
  ['two small ones at the first worker', 'small', '100 101', 0],
  ['one small one at the others', 'small', '200 101', undefined],
  ['rows not at the first worker', 'rows', '000 001', 1],
  ['rows at the others alone', 'rows', '000 101', undefined],
  ['the only worker has all lanes', 'rows', '100', 0],
]

t.test('where a task may go', async (t) => {
  const groups = [
    { each: cases, demand: { rowsWait: false, smallComeIn: false } },
    { each: casesBesideRows, demand: { rowsWait: true, smallComeIn: false } },
    { each: casesBesideBoth, demand: { rowsWait: true, smallComeIn: true } },
  ]
  for (const { each, demand } of groups) {
    for (const [title, lane, underWay, expected] of each) {
      t.equal(placeFor(lane, threadsOf(underWay), demand)?.id, expected, title)
    }
  }
})

function threadsOf(underWay: UnderWay): QueryThread[] {
  return underWay.split(' ').flatMap((digits, id) => {
    const [small, large, rows] = Array.from(digits, Number)
    return digits === '' ? [] : [{ id, underWay: { small, large, rows } }]
  })
}
