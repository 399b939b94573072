/**
 * What a change of a folder of src owes before it is called done: these areas, for so many minutes together.
 *
 * @module
 */
export interface Debt {
  readonly folders: readonly string[]
  readonly areas: readonly string[]
  readonly minutes: number
}

export const debts: readonly Debt[] = [
  {
    folders: ['geometry', 'outline'],
    areas: ['geometry', 'oracle', 'metamorphic', 'notations'],
    minutes: 60,
  },
  {
    folders: ['notations', 'cap', 'xml'],
    areas: ['notations', 'metamorphic', 'fuzz'],
    minutes: 30,
  },
  {
    folders: ['gazetteer'],
    areas: ['gazetteer', 'notations', 'selection', 'power'],
    minutes: 50,
  },
  {
    folders: ['shard', 'pool'],
    areas: ['shard', 'oracle', 'metamorphic', 'model', 'selection'],
    minutes: 60,
  },
  {
    folders: ['selection'],
    areas: ['selection', 'oracle', 'metamorphic', 'reader', 'fuzz'],
    minutes: 60,
  },
  {
    folders: ['operations', 'interface', 'format', 'describe'],
    areas: ['selection', 'answers', 'oracle', 'fuzz'],
    minutes: 30,
  },
  {
    folders: ['http', 'tls', 'keys', 'admin', 'metrics', 'access-log', 'threads'],
    areas: ['answers', 'fuzz', 'services', 'engines', 'canary'],
    minutes: 30,
  },
  { folders: ['sources'], areas: ['sources', 'faults'], minutes: 30 },
  {
    folders: ['snapshot', 'store', 'backup'],
    areas: ['snapshots', 'damage', 'faults', 'model', 'power'],
    minutes: 90,
  },
  {
    folders: ['journal', 'chain', 'audit', 'follow'],
    areas: ['journal', 'live', 'cluster', 'power', 'followed'],
    minutes: 90,
  },
  {
    folders: ['changes', 'live', 'suppressions'],
    areas: ['changes', 'live', 'visible', 'services', 'cluster'],
    minutes: 60,
  },
  { folders: ['audiences'], areas: ['audiences', 'live'], minutes: 30 },
  { folders: ['cluster'], areas: ['log', 'cluster', 'regions'], minutes: 120 },
  { folders: ['regions'], areas: ['regions', 'cluster'], minutes: 30 },
  { folders: ['serve'], areas: ['services', 'live', 'visible', 'cluster', 'canary'], minutes: 60 },
  { folders: ['commands'], areas: ['snapshots', 'faults'], minutes: 20 },
  { folders: ['package'], areas: ['services'], minutes: 10 },
]
