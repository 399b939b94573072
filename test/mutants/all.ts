/**
 * All planted faults.
 *
 * @module
 */
import type { Mutant } from './mutant.js'
import { ofCluster } from './tables/cluster.js'
import { ofFormats } from './tables/formats.js'
import { ofGeometry } from './tables/geometry.js'
import { ofSelection } from './tables/selection.js'
import { ofService } from './tables/service.js'
import { ofSources } from './tables/sources.js'
import { ofStorage } from './tables/storage.js'

export const mutants: readonly Mutant[] = [
  ...ofGeometry,
  ...ofSelection,
  ...ofFormats,
  ...ofSources,
  ...ofStorage,
  ...ofService,
  ...ofCluster,
]
