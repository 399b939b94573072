/**
 * Changes the structure of a JSON body: another type here, a member less or twice there, numbers at
 * their ends, nesting, length.
 *
 * @module
 */
import { besideDouble } from '../../support/random/fine-coordinates.js'
import { spelledNumber } from '../../support/random/request-text.js'
import type { Random } from '../../support/random/world.js'
import { oddNames, oddNumbers, oddTexts } from './odd-values.js'
import { type Site, scalar, sitesOf, type Tree, textOf, treeOf } from './tree.js'

/** The text of `value` after a few changes. */
export function mutatedJson(value: unknown, random: Random): string {
  let tree = treeOf(value)
  const root: Site = {
    get: () => tree,
    set: (other) => {
      tree = other
    },
  }
  const isRare = random.unit() < RARE_SHARE
  const changeCount = isRare ? 1 : random.pick([1, 1, 1, 2, 3, 6])
  for (let change = 0; change < changeCount; change++) {
    const sites = sitesOf(root)
    random.pick(isRare ? rareMutations : mutations)(random.pick(sites), sites, random)
  }
  return textOf(tree)
}

type Mutation = (site: Site, sites: readonly Site[], random: Random) => void

/** What can take a second, or the whole of a body, is not asked too often. */
const RARE_SHARE = 0.005

const mutations: readonly Mutation[] = [
  otherType,
  otherNumber,
  otherNumber,
  respelled,
  otherText,
  otherName,
  dropped,
  doubled,
  added,
  shuffled,
  copiedFrom,
  quoted,
  wrapped,
]

const rareMutations: readonly Mutation[] = [nestedDeeply, lengthened, manyMembers]

function otherType(site: Site, _: readonly Site[], random: Random): void {
  site.set(randomTree(random))
}

function otherNumber(_: Site, sites: readonly Site[], random: Random): void {
  const numbers = sites.filter((site) => /^-?[0-9]/.test(scalarText(site)))
  if (numbers.length > 0) random.pick(numbers).set(scalar(random.pick(oddNumbers)))
}

/** The same number, or the double next to it. */
function respelled(_: Site, sites: readonly Site[], random: Random): void {
  const numbers = sites.filter((site) => /^-?[0-9.e+]+$/i.test(scalarText(site)))
  if (numbers.length === 0) return
  const site = random.pick(numbers)
  const value = Number(scalarText(site))
  const other = random.unit() < 0.5 ? value : besideDouble(value, random.pick([1, -1]))
  if (Number.isFinite(other)) site.set(scalar(spelledNumber(other, random)))
}

function otherText(_: Site, sites: readonly Site[], random: Random): void {
  const texts = sites.filter((site) => scalarText(site).startsWith('"'))
  if (texts.length > 0) random.pick(texts).set(oddText(random))
}

function otherName(_: Site, sites: readonly Site[], random: Random): void {
  const member = randomMember(sites, random)
  if (member === undefined) return
  const { name } = member
  const spellings = [name.toLowerCase(), name.toUpperCase(), `${name} `, name.slice(1)]
  member.name = random.pick([...spellings, random.pick(oddNames), random.pick(oddNames)])
}

function dropped(_: Site, sites: readonly Site[], random: Random): void {
  const list = randomContents(sites, random)
  list?.splice(random.between(0, list.length - 1), 1)
}

function doubled(_: Site, sites: readonly Site[], random: Random): void {
  const list = randomContents(sites, random)
  if (list === undefined || list.length === 0) return
  const copy = structuredClone(random.pick(list))
  list.splice(random.between(0, list.length), 0, copy)
}

function added(_: Site, sites: readonly Site[], random: Random): void {
  const tree = randomHolder(sites, random)
  const value = randomTree(random)
  if (tree?.kind === 'list') tree.items.push(value)
  if (tree?.kind === 'members') tree.members.push({ name: random.pick(oddNames), value })
}

function shuffled(_: Site, sites: readonly Site[], random: Random): void {
  randomContents(sites, random)?.reverse()
}

/** What stands elsewhere; sometimes what holds this very place. */
function copiedFrom(site: Site, sites: readonly Site[], random: Random): void {
  site.set(structuredClone(random.pick(sites).get()))
}

/** JSON within a text, as some clients send what is nested. */
function quoted(site: Site): void {
  site.set(scalar(JSON.stringify(textOf(site.get()))))
}

function wrapped(site: Site, _: readonly Site[], random: Random): void {
  const inner = site.get()
  if (random.unit() < 0.5) site.set({ kind: 'list', items: [inner] })
  else site.set({ kind: 'members', members: [{ name: random.pick(oddNames), value: inner }] })
}

function nestedDeeply(site: Site, _: readonly Site[], random: Random): void {
  const depth = random.pick([62, 63, 64, 65, 66, 1_000, 100_000])
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"geometries":[', ']}'],
    ['{"a":', '}'],
  ])
  site.set(scalar(open.repeat(depth) + textOf(site.get()) + close.repeat(depth)))
}

function lengthened(_: Site, sites: readonly Site[], random: Random): void {
  const list = randomContents(sites, random)
  if (list === undefined || list.length === 0) return
  // Written as often as it stands here.
  const item = random.pick(list)
  const count = random.pick([10, 300, 300, 1_001, 10_001, 50_001])
  for (let copy = 0; copy < count; copy++) list.push(item)
}

function manyMembers(site: Site, _: readonly Site[], random: Random): void {
  const count = random.pick([100, 5_000, 65_537])
  const members = Array.from({ length: count }, (_, at) => `"m${at}":${at}`)
  site.set(scalar(`{${members.join(',')}}`))
}

function randomTree(random: Random): Tree {
  const kind = random.between(0, 6)
  if (kind === 0) return { kind: 'list', items: [] }
  if (kind === 1) return { kind: 'members', members: [] }
  if (kind === 2) return scalar(random.pick(['true', 'false', 'null', 'undefined', '']))
  if (kind === 3) return oddText(random)
  if (kind === 4) return { kind: 'list', items: [randomTree(random), randomTree(random)] }
  return scalar(random.pick(oddNumbers))
}

function oddText(random: Random): Tree {
  const text = JSON.stringify(random.pick(oddTexts))
  // Escapes that are none, and signs that need one.
  if (random.unit() < 0.1) return scalar(`"${random.pick(['\\x', '\\u12', '\n', '\0', '\\'])}"`)
  return scalar(text)
}

function scalarText(site: Site): string {
  const tree = site.get()
  return tree.kind === 'scalar' ? tree.text : ''
}

function randomHolder(sites: readonly Site[], random: Random): Tree | undefined {
  const holders = sites.filter((site) => site.get().kind !== 'scalar')
  return holders.length === 0 ? undefined : random.pick(holders).get()
}

function randomContents(sites: readonly Site[], random: Random): unknown[] | undefined {
  const tree = randomHolder(sites, random)
  if (tree === undefined || tree.kind === 'scalar') return undefined
  return tree.kind === 'list' ? tree.items : tree.members
}

function randomMember(sites: readonly Site[], random: Random) {
  const trees = sites.map((site) => site.get())
  const members = trees.flatMap((tree) => (tree.kind === 'members' ? tree.members : []))
  return members.length === 0 ? undefined : random.pick(members)
}
