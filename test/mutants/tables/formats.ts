/**
 * Faults in what is read and written: notations of shapes, alerts, XML, and the formats of answers.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofFormats: readonly Mutant[] = [
  {
    name: 'a hole of KML is a shell of its own',
    file: 'src/notations/kml/geometry.ts',
    find: "return { type: 'Polygon', coordinates: [...shell, ...holes] }",
    replace: "return { type: 'MultiPolygon', coordinates: [shell, holes] }",
  },
  {
    name: 'a second shell of KML is dropped silently',
    file: 'src/notations/kml/geometry.ts',
    find: 'if (shell.length > 1) reading',
    replace: 'if (shell.length > 2) reading',
  },
  {
    name: 'a geohash with the letter l is taken',
    file: 'src/notations/geohash.ts',
    find: '[0-9b-hjkmnp-z]{1,12}',
    replace: '[0-9b-hjk-np-z]{1,12}',
  },
  {
    name: 'rows of MGRS begin alike in even and odd zones',
    file: 'src/notations/mgrs.ts',
    find: 'const first = zone % 2 === 0 ? EVEN_ROW : 0',
    replace: 'const first = zone % 2 === 0 ? 0 : 0',
  },
  {
    name: 'an MGRS square is not cut at the edge of its zone',
    file: 'src/notations/mgrs.ts',
    find: 'ring = halfOf(ring, 0, (lng) => east - lng, east)',
    replace: 'ring = halfOf(ring, 0, (lng) => east + 1 - lng, east)',
  },
  {
    name: 'an H3 cell is read latitude first',
    file: 'src/notations/h3.ts',
    find: 'const ring = cellToBoundary(cell, true)',
    replace: 'const ring = cellToBoundary(cell, false)',
  },
  {
    name: 'a polyline that was cut off is taken',
    file: 'src/notations/polyline.ts',
    find: 'if (group > 0 || worth === 1) break',
    replace: 'if (group >= 0) break',
  },
  {
    name: 'a box with its south in the north is taken',
    file: 'src/notations/bbox.ts',
    find: 'if (south > north) {',
    replace: 'if (south > north + 180) {',
  },
  {
    name: 'a box over the antimeridian goes the other way round',
    file: 'src/notations/bbox.ts',
    find: 'const parts = [boxOf(west, south, 180, north), boxOf(-180, south, east, north)]',
    replace: 'const parts = [boxOf(east, south, west, north)]',
  },
  {
    name: 'a KMZ of more bytes than it may have is unpacked',
    file: 'src/notations/kmz/archive.ts',
    find: 'if (this.#unpackedBytes > this.#bytesMax) {',
    replace: 'if (this.#unpackedBytes < 0) {',
    hints: ['test/notations/kmz.test.ts'],
  },
  {
    name: 'the checksum of a file in a KMZ is not compared',
    file: 'src/notations/kmz/archive.ts',
    find: 'if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) damaged()',
    replace: 'if (content.length !== entry.uncompressedSize) damaged()',
    hints: ['test/notations/kmz.test.ts'],
  },
  {
    name: 'a polygon of CAP has longitude first',
    file: 'src/cap/coordinates.ts',
    find: 'return pairs.map(({ lat, lng }) => [lng, lat])',
    replace: 'return pairs.map(({ lat, lng }) => [lat, lng])',
  },
  {
    name: 'the radius of a circle of CAP is in metres',
    file: 'src/cap/coordinates.ts',
    find: 'Number(exponent) + 3}',
    replace: 'Number(exponent)}',
  },
  {
    name: 'a polygon of CAP that is open is closed silently',
    file: 'src/cap/coordinates.ts',
    find: 'if (first.lat !== last.lat || first.lng !== last.lng) {',
    replace: 'if (first.lat !== last.lat && first.lng !== last.lng) {',
  },
  {
    name: 'an alert that has expired selects people',
    file: 'src/cap/infos.ts',
    find: 'info.expires.atMs <= nowMs)',
    replace: 'info.expires.atMs <= 0)',
  },
  {
    name: 'a language en is also enm',
    file: 'src/cap/infos.ts',
    find: 'wanted}-`)',
    replace: 'wanted}`)',
  },
  {
    name: 'six digits of FIPS6 are no SAME code',
    file: 'src/cap/geocode-systems.ts',
    find: "if (system === 'FIPS6' && /^\\d{6}$/.test(value))",
    replace: "if (system === 'FIPS6' && /^\\d{5}$/.test(value))",
  },
  {
    name: 'XML with a document type is read',
    file: 'src/xml/read-xml.ts',
    find: "builder.fail('has a document type, which is not read: leave out <!DOCTYPE …>', parser.line)",
    replace: "void 'has a document type, which is not read: leave out <!DOCTYPE …>'",
  },
  {
    name: 'the depth of XML is not bounded',
    file: 'src/xml/read-xml.ts',
    find: 'if (this.#open.length >= limits.xmlDepthCount) {',
    replace: 'if (this.#open.length >= limits.xmlElementCount) {',
  },
  {
    name: 'a quotation mark in CSV is not doubled',
    file: 'src/format/csv.ts',
    find: `return text.replaceAll('"', '""')`,
    replace: `return text.replaceAll('"', '"')`,
  },
  {
    name: 'a text that begins with @ is a formula of a spreadsheet',
    file: 'src/format/csv.ts',
    find: '/^[=+\\-@\\t\\r\\n＝＋－＠]/',
    replace: '/^[=+\\-\\t\\r\\n＝＋－＠]/',
  },
  {
    name: 'a callback of JSONP may have any signs',
    file: 'src/format/jsonp.ts',
    find: "const callback = name.replace(/[^A-Za-z0-9._]/g, '_')",
    replace: "const callback = name.replace(/[^A-Za-z0-9._()]/g, '_')",
  },
  {
    name: 'a text with a comma is not quoted in JSV',
    file: 'src/format/jsv.ts',
    find: 'return /["{}[\\],:\\r\\n]|^[ \\t]*$/.test(text)',
    replace: 'return /["{}[\\]:\\r\\n]|^[ \\t]*$/.test(text)',
  },
  {
    name: 'the header of warnings is longer than proxies take',
    file: 'src/format/warning-headers.ts',
    find: 'if (value.length <= limits.warningHeaderBytes) return value',
    replace: 'if (value.length <= 2 * limits.warningHeaderBytes) return value',
  },
]
