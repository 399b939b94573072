/**
 * JSON as a tree that can also hold what a value cannot: members twice, numbers in odd spellings.
 *
 * @module
 */
export type Tree = Scalar | List | Members

/** As it is written, so that it need not be JSON. */
export interface Scalar {
  readonly kind: 'scalar'
  readonly text: string
}

export interface List {
  readonly kind: 'list'
  readonly items: Tree[]
}

export interface Members {
  readonly kind: 'members'
  readonly members: { name: string; value: Tree }[]
}

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(treeOf) }
  if (typeof value !== 'object' || value === null) return scalar(JSON.stringify(value) ?? 'null')
  const entries = Object.entries(value)
  return {
    kind: 'members',
    members: entries.map(([name, member]) => ({ name, value: treeOf(member) })),
  }
}

export function scalar(text: string): Scalar {
  return { kind: 'scalar', text }
}

export function textOf(tree: Tree): string {
  if (tree.kind === 'scalar') return tree.text
  if (tree.kind === 'list') return `[${tree.items.map(textOf).join(',')}]`
  const members = tree.members.map(({ name, value }) => `${JSON.stringify(name)}:${textOf(value)}`)
  return `{${members.join(',')}}`
}

/** A place in a tree that holds a value. */
export interface Site {
  get(): Tree
  set(tree: Tree): void
}

/** All places of a tree, the root among them; of a large tree, the first few hundred. */
export function sitesOf(root: Site): Site[] {
  const sites = [root]
  for (let at = 0; at < sites.length && sites.length < SITE_COUNT_MAX; at++) {
    const tree = sites[at].get()
    if (tree.kind === 'list') sites.push(...tree.items.map((_, index) => itemSite(tree, index)))
    if (tree.kind === 'members') sites.push(...tree.members.map(memberSite))
  }
  return sites
}

const SITE_COUNT_MAX = 400

function itemSite({ items }: List, index: number): Site {
  return {
    get: () => items[index] ?? scalar('null'),
    set: (tree) => {
      items[index] = tree
    },
  }
}

function memberSite(member: Members['members'][number]): Site {
  return {
    get: () => member.value,
    set: (tree) => {
      member.value = tree
    },
  }
}
