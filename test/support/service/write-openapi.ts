/**
 * Writes the committed copy of the OpenAPI document: `npm run openapi`.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { copyFile, copyText } from './open-api.js'

writeFileSync(copyFile, copyText())
