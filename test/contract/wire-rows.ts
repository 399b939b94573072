/**
 * The wire, statement by statement: what is sent to the service of `wire-world.ts`, and every byte of what
 * comes back.
 *
 * @module
 */
import type { Test } from 'tap'
import { limits } from '../../src/limits.js'
import type { Answer } from '../http/wire.js'
import { CONFIGURATION, CONTEXT_GUID, CONTEXT_ID, SQUARE } from './wire-world.js'

interface Row {
  readonly claim: string
  /** Verb and path. */
  readonly line: string
  readonly headers?: readonly string[]
  readonly body?: string
  readonly status?: number
  /** Null: the header must not be there. */
  readonly expect?: Readonly<Record<string, string | RegExp | null>>
  /** Every byte, or a pattern. */
  readonly answer: string | RegExp
}

const JSON_TYPE = 'application/json; charset=utf-8'
const POST_JSON = ['Content-Type: application/json']

const polygon = JSON.stringify({ type: 'Polygon', coordinates: [SQUARE] })
const feature = `{"type":"Feature","geometry":${polygon},"properties":{}}`
const asSample = `{"countsOnly":true,"geoJSON":{"type":"FeatureCollection","features":[${feature}]}}`
const asTable = `{"CountsOnly":true,"GeoJson":{"Type":"FeatureCollection","Shapes":[{"Type":"Feature","Geometry":{"Type":"Polygon","Coordinates":${JSON.stringify([SQUARE])}},"Properties":{}}]}}`
export const asList = asSample.replace('true', 'false')

const COUNTS =
  '{"SourceRecords":[{"SourceId":1,"Label":"Landline","Count":2,"Status":"Ok"},' +
  '{"SourceId":2,"Label":"a \\"q\\", b","Count":0,"Status":"Ok"},' +
  '{"SourceId":3,"Label":"=1+1","Count":1,"Status":"Ok"}]}'
const NOBODY = COUNTS.replace('"Count":2', '"Count":0')
  .replace('"Count":1', '"Count":0')
  .replace(
    /}$/,
    ',"Warnings":[{"Code":"NothingAsked","Message":"nothing is drawn, which selects nobody: ' +
      'shapes are in geoJSON, wkt, bbox, cap and others; areas names areas"}]}',
  )
const COUNTS_CSV =
  'SourceId,Label,Count,Status\r\n1,Landline,2,Ok\r\n2,"a ""q"", b",0,Ok\r\n3,\'=1+1,1,Ok\r\n'
const LIST =
  '{"SourceRecords":[{"SourceId":1,"Label":"Landline","Count":2,"Status":"Ok","Recipients":[' +
  '{"Number":"+99912345678","LatLng":{"Lat":59.91,"Lng":10.75}},' +
  '{"Number":"+999 22,33","LatLng":{"Lat":59.5,"Lng":10.25}}]},' +
  '{"SourceId":2,"Label":"a \\"q\\", b","Count":0,"Status":"Ok","Recipients":[]},' +
  '{"SourceId":3,"Label":"=1+1","Count":1,"Status":"Ok","Recipients":[' +
  '{"Number":"+99930000001","LatLng":{"Lat":59.25,"Lng":10.5}}]}]}'
const LIST_CSV =
  'SourceId,Label,Number,Lat,Lng\r\n1,Landline,+99912345678,59.91,10.75\r\n' +
  '1,Landline,"+999 22,33",59.5,10.25\r\n' +
  "3,'=1+1,+99930000001,59.25,10.5\r\n"
export const LIST_NDJSON =
  '{"SourceId":1,"Number":"+99912345678","LatLng":{"Lat":59.91,"Lng":10.75}}\n' +
  '{"SourceId":1,"Number":"+999 22,33","LatLng":{"Lat":59.5,"Lng":10.25}}\n' +
  '{"SourceId":3,"Number":"+99930000001","LatLng":{"Lat":59.25,"Lng":10.5}}\n'
