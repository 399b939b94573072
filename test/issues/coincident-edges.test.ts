/** Outlines of polygons whose edges nearly coincide were given as the shapes, not dissolved. */
import t from 'tap'
import { runTask } from '../../src/outline/run-task.js'
import { validate } from '../../src/selection/validate.js'

const nearlyFlat = {
  type: 'Polygon',
  coordinates: [
    [
      [-179.99999995697058, 9.881468125314736e-8],
      [179.99999998955914, 45.00000003022302],
      [179.99999998955914, -90],
      [-179.99999995697058, 45.00000003022302],
      [-179.99999995697058, 9.881468125314736e-8],
    ],
  ],
}

const withNeedle = {
  type: 'Feature',
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [-180, -0.08000000038533785],
        [180.0000000000966, -0.08000000038533785],
        [180.0000000000966, -76],
        [-180, -76],
        [-180, -0.08000000038533785],
      ],
      [
        [-167.23903800000002, -1.4917462999999997],
        [-167.23903800000002, -37.102059399999995],
        [-167.23903800000002, 18.523188599999997],
        [-30.655465899999996, -54.65895110000001],
        [75.68566219999998, -82.35085350000001],
        [-167.23903800000002, -1.4917462999999997],
      ],
    ],
  },
  properties: { Radius: 188732 },
}

for (const [what, geoJson] of Object.entries({ nearlyFlat, withNeedle })) {
  t.test(`${what} is dissolved`, async (t) => {
    const { included, excluded } = validate({ geoJson }).shapes
    const choice = { included: [...included.keys()], excluded: [...excluded.keys()] }
    const task = { included, excluded, boundaries: [], choices: [choice], problem: undefined }
    t.equal(runTask(task).kind, 'dissolved')
  })
}
