import t from 'tap'
import {
  box,
  feature,
  line,
  point,
  polygon,
  positions,
  request,
  selected,
  verdictsOf,
} from '../../support/service/asked.js'

const DEGREE_METRES = (Math.PI * 6_371_000) / 180

/** Positions in words: longitude and latitude in degrees. */
interface Case {
  readonly name: string
  readonly shape: unknown
  readonly inside: string
  readonly outside: string
}

t.test('shapes on the globe', async (t) => {
  const inAndOut = {
    inside: '175 5, 180 5, -180 5, -175 5, 170 0, -170 10',
    outside: '0 5, 169 5, -169 5, 180 11',
  }
  const cases: Case[] = [
    {
      name: 'over the antimeridian, wrapped',
      shape: polygon('170 0, -170 0, -170 10, 170 10'),
      ...inAndOut,
    },
    { name: 'the same drawn to the east', shape: polygon(box(170, 0, 190, 10)), ...inAndOut },
    { name: 'the same drawn to the west', shape: polygon(box(-190, 0, -170, 10)), ...inAndOut },
    {
      name: 'the same one turn aside',
      shape: polygon(box(530, 0, 540, 10), box(531, 1, 539, 9)),
      inside: '170 5, 180 5, -180 5, 171 5',
      outside: '175 5, -175 5, 171.5 5',
    },
    {
      name: 'a hole spelled otherwise than its shell',
      shape: polygon(box(170, 0, 190, 10), '175 2, -175 2, -175 8, 175 8'),
      inside: '175 5, -172 5, 180 1',
      outside: '180 5, -180 5, -176 5, 0 5',
    },
    {
      name: 'a band with its seam as written',
      shape: polygon(box(-180, 10, 180, 20)),
      inside: '-180 15, 180 15, 0 10, 77 20',
      outside: '0 9, 180 21',
    },
    {
      name: 'a ring round the north pole, to the east',
      shape: polygon('0 60, 120 60, -120 60'),
      inside: '0 60, 60 60, 180 60, -180 61, 5 90, -60 75',
      outside: '0 59, 180 59, 7 -90, -180 -70',
    },
    {
      name: 'the south pole, to the west, from any vertex',
      shape: polygon('-120 -60, 120 -60, 0 -80'),
      inside: '180 -60, 0 -80, 0 -81, 60 -70, 100 -90',
      outside: '0 -79, 60 -69, 180 -59, 0 90',
    },
    {
      name: 'a step from -180 to 180 that is no way at all',
      shape: polygon('-180 60, 180 60, -170 60, 0 60, 100 60'),
      inside: '0 60, 0 61, 180 60, 120 75',
      outside: '0 59, -180 59',
    },
    {
      // From 10 degrees back to -10, and on to 10 again further north.
      name: 'a ring round the pole that folds back where it begins',
      shape: polygon('10 50, -10 60, 10 70, 130 50, -110 50'),
      inside: '0 54, 0 66, 10 71, -10 60, 11 70, 0 55, 9 50.4',
      outside: '0 60, 5 60, 10 60, 9 51.5, 11 60, -11 49',
    },
    {
      name: 'a hole round the pole leaves neither seam nor pole',
      shape: polygon(box(-180, 50, 180, 90), '10 70, 130 70, -110 70'),
      inside: '10 70, 10 69, 60 70, -180 50',
      outside: '10 71, 10 89, 10 90, -77 90, 180 90',
    },
    {
      name: 'lines hold what lies on them',
      shape: line('170 0, -170 2'),
      inside: '180 1, -180 1, 175 0.5, 170 0',
      outside: '0 1, 180 1.0000001, 172 0',
    },
    {
      name: 'a line is not closed',
      shape: line('0 0, 4 0, 4 4'),
      inside: '2 0, 4 2',
      outside: '2 2, 3 1',
    },
    {
      name: 'a point',
      shape: point(-180, 3),
      inside: '180 3, -180 3',
      outside: '180 3.0000001',
    },
    {
      name: 'a collection in a collection',
      shape: {
        type: 'GeometryCollection',
        geometries: [
          point(1, 1),
          {
            type: 'GeometryCollection',
            geometries: [
              {
                type: 'MultiPoint',
                coordinates: positions('2 2, 3 3'),
              },
            ],
          },
        ],
      },
      inside: '1 1, 2 2, 3 3',
      outside: '4 4',
    },
  ]
  for (const { name, shape, inside, outside } of cases) {
    t.same(
      selected(request(feature(shape)), inside),
      [...positions(inside).keys()],
      `${name}: inside`,
    )
    t.same(selected(request(feature(shape)), outside), [], `${name}: outside`)
  }
})

