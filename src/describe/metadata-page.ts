/**
 * The page that describes the service to people: operations, their members, and requests to paste.
 *
 * @module
 */
import type { OperationName } from '../interface/operations.js'
import { type Html, html, trusted } from './html.js'
import { operationSection } from './metadata-operation.js'
import { typeSections } from './metadata-types.js'
import type { DescribedFormat } from './samples.js'
import { namedOperations, namedTypes } from './schema.js'

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
