/**
 * `/statusz`: the state of the service as a page for people, without scripts.
 *
 * @module
 */
import { type Html, html, trusted } from '../describe/html.js'
import type { AdminRoute } from './listener.js'

/** What the page shows, as text. */
export interface StatusTable {
  readonly title: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

export function statusRoute(tables: () => readonly StatusTable[]): AdminRoute {
  return () => ({
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: pageOf(tables()).html,
  })
}

function pageOf(tables: readonly StatusTable[]): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Hickory</title><style>${STYLE}</style></head>
<body><h1>Hickory</h1>
${tables.map(tableOf)}<p>Numbers for Prometheus are at /metrics.</p></body>
</html>
`
}

function tableOf({ title, header, rows }: StatusTable): Html {
  if (rows.length === 0) return html`<h2>${title}</h2><p>none</p>\n`
  const cells = (row: readonly (string | number)[]) => row.map((cell) => html`<td>${cell}</td>`)
  return html`<h2>${title}</h2>
<table><thead><tr>${header.map((name) => html`<th>${name}</th>`)}</tr></thead><tbody>
${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table>
`
}

const STYLE = trusted(
  'body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}' +
    'td,th{border:1px solid #ccc;padding:2px 8px;text-align:left}h2{font-size:1.1em}',
)
