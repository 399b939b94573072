/**
 * What tells this process from another one that has the same name in a cluster: in containers, both have the same id.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'

export const processSession: string = randomBytes(8).toString('hex')
