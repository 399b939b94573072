/**
 * The page that describes the service to people: operations, their members, and requests to paste.
 *
 * @module
 */
import type { OperationName } from '../interface/operations.js'
import { curlLines, type DescribedFormat, sampleResponse, whoMayCall } from './samples.js'
import {
  isNullable,
  memberText,
  type NamedOperation,
  namedOperations,
  namedTypes,
  plainType,
  type Schema,
  typeText,
} from './schema.js'

export interface MetadataPage {
  /** Such as `http://127.0.0.1:8080`; goes into shell commands, so it must need no quotes there. */
  readonly baseUrl: string
  readonly version: string
  /** Undefined for all. */
  readonly operationName: OperationName | undefined
  readonly formats: readonly DescribedFormat[]
}

/** The style of the page, so that a policy can allow it by its hash. */
export const METADATA_STYLE = `:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
caption { text-align: start; font-weight: bold; }
th, td { border: 1px solid #8888; padding: 0.25rem 0.5rem; text-align: start; vertical-align: top; }
pre { border: 1px solid #8888; padding: 0.5rem; overflow-x: auto; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9rem; }
section { border-top: 1px solid #8888; margin-top: 2rem; }`

export function metadataPage(page: MetadataPage): string {
  const { operationName, version, formats, baseUrl } = page
  const shown = namedOperations.filter(({ name }) => (operationName ?? name) === name)
  const types = namedTypes(
    shown.flatMap(({ request, response }) => [
      request,
      ...(response === undefined ? [] : [response]),
    ]),
  )
  const title = operationName ?? 'Operations'
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Hickory</title>
<style>${trusted(METADATA_STYLE)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p>Hickory ${version}: who is inside this shape, exactly, now?</p>
<nav aria-label="Descriptions">
<a href="/metadata">All operations</a> ·
<a href="/openapi.json">OpenAPI 3.1</a> ·
<a href="/types/typescript">TypeScript</a>
</nav>
</header>
<main>
${operationName === undefined ? operationIndex() : []}
${shown.map((operation) => operationSection(operation, formats, baseUrl))}
<section id="types">
<h2>Types</h2>
${typeSections(types)}
</section>
</main>
</body>
</html>
`.html
}

function operationIndex(): Html {
  const rows = namedOperations.map(
    ({ name, summary }) => html`<tr><th scope="row"><a href="#${name}">${name}</a></th>
<td><a href="/json/metadata?op=${name}">JSON</a></td>
<td><a href="/csv/metadata?op=${name}">CSV</a></td>
<td>${summary}</td></tr>
`,
  )
  return html`<p>All members of all requests are optional. Their names are read in any letter case,
and null is the same as absent.</p>
<table>
<caption>Operations and their formats</caption>
<thead><tr><th scope="col">Operation</th><th scope="col" colspan="2">Formats</th><th scope="col">What it does</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
<p>Beside them, <code>GET /api/contexts/{Id}/events</code> tells the counts of a context when they change, as
server-sent events, to clients that may call GetMapContextRequest.</p>`
}

/**
 * HTML as a value of its own, so that text is escaped wherever it is put into a page.
 */
interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[]

/** Makes HTML of a template; what is put in is escaped unless it is HTML. */
function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = template.map((piece, i) => (i < parts.length ? piece + htmlOf(parts[i]) : piece))
  return { html: pieces.join('') }
}

/** HTML that was made elsewhere, and is trusted. */
function trusted(text: string): Html {
  return { html: text }
}

function htmlOf(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  if ('html' in part) return part.html
  return part.map(({ html }) => html).join('')
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** A section for each type, by name. */
function typeSections(types: ReadonlyMap<string, Schema>): Html[] {
  return [...types]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, schema]) => html`<h3 id="type-${name}">${name}</h3>
<p>${typeText(schema)}${schema.enum === undefined ? '' : ` Values: ${schema.enum.join(', ')}.`}</p>
${schema.properties === undefined ? [] : memberTable(`Members of ${name}`, schema)}
`,
    )
}

function memberTable(caption: string, { properties = {} }: Schema): Html {
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      html`<tr><th scope="row">${name}</th><td>${dataType(schema)}</td><td>No</td><td>${memberText(schema)}</td></tr>
`,
  )
  return html`<table>
<caption>${caption}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Data Type</th><th scope="col">Required</th><th scope="col">Description</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`
}

/** In words, with a link where there is a section to go to. */
function dataType(schema: Schema): Html {
  const name = schema.title === undefined ? unnamedType(schema) : typeLink(schema.title)
  return isNullable(schema) ? html`${name} or null` : name
}

function typeLink(name: string): Html {
  return html`<a href="#type-${name}">${name}</a>`
}

function unnamedType(schema: Schema): Html {
  const { items } = schema
  const type = plainType(schema)
  if (type === 'array') return html`list of ${dataType(items ?? {})}`
  return html`${type ?? 'any'}`
}

/**
 * One operation on the page for people.
 */
function operationSection(
  operation: NamedOperation,
  formats: readonly DescribedFormat[],
  baseUrl: string,
): Html {
  const { name, summary, description, response } = operation
  // A request without a body is the same in every format.
  const shown = response === undefined ? formats.slice(0, 1) : formats
  return html`<section id="${name}">
<h2>${name}</h2>
<p>${summary}. ${description} ${whoMayCall(operation)}</p>
${routeTable(operation, formats)}
${parameterTable(operation)}
${response === undefined ? html`<p>The response has no body.</p>` : responseTable(operation)}
${shown.map((format) => formatPart(operation, format, baseUrl))}
</section>
`
}

function routeTable(
  { name, verb, paths, isWrite }: NamedOperation,
  formats: readonly DescribedFormat[],
): Html {
  const verbs = isWrite ? 'POST, PUT, DELETE' : 'any'
  const own = paths.map((path) => [verb, path])
  const byName = formats.flatMap((format) => [
    [verbs, `/${format}/reply/${name}`],
    [verbs, `/${format}/oneway/${name}`],
  ])
  const rows = [...own, ...byName, [verbs, `/api/${name}`], ['POST', `/json/reply/${name}[]`]]
  return html`<table>
<caption>Routes</caption>
<thead><tr><th scope="col">Verb</th><th scope="col">Path</th></tr></thead>
<tbody>
${rows.map(
  ([each, path]) => html`<tr><td>${each}</td><td><code>${path}</code></td></tr>
`,
)}</tbody>
</table>
<p>Paths by name are also below /api. The last one takes a list of requests, and answers with a
list.</p>`
}

function parameterTable(operation: NamedOperation): Html {
  const { name, request } = operation
  const members = Object.entries(request.properties ?? {})
  if (members.length === 0) return html`<p>The request has no members.</p>`
  const rows = members.map(
    ([member, schema]) =>
      html`<tr><th scope="row">${member}</th><td>${placeOf(member, operation)}</td><td>${dataType(schema)}</td><td>No</td><td>${memberText(schema)}</td></tr>
`,
  )
  return html`<table>
<caption>Parameters of ${name}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Parameter</th><th scope="col">Data Type</th><th scope="col">Required</th><th scope="col">Description</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`
}

/** Where a member stands in a request to a path of the operation. */
function placeOf(member: string, { verb, paths }: NamedOperation): string {
  const inPath = paths.filter((path) => path.includes(`{${member}}`))
  const other = verb === 'POST' || verb === 'PUT' ? 'body' : 'query'
  if (inPath.length === 0) return other
  return inPath.length === paths.length ? 'path' : `path or ${other}`
}

function responseTable({ response = {} }: NamedOperation): Html {
  const { title = 'response' } = response
  return html`<p>The response is a ${typeLink(title)}.</p>
${memberTable(`Response: ${title}`, response)}`
}

function formatPart(operation: NamedOperation, format: DescribedFormat, baseUrl: string): Html {
  const label = format.toUpperCase()
  const { hasFeatures = false } = operation
  const others =
    format === 'json'
      ? html`<p>To embed the response in a JSONP callback, append <code>?callback=myCallback</code>.
For lines of JSON, send the header <code>Accept: application/x-ndjson</code>, or append
<code>?format=ndjson</code>.</p>${hasFeatures ? GEOJSON : []}`
      : []
  return html`<h3>HTTP + ${label}</h3>
<p>To choose this format, send the header <code>Accept: ${MEDIA_TYPES[format]}</code>, append
<code>.${format}</code> to the path, or append <code>?format=${format}</code>.</p>
${others}
<p>Sample request</p>
<pre><code>${curlLines(operation, format, baseUrl).join('\n')}</code></pre>
<p>Sample response</p>
<pre><code>${sampleResponse(operation, format)}</code></pre>`
}

const GEOJSON = html`
<p>For GeoJSON, send the header <code>Accept: application/geo+json</code>, append
<code>.geojson</code> to the path, or append <code>?format=geojson</code>.</p>`

const MEDIA_TYPES = { json: 'application/json', csv: 'text/csv' }