const COUNTS_NDJSON =
  '{"SourceId":1,"Label":"Landline","Count":2,"Status":"Ok"}\n' +
  '{"SourceId":2,"Label":"a \\"q\\", b","Count":0,"Status":"Ok"}\n' +
  '{"SourceId":3,"Label":"=1+1","Count":1,"Status":"Ok"}\n'
const LIST_BY_SOURCE =
  'SourceId,Label,Count,Status,Recipients\r\n' +
  '1,Landline,2,Ok,"[{Number:+99912345678,LatLng:{Lat:59.91,Lng:10.75}},{Number:""+999 22,33"",LatLng:{Lat:59.5,Lng:10.25}}]"\r\n' +
  '2,"a ""q"", b",0,Ok,"[]"\r\n' +
  '3,\'=1+1,1,Ok,"[{Number:+99930000001,LatLng:{Lat:59.25,Lng:10.5}}]"\r\n'

const CONFIGURATION_JSON = JSON.stringify(CONFIGURATION)
const CONFIGURATION_CSV =
  'Title,Url,ThumbnailUrl\r\n"Streets, ""old""",http://x/y?a=1&b=2,http://x/t.png\r\n\'=cmd,http://x/z,\r\n'

const rings = JSON.stringify([SQUARE])
const CONTEXT_JSON =
  `{"Id":"${CONTEXT_ID}","ContextName":"ctx","Areas":[{"Id":"a1","Name":"North, side",` +
  `"Geometry":{"type":"polygon","rings":${rings},"spatialReference":{"wkid":4326}},` +
  '"DomId":"d","ShapeType":"polygon","IsVisible":true,"IsSelected":false,"IsActive":false,' +
  '"IsUpdatingContactList":false,"Contacts":[{"Label":"Landline","Count":2},' +
  '{"Label":"a \\"q\\", b","Count":0},{"Label":"=1+1","Count":1}],"ContactTotalCount":3,' +
  '"HasContactCountError":false,"HasInvalidShapeError":false},' +
  '{"Id":"a2","Name":"Broken","Geometry":{"type":"polygon","rings":[[[0,95]]],' +
  '"spatialReference":{"wkid":4326}},"IsUpdatingContactList":false,' +
  '"HasContactCountError":false,"HasInvalidShapeError":true}]}'
const CONTEXT_CSV =
  'Id,Name,Geometry,DomId,ShapeType,IsVisible,IsSelected,IsActive,IsUpdatingContactList,Contacts,ContactTotalCount,HasContactCountError,HasInvalidShapeError\r\n' +
  `a1,"North, side","{type:polygon,rings:${rings},spatialReference:{wkid:4326}}",d,polygon,True,False,False,False,` +
  '"[{Label:Landline,Count:2},{Label:""a """"q"""", b"",Count:0},{Label:=1+1,Count:1}]",3,False,False\r\n' +
  'a2,Broken,"{type:polygon,rings:[[[0,95]]],spatialReference:{wkid:4326}}",,,,,,False,,,False,True\r\n'

const errorBody = (code: string, field?: string) =>
  new RegExp(
    `^\\{"ResponseStatus":\\{"ErrorCode":"${code}","Message":"[^"]+","Errors":\\[` +
      (field === undefined
        ? '\\]\\}\\}$'
        : `\\{"ErrorCode":"${code}","FieldName":"${field}","Message":"[^"]+"\\}\\]\\}\\}$`),
  )

