/**
 * Valid requests of all operations: the starting point of every mutation.
 *
 * @module
 */
import { operationNames } from '../../../src/interface/operation-names.js'
import { type OperationName, operations } from '../../../src/interface/operations.js'
import { featureKinds, type RequestKind, randomRequest } from '../../support/random/requests.js'
import type { Random } from '../../support/random/world.js'
import type { FuzzWorld } from '../world.js'

export interface Asked {
  readonly operation: OperationName
  readonly members: Readonly<Record<string, unknown>>
}

export function randomAsked(world: FuzzWorld, random: Random): Asked {
  const share = random.unit()
  if (share < 0.62) return randomSelection('RecipientRequest', world, random)
  // The outlines of all connections are drawn by one thread.
  if (share < 0.64) return randomSelection('OutlineRequest', world, random)
  if (share < 0.72) return randomContext(world, random)
  return randomExample(random)
}

function randomExample(random: Random): Asked {
  const operation = random.pick(operationNames)
  const examples = Object.values(operations[operation].examples)
  return { operation, members: random.pick(examples).request }
}

const quickKinds: readonly RequestKind[] = ['polygon', 'line', 'point', 'circle', 'multiPolygon']
const allKinds: readonly RequestKind[] = [...featureKinds, 'exclude', 'sources', 'featureSources']

function randomSelection(
  operation: 'RecipientRequest' | 'OutlineRequest',
  { sources, sourceIds }: FuzzWorld,
  random: Random,
): Asked {
  const kinds = random.unit() < 0.8 ? quickKinds : allKinds
  const request = randomRequest(random.pick(sources).columns, sourceIds, kinds, random)
  if (operation === 'RecipientRequest' && random.unit() < 0.7) request.countsOnly = true
  if (operation === 'OutlineRequest') request.clipToBoundary = random.unit() < 0.5
  return { operation, members: request }
}

/** Of few different Ids, so that most are replaced, read or deleted again. */
function randomContext({ sources, sourceIds }: FuzzWorld, random: Random): Asked {
  const operation = random.pick([
    'PostMapContextRequest',
    'PutMapContextRequest',
    'GetMapContextRequest',
    'DeleteMapContextRequest',
  ] as const)
  const Id = random.between(0, 40).toString(16).padStart(32, '0')
  if (operation === 'GetMapContextRequest' || operation === 'DeleteMapContextRequest') {
    return { operation, members: { Id } }
  }
  const Areas = Array.from({ length: random.pick([0, 1, 2, 5]) }, (_, at) => {
    const { columns } = random.pick(sources)
    const { geoJSON } = randomRequest(columns, sourceIds, ['polygon'], random)
    const rings = (geoJSON as { coordinates?: unknown } | undefined)?.coordinates ?? []
    return { Id: String(at), Name: `Area ${at}`, Geometry: { rings }, IsVisible: true }
  })
  return { operation, members: { Id, ContextName: 'Drill', Areas } }
}
