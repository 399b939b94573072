/**
 * Requests that work as they are against the embedded sample: sources 1, 2 and 3 in cities of the
 * United States, and the contexts of data/default.
 *
 * @module
 */

/** A request as it could be sent, with a few words on what it asks. */
export interface Example {
  readonly summary: string
  readonly request: Readonly<Record<string, unknown>>
}

/** By names that are unique within an operation: lower-case letters only. */
export type Examples = Readonly<Record<string, Example>>

const HOUSTON_ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const SAN_FRANCISCO_ID = 'b7e3d5a19c2f4860a1d4e7f83b6c9052'

/** Inside the ring road of Houston, as [longitude, latitude]. */
const houston = [
  [-95.46, 29.69],
  [-95.27, 29.69],
  [-95.27, 29.81],
  [-95.46, 29.81],
  [-95.46, 29.69],
]

const inHouston = {
  type: 'Feature',
  geometry: { type: 'Polygon', coordinates: [houston] },
  properties: {},
}

const withoutCentre = {
  type: 'FeatureCollection',
  features: [
    inHouston,
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [-95.37, 29.76] },
      properties: { radius: 2_000, exclude: true },
    },
  ],
}

const area = (Id: string, Name: string) => ({
  Id,
  Name,
  Geometry: { type: 'polygon', rings: [houston], spatialReference: { wkid: 4326 } },
  ShapeType: 'polygon',
  IsVisible: true,
})

export const noMembers: Examples = { all: { summary: 'The configuration', request: {} } }

export const configuration: Examples = {
  minimal: {
    summary: 'A configuration of few members',
    request: {
      MapDiv: 'map',
      TocDiv: 'toc',
      Basemaps: [{ Title: 'Streets', Url: 'https://maps.example/streets/MapServer' }],
      contactCountMode: 'ContactLocation',
      CustomerExtent: {
        type: 'extent',
        xmin: -125,
        ymin: 24,
        xmax: -66,
        ymax: 50,
        spatialReference: { wkid: 4326 },
      },
    },
  },
}

export const contextId: Examples = {
  houston: { summary: 'The context of Houston', request: { Id: HOUSTON_ID } },
  dashes: {
    summary: 'The same, its Guid written with dashes',
    request: { Id: '4C1F9A2E-7B6D-4E0F-9A3B-5C8D1E2F7A60' },
  },
}

export const contextPage: Examples = {
  first: { summary: 'The first ten', request: { Skip: 0, Take: 10 } },
  all: { summary: 'As many as fit a page', request: {} },
}

export const newContext: Examples = {
  unnumbered: {
    summary: 'A context of one area; the service gives it an Id',
    request: { ContextName: 'Drill', Areas: [area('inner-loop', 'Inside the ring road')] },
  },
}

export const changedContext: Examples = {
  houston: {
    summary: 'The context of Houston, with another name and one area',
    request: {
      Id: HOUSTON_ID,
      ContextName: 'Houston flood warning',
      Areas: [area('houston-inner-loop', 'Inside the Loop')],
    },
  },
}

export const doomedContext: Examples = {
  bay: { summary: 'The context of San Francisco Bay', request: { Id: SAN_FRANCISCO_ID } },
}

export const recipients: Examples = {
  counts: {
    summary: 'How many are inside a polygon',
    request: { countsOnly: true, geoJSON: { type: 'FeatureCollection', features: [inHouston] } },
  },
  circle: {
    summary: 'Who of source 1 is within 1,500 metres of a place',
    request: {
      countsOnly: false,
      geoJSON: {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [-95.37, 29.76] },
        properties: { radius: 1_500 },
      },
      sources: [1],
    },
  },
  nearest: {
    summary: 'The three of each source that are nearest to a place',
    request: {
      geoJSON: {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [-95.37, 29.76] },
        properties: { nearest: 3 },
      },
    },
  },
  page: {
    summary: 'The first two inside a polygon, and where to go on from there',
    request: { geoJSON: { type: 'FeatureCollection', features: [inHouston] }, limit: 2 },
  },
  excluding: {
    summary: 'How many contacts are inside a polygon, less a circle',
    request: { countsOnly: true, geoJSON: withoutCentre, contactCountMode: 'Contact' },
  },
  geometry: {
    summary: 'A polygon by itself',
    request: { countsOnly: true, geoJSON: { type: 'Polygon', coordinates: [houston] } },
  },
  esri: {
    summary: 'A polygon of Esri',
    request: {
      countsOnly: true,
      geoJSON: { rings: [houston], spatialReference: { wkid: 4326 } },
    },
  },
}

const alert = (identifier: string, message: string, polygon: string) =>
  `<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><identifier>${identifier}</identifier>` +
  `<sender>desk@example.org</sender><sent>2026-05-24T16:49:00-05:00</sent><status>Exercise</status>${message}` +
  '<scope>Public</scope><info><category>Met</category><event>Flood</event><urgency>Immediate</urgency>' +
  '<severity>Severe</severity><certainty>Observed</certainty><area><areaDesc>Houston</areaDesc>' +
  `<polygon>${polygon}</polygon></area></info></alert>`

const FLOOD = 'houston-flood-1'
const SHORT_FLOOD = 'houston-flood-0'
const FLOOD_UPDATE = 'houston-flood-2'

