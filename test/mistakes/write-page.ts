/**
 * Writes the page of mistakes: `npm run mistakes`.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { makeMistakes, pageFile, pageText } from './page.js'

writeFileSync(pageFile, pageText(await makeMistakes()))
