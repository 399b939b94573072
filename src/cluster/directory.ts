/**
 * Where a machine of a cluster has what is of the cluster alone, below its data directory.
 *
 * @module
 */
import { join } from 'node:path'

export const clusterDirectory = (dataDirectory: string) => join(dataDirectory, 'cluster')
