/**
 * Copies the documents that people read. What they link to is in the package, or is no link there.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { filesBelow } from './files-below.js'

const DOCUMENTS = ['README.md', 'LICENSE', 'CHANGELOG.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']

/** Where a checkout has the files for the system around the program. */
const SYSTEM = 'data/system'

/**
 * Puts them into `into`, which has all other files by now.
 *
 * @param system  where the package has what a checkout has in `data/system`
 */
export async function copyDocuments(root: string, into: string, system: string): Promise<void> {
  for (const name of DOCUMENTS) await copyFile(join(root, name), join(into, name))
  await cp(join(root, 'docs'), join(into, 'docs'), { recursive: true })
  const pages = (await filesBelow(join(into, 'docs'))).map((path) => `docs/${path}`)
  for (const page of [...DOCUMENTS, ...pages].filter((path) => path.endsWith('.md'))) {
    const text = await readFile(join(into, page), 'utf8')
    await writeFile(join(into, page), withOwnLinks(text, page, into, system))
  }
}

function withOwnLinks(text: string, page: string, into: string, system: string): string {
  return text.replace(LINK, (link, label: string, path: string, anchor: string) => {
    const folder = dirname(page)
    const target = join(folder, path)
    if (existsSync(join(into, target))) return link
    const moved = target.startsWith(SYSTEM) ? target.replace(SYSTEM, system) : target
    const isThere = existsSync(join(into, moved))
    return isThere ? `[${label}](${relative(folder, moved)}${anchor})` : label
  })
}

/** To another file: a label, a path, and where in it. */
const LINK = /\[([^[\]]+)\]\((?!https?:|#)([^)#\s]+)((?:#[^)\s]*)?)\)/g
