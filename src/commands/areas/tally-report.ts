/**
 * What an import of areas has read, or would.
 *
 * @module
 */
import type { DraftTally, FileSurvey } from '../../gazetteer/drafts/draft-areas.js'
import { print, warn } from '../output.js'

const KEYS_SHOWN_COUNT = 10
const INVALID_SHOWN_COUNT = 20

export function printTally(tally: DraftTally, isDryRun: boolean): void {
  for (const file of tally.files) printFile(file, isDryRun)
  const { featureCount, otherCount, mergedCount, invalidCount, areaCount, vertexCount } = tally
  const counts = [
    `${areaCount} areas of ${featureCount} features`,
    `${vertexCount} positions`,
    ...(otherCount > 0 ? [`${otherCount} features left out by --where`] : []),
    ...(mergedCount > 0 ? [`${mergedCount} merged into others`] : []),
    ...(invalidCount > 0 ? [`${invalidCount} left out by --skip-invalid`] : []),
  ]
  print(`read       ${counts.join(', ')}`)
  if (areaCount > 0) {
    print(`bounds     ${tally.bounds.map((degrees) => degrees.toFixed(4)).join(',')}`)
    const more = areaCount > KEYS_SHOWN_COUNT ? ', …' : ''
    print(`keys       ${tally.keys.slice(0, KEYS_SHOWN_COUNT).join(', ')}${more}`)
  }
  for (const [scheme, count] of tally.aliasLackCounts) {
    warn(`${count} areas have no alias ${scheme}: a field of it is empty`)
  }
  printInvalid(tally)
  if (isDryRun) print('dry run    nothing was changed')
}

function printFile(file: FileSurvey, isDryRun: boolean): void {
  const { path, format, fields, saidCrs, takenCrs, featureCount } = file
  const counted = featureCount === undefined ? '' : `, ${featureCount} features`
  print(`file       ${path}: ${format}${counted}`)
  const said = saidCrs === undefined ? 'the file does not say it' : `the file says ${saidCrs}`
  print(`system     ${takenCrs}${saidCrs === takenCrs ? '' : ` (${said})`}`)
  if (isDryRun) print(`fields     ${fields.join(', ')}`)
}

function printInvalid({ invalid, invalidCount }: DraftTally): void {
  if (invalidCount === 0) return
  warn(`${invalidCount} features are left out, and nobody finds them by a name:`)
  for (const message of invalid.slice(0, INVALID_SHOWN_COUNT)) warn(message)
  if (invalidCount > INVALID_SHOWN_COUNT) warn(`and ${invalidCount - INVALID_SHOWN_COUNT} more`)
}