export const newAlert: Examples = {
  first: {
    summary: 'An alert with one polygon, latitude before longitude',
    request: {
      Identifier: FLOOD,
      cap: alert(
        FLOOD,
        '<msgType>Alert</msgType>',
        '29.69,-95.46 29.69,-95.27 29.81,-95.27 29.81,-95.46 29.69,-95.46',
      ),
    },
  },
  short: {
    summary: 'An alert that is soon over',
    request: {
      Identifier: SHORT_FLOOD,
      cap: alert(
        SHORT_FLOOD,
        '<msgType>Alert</msgType>',
        '29.69,-95.46 29.69,-95.27 29.81,-95.27 29.69,-95.46',
      ),
    },
  },
  update: {
    summary: 'The update of the first, farther east',
    request: {
      Identifier: FLOOD_UPDATE,
      cap: alert(
        FLOOD_UPDATE,
        `<msgType>Update</msgType><references>desk@example.org,${FLOOD},2026-05-24T16:49:00-05:00</references>`,
        '29.69,-95.40 29.69,-95.20 29.81,-95.20 29.81,-95.40 29.69,-95.40',
      ),
    },
  },
}

export const alertId: Examples = {
  one: { summary: 'An alert', request: { Identifier: FLOOD } },
}

export const alertPage: Examples = {
  first: { summary: 'The first ten alerts', request: { Take: 10 } },
}

export const alertChanges: Examples = {
  counts: {
    summary: 'How many are new, gone and staying',
    request: { Identifier: FLOOD_UPDATE },
  },
  gone: {
    summary: 'How many of each source are gone',
    request: { Identifier: FLOOD_UPDATE, since: FLOOD, part: 'gone', countsOnly: true },
  },
}

export const doomedAlert: Examples = {
  one: { summary: 'An alert that is no longer needed', request: { Identifier: SHORT_FLOOD } },
}

const AUDIENCE_ID = 'c0ffee00000000000000000000000001'

export const newAudience: Examples = {
  polygon: {
    summary: 'Who is inside a polygon, for an hour',
    request: {
      geoJSON: { type: 'FeatureCollection', features: [inHouston] },
      lifetimeSeconds: 3_600,
    },
  },
}

export const audiences: Examples = { all: { summary: 'All audiences', request: {} } }

export const audiencePage: Examples = {
  first: {
    summary: 'The first thousand, with the Id that the answer to the making had',
    request: { Id: AUDIENCE_ID, limit: 1_000 },
  },
}

export const doomedAudience: Examples = {
  one: { summary: 'An audience that is no longer needed', request: { Id: AUDIENCE_ID } },
}

export const servedSources: Examples = { all: { summary: 'All sources', request: {} } }

export const areaSearch: Examples = {
  name: { summary: 'Counties by name', request: { layer: 'counties', q: 'harris', limit: 10 } },
  place: { summary: 'All areas that a place is in', request: { at: '-95.37,29.76' } },
}

export const areaName: Examples = {
  key: { summary: 'A county by its key', request: { Name: 'counties:48201' } },
  alias: { summary: 'The same by the code of an alert', request: { Name: 'SAME:048201' } },
}

export const outline: Examples = {
  excluding: {
    summary: 'A polygon, less a circle',
    request: { geoJSON: withoutCentre, clipToBoundary: false },
  },
}

export const grid: Examples = {
  hexagons: {
    summary: 'How many are inside a polygon, by hexagons of some 5 square kilometres',
    request: { geoJSON: { type: 'Polygon', coordinates: [houston] }, h3Resolution: 7 },
  },
  tile: {
    summary: 'The same in 64 parts of a map tile, of those with five or more',
    request: {
      geoJSON: { type: 'Polygon', coordinates: [houston] },
      tile: '9/120/211',
      cellsPerSide: 8,
      minCount: 5,
    },
  },
}

export const suppressionPage: Examples = {
  first: { summary: 'The first ten numbers that hold for all sources', request: { Take: 10 } },
  source: { summary: 'The list of source 1', request: { SourceId: 1 } },
  number: { summary: 'The lists that a number is on', request: { Number: '+9995550101' } },
}

export const suppressed: Examples = {
  everywhere: {
    summary: 'Two numbers that nobody is to contact',
    request: { Numbers: ['+9995550101', '+9995550102'] },
  },
  source: {
    summary: 'A number that is not to be contacted as one of source 1',
    request: { SourceId: 1, Numbers: ['+9995550103'] },
  },
}

export const unsuppressed: Examples = {
  everywhere: {
    summary: 'Two numbers that may be contacted again',
    request: { Numbers: ['+9995550101', '+9995550102'] },
  },
  number: { summary: 'A single one', request: { Number: '+9995550102' } },
  source: {
    summary: 'A number of the list of source 1',
    request: { SourceId: 1, Numbers: ['+9995550103'] },
  },
}

export const changes: Examples = {
  moved: {
    summary: 'Somebody who comes, and somebody who goes',
    request: {
      Id: 1,
      batchId: 'example-1',
      changes: [
        { op: 'upsert', number: '+9995550104', lat: 29.76, lng: -95.37, contact: 'c104' },
        { op: 'delete', number: '+9995550105', contact: 'c105' },
      ],
    },
  },
}
