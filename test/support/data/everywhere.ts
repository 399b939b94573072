/**
 * The whole globe as a polygon, which everybody is inside of.
 *
 * @module
 */
export const everywhere = {
  type: 'Polygon',
  coordinates: [
    [
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
    ],
  ],
}
