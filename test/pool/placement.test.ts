import t from 'tap'
import { type Lane, placeFor, type QueryThread } from '../../src/pool/placement.js'

type UnderWay = readonly [small: number, large: number, rows: number]

const cases: readonly (readonly [string, Lane, readonly UnderWay[], number | undefined])[] = [
  [
    'the least busy one',
    'small',
    [
      [1, 0, 1],
      [1, 0, 0],
      [1, 0, 1],
    ],
    1,
  ],
  [
    'the first of equals',
    'small',
    [
      [0, 0, 0],
      [0, 0, 0],
    ],
    0,
  ],
  [
    'not behind a large one',
    'small',
    [
      [0, 1, 0],
      [1, 0, 2],
    ],
    1,
  ],
  [
    'two small ones at most',
    'small',
    [
      [2, 0, 0],
      [2, 0, 0],
    ],
    undefined,
  ],
  ['in spite of rows', 'small', [[1, 0, 2]], 0],
  ['rows beside one other task', 'rows', [[1, 0, 0]], 0],
  [
    'rows not behind two',
    'rows',
    [
      [1, 0, 1],
      [2, 0, 0],
      [0, 0, 2],
    ],
    undefined,
  ],
  [
    'rows not behind a large one',
    'rows',
    [
      [0, 1, 0],
      [0, 0, 1],
    ],
    1,
  ],
  [
    'a large one',
    'large',
    [
      [2, 0, 2],
      [0, 0, 0],
    ],
    1,
  ],
  [
    'a large one in spite of others',
    'large',
    [
      [2, 0, 2],
      [2, 0, 2],
    ],
    0,
  ],
  [
    'one worker is kept free of large ones',
    'large',
    [
      [0, 1, 0],
      [0, 0, 0],
    ],
    undefined,
  ],
  [
    'two of three may have a large one',
    'large',
    [
      [0, 1, 0],
      [0, 0, 0],
      [0, 0, 0],
    ],
    1,
  ],
  [
    'not three of three',
    'large',
    [
      [0, 1, 0],
      [0, 1, 0],
      [0, 0, 0],
    ],
    undefined,
  ],
  ['the only worker has all lanes', 'large', [[2, 0, 0]], 0],
  ['no worker', 'small', [], undefined],
]

t.test('where a task may go', async (t) => {
  for (const [title, lane, underWay, expected] of cases) {
    const threads = underWay.map(
      ([small, large, rows], id): QueryThread => ({ id, underWay: { small, large, rows } }),
    )
    t.equal(placeFor(lane, threads)?.id, expected, title)
  }
})
