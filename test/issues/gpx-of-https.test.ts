/**
 * OsmAnd for iOS writes the namespace of GPX with https. Such a file was refused, as though it were not GPX.
 *
 * @module
 */
import t from 'tap'
import { readGpx } from '../../src/notations/gpx.js'

const gpx = (namespace: string) =>
  `<gpx version="1.1" xmlns="${namespace}"><wpt lat="29.75" lon="-95.36"/></gpx>`

t.test('the namespaces of GPX, as the standard and as programs write them', async (t) => {
  for (const scheme of ['http', 'https']) {
    for (const version of ['1/0', '1/1']) {
      const { features } = readGpx(gpx(`${scheme}://www.topografix.com/GPX/${version}`), 'gpx')
      t.same(features[0].geometry, { type: 'Point', coordinates: [-95.36, 29.75] })
    }
  }
  for (const other of [
    'https://www.topografix.com/GPX/1/2',
    'https://www.topografix.com/GPX/1/1/',
    'https://www.topografix.com/gpx/1/1',
    'ftp://www.topografix.com/GPX/1/1',
    'https://wwwxtopografix.com/GPX/1/1',
    'https://www.topografix.com.example/GPX/1/1',
    'https://topografix.com/GPX/1/1',
    'urn:x',
  ]) {
    t.throws(
      () => readGpx(gpx(other), 'gpx'),
      { code: 'InvalidGpx', message: /must be gpx/ },
      other,
    )
  }
})
