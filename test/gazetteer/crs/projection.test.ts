/**
 * Coordinate systems: what is taken as degrees, what is projected, and what is refused by its name. The
 * figures of places are those of PROJ; test/gazetteer/files/gdal.long.test.ts compares all the rest.
 *
 * @module
 */
import t from 'tap'
import { type CrsStatement, readCrsName } from '../../../src/gazetteer/crs/crs-statement.js'
import { projectionOf } from '../../../src/gazetteer/crs/projection.js'

const REJECTED = { code: 'InputRejected' }
const projection = (text: string) => projectionOf('a.shp', readCrsName(text))

t.test('names of systems', async (t) => {
  const epsg = (code: number): CrsStatement => ({ kind: 'epsg', code })
  for (const [text, statement] of Object.entries({
    'EPSG:4269': epsg(4269),
    'epsg:3857': epsg(3857),
    'urn:ogc:def:crs:EPSG::26915': epsg(26915),
    'urn:ogc:def:crs:EPSG:8.5:26915': epsg(26915),
    'http://www.opengis.net/def/crs/EPSG/0/27700': epsg(27700),
    'OGC:CRS84': { kind: 'wgs84' },
    'urn:ogc:def:crs:OGC:1.3:CRS84': { kind: 'wgs84' },
    'http://www.opengis.net/def/crs/OGC/1.3/CRS84': { kind: 'wgs84' },
    ' +proj=utm +zone=15 ': { kind: 'proj', text: '+proj=utm +zone=15' },
    'GEOGCS["x"]': { kind: 'wkt', text: 'GEOGCS["x"]' },
    'ESRI:102003': { kind: 'other', name: 'ESRI:102003' },
  })) {
    t.same(readCrsName(text), statement, text)
  }
})

t.test('degrees that are within metres of WGS 84 stay as they are', async (t) => {
  for (const code of [4326, 4269, 4258, 4283, 7844, 6318]) {
    const { areDegrees, toDegrees } = projection(`EPSG:${code}`)
    t.ok(areDegrees)
    t.same(toDegrees(-95.123456789, 29.5), [-95.123456789, 29.5])
  }
})

t.test('places that are known', async (t) => {
  // The central meridian and the equator of a zone of UTM; the origins of others.
  for (const [text, x, y, lng, lat] of [
    ['EPSG:32615', 500_000, 0, -93, 0],
    ['EPSG:32715', 500_000, 10_000_000, -93, 0],
    ['EPSG:26915', 500_000, 0, -93, 0],
    ['EPSG:6330', 500_000, 0, -177, 0],
    ['EPSG:25832', 500_000, 0, 9, 0],
    ['EPSG:28355', 500_000, 10_000_000, 147, 0],
    ['EPSG:7846', 500_000, 10_000_000, 93, 0],
    ['EPSG:3857', 20_037_508.342789244, 0, 180, 0],
    ['EPSG:5070', 0, 0, -96, 23],
    ['EPSG:3338', 0, 0, -154, 50],
    ['EPSG:3347', 6_200_000, 3_000_000, -91.8666666666667, 63.390675],
    ['EPSG:2154', 700_000, 6_600_000, 3, 46.5],
    ['EPSG:3035', 4_321_000, 3_210_000, 10, 52],
    ['EPSG:2193', 1_600_000, 10_000_000, 173, 0],
    ['+proj=utm +zone=15 +datum=NAD83', 500_000, 0, -93, 0],
    ['+proj=utm +zone=15 +ellps=GRS80 +units=us-ft', 1_640_416.6666666667, 0, -93, 0],
  ] as const) {
    const found = projection(text).toDegrees(x, y) ?? [Number.NaN, Number.NaN]
    t.ok(Math.abs(found[0] - lng) < 5e-8 && Math.abs(found[1] - lat) < 5e-8, `${text}: ${found}`)
  }
  // Near the Tower of London, as PROJ has it without its grid.
  const [lng, lat] = projection('EPSG:27700').toDegrees(533_600, 180_500) ?? []
  t.ok(Math.abs((lng ?? 0) - -0.0763269661) < 1e-7 && Math.abs((lat ?? 0) - 51.5076452759) < 1e-7)
})

t.test('what is refused by its name', async (t) => {
  const geogcs = (datum: string, unit = 'UNIT["Degree",0.0174532925199433]', meridian = 0) =>
    `GEOGCS["a name",DATUM["${datum}",SPHEROID["GRS 1980",6378137,298.257222101]],PRIMEM["m",${meridian}],${unit}]`
  for (const [text, message] of [
    ['EPSG:4267', /system EPSG:4267 is none of those that are known by their code/],
    ['EPSG:99999', /EPSG:99999/],
    ['ESRI:102003', /system ESRI:102003 is not one that is known/],
    [geogcs('D_North_American_1927'), /a name has the datum D_North_American_1927/],
    [geogcs('D_Unknown'), /D_Unknown/],
    ['GEOGCS["a name",SPHEROID["x",6378137,298]]', /a name/],
    [geogcs('D_WGS_1984', 'UNIT["grad",0.0157079632679489]'), /counts angles in grad/],
    [geogcs('D_WGS_1984', undefined, 2.337), /does not count longitudes from Greenwich/],
    ['PROJCS["odd",', /odd/],
    [
      `PROJCS["odd",${geogcs('D_WGS_1984')},PROJECTION["Bonne"],PARAMETER["Standard_Parallel_1",45],UNIT["Meter",1]]`,
      /odd/,
    ],
    ['+proj=foo', /\+proj=foo/],
    ['+proj=utm +zone=15', /does not say its datum/],
    ['+proj=utm +zone=15 +datum=NAD27', /NAD27/],
    ['+proj=utm +zone=15 +ellps=clrk66 +nadgrids=conus', /needs the grid conus/],
    ['+proj=longlat +datum=WGS84 +pm=paris', /./],
    ['+proj=moll +datum=WGS84', /has the projection .*not supported/],
    ['+proj=tmerc +datum=WGS84 +axis=wsu', /./],
  ] as const) {
    t.throws(() => projection(text), { ...REJECTED, message }, text)
  }
})

t.test('a position where a projection has no answer', async (t) => {
  t.equal(projection('EPSG:32615').toDegrees(Number.NaN, 0), undefined)
  t.equal(projection('EPSG:3035').toDegrees(5e8, 5e8), undefined)
  t.equal(projection('EPSG:32615').toDegrees(1e9, 1e9), undefined)
})