const configurationRows: Row[] = [
  {
    claim: 'GET /api/configuration is the configuration: names, order and values as declared',
    line: 'GET /api/configuration',
    expect: {
      'content-type': JSON_TYPE,
      vary: /^Accept/,
      etag: /^W\/"/,
      'cache-control': 'no-cache',
      'access-control-allow-origin': null,
    },
    answer: CONFIGURATION_JSON,
  },
  ...[
    'GET /API/Configuration/',
    'GET //api//configuration',
    'GET /api/configuration.json',
    'GET /api/configuration?format=json',
    'GET /api/configuration?version=1&jsconfig=eccn',
    'GET /json/reply/GetMapConfigurationRequest',
    'GET /api/json/reply/GetMapConfigurationRequest',
    'GET /JSON/Reply/getmapconfigurationrequest',
    'GET /json/oneway/GetMapConfigurationRequest',
    'GET /api/GetMapConfigurationRequest',
    'GET /api/GetMapConfigurationRequest.json',
    'GET /csv/reply/GetMapConfigurationRequest?format=json',
  ].map(
    (line): Row => ({
      claim: 'spelled in another way it is the same',
      line,
      expect: { 'content-type': JSON_TYPE },
      answer: CONFIGURATION_JSON,
    }),
  ),
  ...['{}', '', '{"MapDiv":"x","layers":[]}'].map(
    (body): Row => ({
      claim: 'POST /json/reply/<Operation> with an empty object, or any members, is the same',
      line: 'POST /json/reply/GetMapConfigurationRequest',
      headers: POST_JSON,
      body,
      expect: { 'content-type': JSON_TYPE },
      answer: CONFIGURATION_JSON,
    }),
  ),
  ...[
    ['GET /api/configuration.csv'],
    ['GET /api/configuration?format=csv'],
    ['GET /api/configuration?FORMAT=CSV'],
    ['GET /api/configuration.csv?format=json'],
    ['GET /api/configuration', 'Accept: text/csv'],
    ['GET /api/GetMapConfigurationRequest.csv'],
    ['GET /api/GetMapConfigurationRequest', 'Accept: text/csv'],
    ['GET /csv/reply/GetMapConfigurationRequest'],
    ['GET /csv/reply/GetMapConfigurationRequest', 'Accept: application/json'],
    ['GET /api/csv/reply/GetMapConfigurationRequest'],
  ].map(
    ([line, ...headers]): Row => ({
      claim: 'CSV is the rows of its base maps',
      line,
      headers,
      expect: {
        'content-type': 'text/csv',
        'content-disposition': 'attachment;filename=GetMapConfigurationRequest.csv',
      },
      answer: CONFIGURATION_CSV,
    }),
  ),
  {
    claim: 'POST /csv/reply/<Operation> with Content-Type text/csv is 200 with text/csv',
    line: 'POST /csv/reply/GetMapConfigurationRequest',
    headers: ['Content-Type: text/csv'],
    body: '',
    expect: { 'content-type': 'text/csv' },
    answer: CONFIGURATION_CSV,
  },
  ...[
    'Accept: text/csv,application/json',
    'Accept: application/json;q=0.1,text/csv;q=0.9',
    'Accept: text/csv,*/*;q=0.1',
    'Accept: image/png',
    'Accept: text/html,application/xhtml+xml,*/*;q=0.8',
    'Accept: text/json',
  ].map(
    (accept): Row => ({
      claim: 'JSON where Accept has it, or has nothing that is known; never 406',
      line: 'GET /api/configuration',
      headers: [accept],
      expect: { 'content-type': JSON_TYPE },
      answer: CONFIGURATION_JSON,
    }),
  ),
  {
    claim: 'the suffix goes before Accept',
    line: 'GET /api/configuration.json',
    headers: ['Accept: text/csv'],
    expect: { 'content-type': JSON_TYPE },
    answer: CONFIGURATION_JSON,
  },
  {
    claim: 'a suffix in capitals is none',
    line: 'GET /api/configuration.CSV',
    status: 404,
    answer: errorBody('NotFound'),
  },
  {
    claim: 'HEAD is GET without the body',
    line: 'HEAD /api/configuration',
    expect: { 'content-length': String(Buffer.byteLength(CONFIGURATION_JSON)) },
    answer: '',
  },
  ...[
    ['DELETE /api/configuration', 'GET, HEAD, POST'],
    ['PUT /api/configuration', 'GET, HEAD, POST'],
    ['GET /api/recipients', 'POST'],
  ].map(
    ([line, allow]): Row => ({
      claim: 'a verb that a path does not have is 405, with those it has',
      line,
      status: 405,
      expect: { allow },
      answer: errorBody('MethodNotAllowed'),
    }),
  ),
]

