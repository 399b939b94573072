/**
 * Types of the interface as tables of their members.
 *
 * @module
 */
import { type Html, html } from './html.js'
import { isNullable, memberText, plainType, type Schema, typeText } from './schema.js'

/** A section for each type, by name. */
export function typeSections(types: ReadonlyMap<string, Schema>): Html[] {
  return [...types]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, schema]) => html`<h3 id="type-${name}">${name}</h3>
<p>${typeText(schema)}${schema.enum === undefined ? '' : ` Values: ${schema.enum.join(', ')}.`}</p>
${schema.properties === undefined ? [] : memberTable(`Members of ${name}`, schema)}
`,
    )
}

export function memberTable(caption: string, { properties = {} }: Schema): Html {
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
export function dataType(schema: Schema): Html {
  const name = schema.title === undefined ? unnamedType(schema) : typeLink(schema.title)
  return isNullable(schema) ? html`${name} or null` : name
}

export function typeLink(name: string): Html {
  return html`<a href="#type-${name}">${name}</a>`
}

function unnamedType(schema: Schema): Html {
  const { items } = schema
  const type = plainType(schema)
  if (type === 'array') return html`list of ${dataType(items ?? {})}`
  return html`${type ?? 'any'}`
}
