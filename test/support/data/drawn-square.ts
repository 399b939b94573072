/**
 * One degree by one degree, as a client draws it.
 *
 * @module
 */
export const drawnSquare = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  ],
}
