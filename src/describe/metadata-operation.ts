/**
 * One operation on the page for people.
 *
 * @module
 */
import { type Html, html } from './html.js'
import { dataType, memberTable, typeLink } from './metadata-types.js'
import { curlLines, type DescribedFormat, sampleResponse } from './samples.js'
import { memberText, type NamedOperation } from './schema.js'
import { whoMayCall } from './who-may-call.js'

export function operationSection(
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