t.test('distances', async (t) => {
  const degrees = (count: number) => ({ radius: count * DEGREE_METRES })
  // The hole covers the left half of the shell, its lower and upper edges, and more to the left.
  const halved = polygon(box(0, 0, 10, 10), box(-5, -5, 5, 15))
  const cases: (Case & { readonly properties: unknown })[] = [
    {
      name: 'a circle',
      shape: point(180, 0),
      properties: degrees(1.001),
      inside: '180 0, -179 0, 179 0, -180 1',
      outside: '178.9 0, -179.2 0.7',
    },
    {
      name: 'a circle round a pole',
      shape: point(77, 89),
      properties: degrees(2.001),
      inside: '0 90, -103 89, 77 87',
      outside: '-103 88.9, 77 86.9',
    },
    {
      name: 'the whole globe',
      shape: point(0, 0),
      properties: { radius: 20_015_087 },
      inside: '180 0, 0 90, -180 0',
      outside: '',
    },
    {
      name: 'a corridor',
      shape: line('170 0, -170 0'),
      properties: degrees(1.001),
      inside: '180 1, -180 -1, 169 0, -169.1 0.1',
      outside: '0 0, 180 1.1, 168.9 0',
    },
    {
      name: 'a corridor along a great circle',
      shape: line('0 60, 180 60'),
      properties: degrees(1.001),
      inside: '12 90, 0 75, 180 61, 0 59',
      outside: '90 60, 90 88, 0 58.9',
    },
    {
      name: 'a margin along a parallel',
      shape: polygon(box(-40, 59, 40, 60)),
      properties: degrees(1.001),
      inside: '0 61, 0 58, 0 59.5, 40 61, 41.9 59.5',
      outside: '0 61.1, 0 57.9, 42.1 59.5',
    },
    {
      name: 'a margin in a hole',
      shape: polygon(box(0, 0, 10, 10), box(2, 2, 8, 8)),
      properties: degrees(1.001),
      inside: '1 1, 3 5, 5 7, 7.1 5, -1 5',
      outside: '5 5, 3.1 5, 5 6.9',
    },
    {
      name: 'a margin from what is left of a shell',
      shape: halved,
      properties: degrees(1.001),
      inside: '7 5, 5 5, 4.1 5, 5 -1, 5 11, 11 5, 4.5 -0.5',
      outside: '0 0, 0 -0.5, 3 0, 3 5, -5 5, 5 15, 4 -0.5',
    },
    {
      name: 'a margin over the antimeridian',
      shape: polygon(box(170, 0, 179.5, 10)),
      properties: degrees(1.001),
      inside: '-179.6 5, 180 5, -180 0',
      outside: '-179 5, 0 5',
    },
    {
      name: 'a margin round a cap',
      shape: polygon('0 60, 120 60, -120 60'),
      properties: degrees(1.001),
      inside: '0 90, 50 59, 180 59, -180 60',
      outside: '50 58.9',
    },
    {
      name: 'a collection',
      shape: { type: 'GeometryCollection', geometries: [point(0, 0), line('9 0, 9 9')] },
      properties: { BUFFER: DEGREE_METRES * 1.001 },
      inside: '0 1, 8 0.5, 9 10',
      outside: '4 0',
    },
  ]
  for (const { name, shape, properties, inside, outside } of cases) {
    const asked = request(feature(shape, properties))
    t.same(selected(asked, inside), [...positions(inside).keys()], `${name}: inside`)
    t.same(selected(asked, outside), [], `${name}: outside`)
  }
  const [limit] = verdictsOf(request(feature(point(0, 0), { radius: DEGREE_METRES })), '0 1')
  t.equal(limit, 'either', 'at the limit')
})
