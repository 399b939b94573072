/**
 * Links of the documents in a package that lead to nothing.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** @returns such as `docs/api.md -> api/none.md`; of folders and headings the files alone are looked for */
export function deadLinks(root: string): string[] {
  const names = readdirSync(join(root, 'docs'), { recursive: true }) as string[]
  const tops = readdirSync(root).filter((name) => !name.startsWith('.'))
  const pages = [...tops, ...names.map((name) => join('docs', name))].filter((name) =>
    name.endsWith('.md'),
  )
  if (pages.length < 60) throw new Error(`${root} has ${pages.length} documents`)
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
    const links = [...text.replace(/`[^`\n]*`/g, '').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)]
    return links.flatMap(([, path]) =>
      existsSync(join(root, dirname(page), path)) ? [] : [`${page} -> ${path}`],
    )
  })
}