const contextRows: Row[] = [
  ...[
    `GET /api/contexts/${CONTEXT_ID}`,
    `GET /api/contexts/${CONTEXT_GUID}`,
    `GET /api/contexts/%7B${CONTEXT_GUID}%7D`,
    `GET /api/contexts/(${CONTEXT_GUID})`,
    `GET /api/Contexts/${CONTEXT_ID}.json`,
    `GET /api/contexts/${'0'.repeat(32)}?Id=${CONTEXT_ID}`,
    `GET /json/reply/GetMapContextRequest?id=${CONTEXT_GUID}`,
    `GET /api/GetMapContextRequest?Id=${CONTEXT_ID}`,
  ].map(
    (line): Row => ({
      claim: 'a context by its Id in any form, with live counts; the Id comes as 32 digits',
      line,
      expect: { 'content-type': JSON_TYPE, etag: /^W\/"/ },
      answer: CONTEXT_JSON,
    }),
  ),
  {
    claim: 'the Id may be in the body',
    line: 'POST /json/reply/GetMapContextRequest',
    headers: POST_JSON,
    body: `{"Id":"${CONTEXT_GUID}"}`,
    answer: CONTEXT_JSON,
  },
  {
    claim: 'CSV of a context is a row for each area',
    line: `GET /api/contexts/${CONTEXT_ID}.csv`,
    expect: {
      'content-type': 'text/csv',
      'content-disposition': 'attachment;filename=GetMapContextRequest.csv',
    },
    answer: CONTEXT_CSV,
  },
  {
    claim: 'contexts are listed',
    line: 'GET /api/contexts',
    answer: `{"Offset":0,"Total":1,"Results":[{"Id":"${CONTEXT_ID}","ContextName":"ctx","AreaCount":2}]}`,
  },
  {
    claim: 'an Id that is no Guid is 400 and names the member',
    line: 'GET /api/contexts/xyz',
    status: 400,
    answer: errorBody('InvalidRequest', 'Id'),
  },
  {
    claim: 'an Id that is not known is 404',
    line: `GET /api/contexts/${'0'.repeat(32)}`,
    status: 404,
    answer: errorBody('NotFound'),
  },
  {
    claim: 'errors in CSV are one row of one column',
    line: `GET /api/contexts/${'0'.repeat(32)}.csv`,
    status: 404,
    expect: { 'content-type': 'text/csv' },
    answer: /^ResponseStatus\r\n"\{ErrorCode:NotFound,Message:[^"]+,Errors:\[\]\}"\r\n$/,
  },
]

