/**
 * The service in the words of OpenAPI 3.1, made of the schemas that describe its interface.
 *
 * @module
 */
import { components } from './open-api-components.js'
import { paths } from './open-api-paths.js'

/**
 * @param version  of the service
 * @param publicUrl  under which clients know it; the one that they read this from unless given
 */
export function openApi(version: string, publicUrl = '/'): Readonly<Record<string, unknown>> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hickory',
      version,
      summary: 'Who is inside this shape, exactly, now?',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    // A service that asks for no keys takes none.
    security: [{ bearer: [] }, { basic: [] }, {}],
    tags: [
      { name: 'Paths', description: 'Each operation at its own paths.' },
      { name: 'By name', description: 'Each operation by its name, as clients of DTOs call it.' },
      { name: 'Health', description: 'For those who run the service.' },
    ],
    paths: paths(),
    components: components(),
  }
}

const INTRODUCTION = [
  'What is described here is what to send. All members are optional, and null is the same as ' +
    'absent. The service also reads the names of members in any letter case, `GeoJson` for ' +
    '`geoJSON` and `Shapes` for `features`, and numbers and booleans that are written as text. ' +
    'Members that are not known are ignored, but for those that look as if they changed who is ' +
    'selected: they are refused.',
  'Paths are read in any letter case, doubled and trailing slashes count for nothing, and HEAD ' +
    'works where GET does. The format of an answer follows from the suffix `.json` or `.csv` of ' +
    'the path, else from `format`, else from Accept, else it is JSON. With `callback`, JSON is ' +
    'given to a function of that name.',
  'What is at `/json/reply/{Operation}` is also at `/json/oneway/{Operation}`, at ' +
    '`/csv/reply/{Operation}` and `/csv/oneway/{Operation}` with an answer in CSV, below `/api`, ' +
    'and for any verb; GET binds the query string, and does not write. ' +
    '`/json/reply/{Operation}[]` and `/api/{Operation}[]` take a list of requests and answer with ' +
    'a list, in order, and with the header X-AutoBatch-Completed; the first error ends it.',
].join('\n\n')
