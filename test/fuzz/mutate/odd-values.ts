/**
 * Numbers, texts and names that programs stumble over.
 *
 * @module
 */

/** As they stand in JSON, or where a number of JSON should stand. */
export const oddNumbers: readonly string[] = [
  ...['0', '-0', '-1', '1', '0.1', '1e3', '1E+2', '1e999', '-1e999', '1e-999', '5e-324'],
  ...['1.7976931348623157e308', '2147483647', '2147483648', '-2147483649', '4294967295'],
  ...['4294967296', '9007199254740993', '18446744073709551616', '179.99999999', '180'],
  ...['180.0000001', '-180', '-180.00000005', '360', '540.5', '90', '90.0000001', '-90', '-90.1'],
  ...['180.00000000000003', '-180.00000000000003', '179.99999999999997', '-179.99999999999997'],
  ...[
    '1.795e2',
    '17950000000e-8',
    '179.49999999999998863',
    '540.0000000000001',
    '-99999999.9999999',
  ],
  ...[
    '100000000',
    '100000000.00000001',
    '36000000',
    '89.99999999999999',
    '90.00000000000001',
    '2e-7',
  ],
  ...['20015000', '20015086.8', '10000', '10001', '65536', '1e-7', '5e-8', '1'.repeat(400)],
  ...['00', '01', '+1', '.5', '1.', '0x10', 'NaN', 'Infinity', '-', '1e', '1_000', '١'],
]

/** Looks like a phone of a recipient, so that logs and errors must not quote it. */
export const MARKER = '+99977700055501'

/** Texts before they are quoted. */
export const oddTexts: readonly string[] = [
  ...['', ' ', '\0', '\t', '\r\n', '"', '\\', '\ufeff', '\u2028', '\u202e', '\ufffe', '\ud800'],
  ...['é', 'e\u0301', '𝒳', '👩‍👩‍👧', 'ſ', 'K', 'İ', 'ß', 'true', 'null', '1', '1e999', '[]', '{}'],
  ...['=1+1', "'; --", '<script>', '../../etc/passwd', '%00', 'a'.repeat(300), 'é'.repeat(70_000)],
  ...['__proto__', 'constructor', 'toString', 'Polygon', 'polygon', 'GeometryCollection'],
  ...['esriGeometryPolygon', 'Contact', '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60', MARKER, MARKER],
]

/** Names that mean something somewhere, and names that mean something to JavaScript. */
export const oddNames: readonly string[] = [
  ...['geoJSON', 'GEOJSON', 'shapes', 'features', 'geometry', 'geometries', 'coordinates', 'type'],
  ...['properties', 'radius', 'buffer', 'nearest', 'exclude', 'sources', 'countsOnly', 'rings'],
  ...['paths', 'points', 'x', 'y', 'spatialReference', 'wkid', 'latestWkid', 'wkt', 'hasZ'],
  ...[
    'contactCountMode',
    'distinct',
    'clipToBoundary',
    'Id',
    'ContextName',
    'Areas',
    'Skip',
    'Take',
  ],
  ...['crs'],
  ...['bbox', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', ''],
  ...['\0', 'ſources', 'Kind', 'a'.repeat(65), 'a'.repeat(5_000), MARKER],
]