const recipientRows: Row[] = [
  ...[
    '/api/recipients',
    '/api/data/Geometry',
    '/json/reply/RecipientRequest',
    '/api/RecipientRequest',
  ].flatMap((path) =>
    [
      asSample,
      asTable,
      asSample
        .toUpperCase()
        .replace('TRUE', 'true')
        .replace('POLYGON', 'Polygon')
        .replace('"FEATURECOLLECTION"', '"FeatureCollection"')
        .replace('"FEATURE"', '"Feature"'),
    ].map(
      (body): Row => ({
        claim: 'counts, in either spelling of the request and in any letters',
        line: `POST ${path}`,
        headers: POST_JSON,
        body,
        expect: {
          'content-type': JSON_TYPE,
          'x-snapshot': /^\d{6}-[0-9a-f]{8}$/,
          'cache-control': 'no-store',
        },
        answer: COUNTS,
      }),
    ),
  ),
  ...['"true"', '"TRUE"', '1', '"1"'].map(
    (value): Row => ({
      claim: 'countsOnly is understood as clients write it',
      line: 'POST /api/recipients',
      body: asSample.replace('true', value),
      answer: COUNTS,
    }),
  ),
  {
    claim: 'without countsOnly the recipients are listed, with number, latitude and longitude',
    line: 'POST /api/recipients',
    headers: POST_JSON,
    body: asList,
    answer: LIST,
  },
  {
    claim: 'members that clients of ServiceStack add count for nothing',
    line: 'POST /api/recipients',
    body: asSample.replace('{"countsOnly"', '{"version":1,"bearerToken":"x","countsOnly"'),
    answer: COUNTS,
  },
  ...['', '{}', '  ', '{"geoJSON":null}'].map(
    (body): Row => ({
      claim: 'all members are optional; without shapes nobody is selected',
      line: 'POST /api/recipients?countsOnly=true',
      headers: POST_JSON,
      body,
      answer: NOBODY,
    }),
  ),
  {
    claim: 'the query goes before the body on the paths of the operation',
    line: 'POST /api/recipients?CountsOnly=true',
    headers: POST_JSON,
    body: asList,
    answer: COUNTS,
  },
  {
    claim: 'where the path names the operation, the body goes before the query',
    line: 'POST /json/reply/RecipientRequest?countsOnly=true',
    headers: POST_JSON,
    body: asList,
    answer: LIST,
  },
  {
    claim: 'where the path names the format, Accept does not',
    line: 'POST /json/reply/RecipientRequest',
    headers: [...POST_JSON, 'Accept: text/csv'],
    body: asSample,
    expect: { 'content-type': JSON_TYPE },
    answer: COUNTS,
  },
  {
    claim: 'GET binds the query, shapes as JSON or JSV',
    line: 'GET /json/reply/RecipientRequest?countsOnly=true&geoJSON={type:Polygon,coordinates:[[[10,59],[11,59],[11,60],[10,60]]]}',
    answer: COUNTS,
  },
  {
    claim: 'a form is a request',
    line: 'POST /api/recipients',
    headers: ['Content-Type: application/x-www-form-urlencoded'],
    body: `countsOnly=true&geoJSON=${encodeURIComponent('{type:Polygon,coordinates:[[[10,59],[11,59],[11,60],[10,60]]]}')}`,
    answer: COUNTS,
  },
  {
    claim: 'the body of POST /json/reply is JSON whatever its Content-Type says',
    line: 'POST /json/reply/RecipientRequest',
    headers: ['Content-Type: text/csv'],
    body: asSample,
    answer: COUNTS,
  },
  ...[
    ['POST /api/recipients.csv'],
    ['POST /api/data/Geometry.csv'],
    ['POST /api/recipients?format=csv'],
    ['POST /api/recipients', 'Accept: text/csv'],
    ['POST /csv/reply/RecipientRequest'],
    ['POST /api/recipients', 'Accept: */*', 'Content-Type: text/csv'],
  ].map(
    ([line, ...headers]): Row => ({
      claim: 'counts as CSV: a row for each source, ended by CRLF, formulas made harmless',
      line,
      headers,
      body: asSample,
      expect: {
        'content-type': 'text/csv',
        'content-disposition': 'attachment;filename=RecipientRequest.csv',
      },
      answer: COUNTS_CSV,
    }),
  ),
  {
    claim: 'a list as CSV: a row for each recipient, numbers as they are',
    line: 'POST /api/recipients.csv',
    body: asList,
    answer: LIST_CSV,
  },
  {
    claim: 'layout=sources: a row for each source, its recipients nested',
    line: 'POST /api/recipients.csv?layout=sources',
    body: asList,
    answer: LIST_BY_SOURCE,
  },
  {
    claim: 'counts in that layout leave the last cell empty',
    line: 'POST /api/recipients.csv?layout=sources',
    body: asSample,
    answer:
      'SourceId,Label,Count,Status,Recipients\r\n1,Landline,2,Ok,\r\n2,"a ""q"", b",0,Ok,\r\n3,\'=1+1,1,Ok,\r\n',
  },
  ...['garbage', '{"countsOnly":true', '{"countsOnly":true,}', "{'countsOnly':true}", '{} x'].map(
    (body): Row => ({
      claim: 'JSON that is broken is 400, not a guess',
      line: 'POST /api/recipients',
      headers: POST_JSON,
      body,
      status: 400,
      answer: errorBody('InvalidJson'),
    }),
  ),
  ...['[]', 'null', '"text"', '7'].map(
    (body): Row => ({
      claim: 'JSON that is no object is 400',
      line: 'POST /api/recipients',
      headers: POST_JSON,
      body,
      status: 400,
      answer: errorBody('InvalidRequest'),
    }),
  ),
  {
    claim: 'a shape that cannot be understood is 400 and names the member',
    line: 'POST /api/recipients',
    headers: POST_JSON,
    body: '{"geoJSON":{"features":[{"geometry":{"type":"Circle","coordinates":[1,2]}}]}}',
    status: 400,
    answer: errorBody('UnknownGeometryType', 'geoJSON\\.features\\[0\\]\\.geometry\\.type'),
  },
  {
    claim: 'a number that is too large to be one is no place',
    line: 'POST /api/recipients',
    body: '{"geoJSON":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1e999]]]}}',
    status: 400,
    answer: errorBody('LatitudeOutOfRange', 'geoJSON\\.coordinates\\[0\\]\\[2\\]'),
  },
  {
    claim: 'a body that is too large is 413',
    line: 'POST /api/recipients',
    body: ' '.repeat(limits.bodyBytes + 1),
    status: 413,
    answer: errorBody('BodyTooLarge'),
  },
]

