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

/** While rows wait. */
const casesBesideRows: typeof cases = [
  [
    'one small one at most',
    'small',
    [
      [1, 0, 0],
      [1, 0, 1],
    ],
    undefined,
  ],
  ['small ones before rows', 'small', [[0, 0, 2]], 0],
  ['rows beside one small one', 'rows', [[1, 0, 0]], 0],
]

/** The same while small ones come in. */
const casesBesideBoth: typeof cases = [
  [
    'two small ones at the first worker',
    'small',
    [
      [1, 0, 0],
      [1, 0, 1],
    ],
    0,
  ],
  [
    'one small one at the others',
    'small',
    [
      [2, 0, 0],
      [1, 0, 1],
    ],
    undefined,
  ],
  [
    'rows not at the first worker',
    'rows',
    [
      [0, 0, 0],
      [0, 0, 1],
    ],
    1,
  ],
  [
    'rows at the others alone',
    'rows',
    [
      [0, 0, 0],
      [1, 0, 1],
    ],
    undefined,
  ],
  ['the only worker has all lanes', 'rows', [[1, 0, 0]], 0],
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

function threadsOf(underWay: readonly UnderWay[]): QueryThread[] {
  return underWay.map(([small, large, rows], id) => ({ id, underWay: { small, large, rows } }))
}
