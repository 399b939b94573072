/**
 * The time that packed files carry: that of the commit, so that the same sources give the same bytes on
 * any day.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { runTool } from './run-tool.js'

/** In seconds since 1970: SOURCE_DATE_EPOCH where it is set, as other builders have it. */
export async function sourceTimeS(root: string): Promise<number> {
  const given = process.env.SOURCE_DATE_EPOCH
  if (given !== undefined && given !== '') {
    if (/^[0-9]{1,11}$/.test(given)) return Number(given)
    throw new OperatorError('Usage', `SOURCE_DATE_EPOCH is seconds since 1970, not "${given}"`)
  }
  try {
    return Number(await runTool('git', ['log', '-1', '--format=%ct'], root))
  } catch (cause) {
    throw new OperatorError(
      'Usage',
      'packages have the time of the commit, and git cannot tell it here. Set SOURCE_DATE_EPOCH to the seconds since 1970 that they are to have.',
      { cause },
    )
  }
}
