/**
 * Makes the gazetteer that comes with the program, below dist, unless it is newer than all it is made of.
 *
 * @module
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultLayers } from '../dist/src/gazetteer/default-layers.js'
import { writeLayers } from '../dist/src/gazetteer/write-layers.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = join(root, 'dist/src/gazetteer')

const sources = [
  ...readdirSync(program).map((name) => join(program, name)),
  join(root, 'node_modules/us-atlas/package.json'),
  join(root, 'node_modules/world-atlas/package.json'),
]
const isOld = Math.max(...sources.map(changedMs)) >= changedMs(join(root, 'dist/areas/CURRENT'))
if (isOld) await writeLayers(join(root, 'dist'), { set: defaultLayers() })

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