const ndjsonRows: Row[] = [
  ...[
    ['POST /api/recipients', 'Accept: application/x-ndjson'],
    ['POST /api/data/Geometry', 'Accept: application/ndjson'],
    ['POST /api/recipients?format=ndjson'],
    ['POST /api/recipients?FORMAT=NDJSON', 'Accept: application/json'],
    ['POST /json/reply/RecipientRequest?format=ndjson'],
    ['POST /api/RecipientRequest', 'Accept: text/html, application/x-ndjson'],
  ].flatMap(([line, ...headers]): Row[] => {
    const expect = { 'content-type': 'application/x-ndjson', 'content-disposition': null }
    return [
      {
        claim: 'a list as NDJSON: a line for each recipient',
        line,
        headers,
        body: asList,
        expect: { ...expect, 'cache-control': 'no-store', 'x-next-after': null },
        answer: LIST_NDJSON,
      },
      {
        claim: 'counts as NDJSON: a line for each source',
        line,
        headers,
        body: asSample,
        expect,
        answer: COUNTS_NDJSON,
      },
    ]
  }),
  ...['POST /api/recipients.csv', 'POST /api/recipients.json'].map(
    (line): Row => ({
      claim: 'the suffix goes before it',
      line,
      headers: ['Accept: application/x-ndjson'],
      body: asSample,
      answer: line.endsWith('csv') ? COUNTS_CSV : COUNTS,
    }),
  ),
  {
    claim: 'a callback calls for JSON, whatever Accept and format say',
    line: 'POST /api/recipients?callback=cb&format=ndjson',
    headers: ['Accept: application/x-ndjson'],
    body: asSample,
    expect: { 'content-type': 'text/javascript' },
    answer: `cb(${COUNTS})`,
  },
  {
    claim: 'nobody is no line',
    line: 'POST /api/recipients?format=ndjson',
    headers: ['Accept-Encoding: identity'],
    body: '{}',
    expect: { 'content-length': '0' },
    answer: '',
  },
  {
    claim: 'a document is one line',
    line: 'GET /api/configuration?format=ndjson',
    expect: { 'content-type': 'application/x-ndjson', etag: /^W\/".+-ndjson"$/ },
    answer: `${CONFIGURATION_JSON}\n`,
  },
  {
    claim: 'so is a list of contexts',
    line: 'GET /api/contexts?format=ndjson',
    answer: `{"Offset":0,"Total":1,"Results":[{"Id":"${CONTEXT_ID}","ContextName":"ctx","AreaCount":2}]}\n`,
  },
  {
    claim: 'a batch is a line for each answer',
    line: 'POST /json/reply/RecipientRequest[]?format=ndjson',
    body: `[${asSample},{"countsOnly":true},${asList}]`,
    expect: { 'x-autobatch-completed': '3' },
    answer: `${COUNTS}\n${NOBODY}\n${LIST}\n`,
  },
  {
    claim: 'an error is the line that it is in JSON, with its status',
    line: 'GET /api/contexts/xyz?format=ndjson',
    status: 400,
    expect: { 'content-type': 'application/x-ndjson' },
    answer:
      /^\{"ResponseStatus":\{"ErrorCode":"InvalidRequest","Message":"[^"]+","Errors":\[\{[^}]+\}\]\}\}\n$/,
  },
]

const otherRows: Row[] = [
  {
    claim: 'a callback makes a script of it, without a semicolon',
    line: 'GET /api/contexts?callback=my.cb',
    expect: { 'content-type': 'text/javascript', 'x-content-type-options': 'nosniff' },
    answer: `my.cb({"Offset":0,"Total":1,"Results":[{"Id":"${CONTEXT_ID}","ContextName":"ctx","AreaCount":2}]})`,
  },
  {
    claim: 'a callback goes before format=csv and before /csv/',
    line: 'POST /csv/reply/RecipientRequest?callback=cb&format=csv',
    body: asSample,
    expect: { 'content-type': 'text/javascript', 'content-disposition': null },
    answer: `cb(${COUNTS})`,
  },
  {
    claim: 'a list is called back with as well',
    line: 'POST /api/recipients?callback=cb',
    body: asList,
    expect: { 'content-type': 'text/javascript' },
    answer: `cb(${LIST})`,
  },
  {
    claim: 'a callback is a name, and nothing else',
    line: 'POST /api/recipients?callback=alert(1)//',
    body: asSample,
    answer: `alert_1___(${COUNTS})`,
  },
  {
    claim: 'an empty callback is none',
    line: 'POST /api/recipients?callback=',
    body: asSample,
    expect: { 'content-type': JSON_TYPE },
    answer: COUNTS,
  },
  {
    claim: 'only the suffix .csv goes before a callback',
    line: 'POST /api/recipients.csv?callback=cb',
    body: asSample,
    expect: { 'content-type': 'text/csv' },
    answer: COUNTS_CSV,
  },
  {
    claim: 'errors call back as well, with status 200',
    line: 'GET /api/contexts/xyz?callback=cb',
    status: 200,
    expect: { 'content-type': 'text/javascript' },
    answer: /^cb\(\{"ResponseStatus":\{"ErrorCode":"InvalidRequest",.*"FieldName":"Id".*\}\}\)$/,
  },
  ...[
    '/json/reply/NoSuch',
    '/api/json/reply/NoSuch',
    '/json/reply',
    '/json/reply/RecipientRequest.csv',
  ].map(
    (path): Row => ({
      claim: 'an operation that does not exist is 405 NotImplementedException',
      line: `POST ${path}`,
      body: '{}',
      status: 405,
      answer: errorBody('NotImplementedException'),
    }),
  ),
  ...[
    '/json/bogus/RecipientRequest',
    '/bogus/reply/RecipientRequest',
    '/nowhere',
    '/api/nowhere',
  ].map(
    (path): Row => ({
      claim: 'a path that is none is 404',
      line: `POST ${path}`,
      body: '{}',
      status: 404,
      answer: errorBody('NotFound'),
    }),
  ),
  ...[
    '/json/reply/RecipientRequest[]',
    '/api/json/reply/RecipientRequest%5B%5D',
    '/api/RecipientRequest[]',
    '/json/oneway/RecipientRequest[]',
  ].map(
    (path): Row => ({
      claim: 'a batch is answered in order, with how many there were',
      line: `POST ${path}`,
      headers: POST_JSON,
      body: `[${asSample},{"countsOnly":true},${asList}]`,
      expect: { 'x-autobatch-completed': '3', 'x-snapshot': /^\d{6}-[0-9a-f]{8}$/ },
      answer: `[${COUNTS},${NOBODY},${LIST}]`,
    }),
  ),
  {
    claim: 'an empty batch has an empty answer',
    line: 'POST /json/reply/RecipientRequest[]',
    body: '[]',
    expect: { 'x-autobatch-completed': null },
    answer: '[]',
  },
  {
    claim: 'the first error of a batch ends it, and is all that is answered',
    line: 'POST /json/reply/RecipientRequest[]',
    body: `[${asSample},{"countsOnly":"maybe"},${asSample}]`,
    status: 400,
    expect: { 'x-autobatch-completed': '1' },
    answer:
      /^\{"ResponseStatus":\{"ErrorCode":"InvalidRequest","Message":"[^"]+","Errors":\[\{.*"FieldName":"countsOnly".*\}\],"Meta":\{"AutoBatchIndex":"1"\}\}\}$/,
  },
  {
    claim: 'a batch as CSV has a row for each answer',
    line: 'POST /json/reply/RecipientRequest[]?format=csv',
    body: `[{"sources":[1],"countsOnly":true},{"sources":[],"countsOnly":true}]`,
    expect: { 'content-disposition': 'attachment;filename="RecipientRequest[].csv"' },
    answer: 'SourceRecords\r\n"[{SourceId:1,Label:Landline,Count:0,Status:Ok}]"\r\n"[]"\r\n',
  },
  {
    claim: 'a verb may be meant that is not sent',
    line: 'POST /api/configuration',
    headers: ['X-HTTP-Method-Override: GET'],
    body: '',
    answer: CONFIGURATION_JSON,
  },
  {
    claim: 'OPTIONS tells the verbs; no other origin may read, unless configured',
    line: 'OPTIONS /api/recipients',
    headers: ['Origin: https://x.example', 'Access-Control-Request-Method: POST'],
    expect: { allow: 'POST', 'access-control-allow-origin': null },
    answer: '',
  },
]

/** Sends one request, and reads the answer. */
export type Ask = (
  line: string,
  sent: { readonly headers: string[]; readonly body?: string },
) => Promise<Answer>

/** Asks for each row. */
export async function checkWire(t: Test, ask: Ask): Promise<void> {
  for (const [name, rows] of Object.entries({
    configuration: configurationRows,
    contexts: contextRows,
    recipients: recipientRows,
    NDJSON: ndjsonRows,
    'what holds for all': otherRows,
  })) {
    await t.test(name, async (t) => {
      for (const row of rows) {
        await t.test(`${row.claim}: ${row.line}`, (t) => checkRow(t, row, ask))
      }
    })
  }
}

async function checkRow(t: Test, row: Row, ask: Ask): Promise<void> {
  const { headers = [], body } = row
  const answer = await ask(row.line, {
    headers: [...headers],
    ...(body !== undefined && { body }),
  })
  t.equal(answer.status, row.status ?? 200)
  for (const [header, value] of Object.entries(row.expect ?? {})) {
    if (value === null) t.notOk(header in answer.headers, header)
    else if (typeof value === 'string') t.equal(answer.headers[header], value, header)
    else t.match(answer.headers[header], value, header)
  }
  const text = answer.body.toString('utf8')
  if (typeof row.answer === 'string') t.equal(text, row.answer)
  else t.match(text, row.answer)
}
