import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../../src/limits.js'
import { surveyFile } from '../../../src/sources/text/survey.js'
import { surveyAside } from '../../../src/sources/text/survey-thread.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

const task = (path: string) => ({ path, name: 'a.csv', lineEnd: '\n' as const, markBytes: 0 })
const ignore = () => undefined

t.test('lines are counted as a pattern counts them', async (t) => {
  const seed = testSeed(t)
  const path = join(t.testdir({}), 'a.csv')
  const piece = fc.constantFrom('\n', '\n', 'a', 'bcd', 'é', '\t', 'x'.repeat(65_536), '\r', '\r\n')
  const plain = fc.constantFrom('\n', '\n', 'a', 'bcd', 'é', '\x0b', '\x7f', 'efghij')
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.array(piece), fc.array(plain, { maxLength: 60 })),
      async (pieces) => {
        const text = pieces.join('')
        writeFileSync(path, text)
        const survey = await surveyFile(task(path), ignore)
        const lines = text.split(/\r\n|\n|\r/)
        if (lines.at(-1) === '') lines.pop()
        const places = (is: (line: string) => boolean) =>
          lines.flatMap((line, index) => (is(line) ? [index + 1] : []))
        t.equal(survey.lineCount, lines.length)
        t.same(
          [...survey.blankLines],
          places((line) => line === ''),
        )
        const long = places((line) => Buffer.byteLength(line) > limits.recordBytes)
        t.equal(survey.longLine, long[0])
        t.equal(survey.hasOtherLineEnds, text.includes('\r'))
        t.equal(
          survey.hasControls,
          [...text].some((c) => c < ' ' && c !== '\n'),
        )
        t.equal(survey.isUtf8, true)
      },
    ),
    { seed, numRuns: byTier({ ci: 50, soak: 200 }) },
  )
})

t.test('bytes that are not UTF-8 are noticed', async (t) => {
  const path = join(t.testdir({}), 'a.csv')
  writeFileSync(path, Buffer.from('a,b\nJos\u00e9,c\n', 'latin1'))
  t.equal((await surveyFile(task(path), ignore)).isUtf8, false)
})

t.test('a thread says the same of a large file, and what is wrong with it', async (t) => {
  const path = join(t.testdir({}), 'a.csv')
  writeFileSync(path, '+999123456,1,2\n\n'.repeat(100_000))
  // It goes by what it is told of the size.
  const largeBytes = 1 << 24
  t.same(await surveyAside(task(path), largeBytes, ignore), await surveyFile(task(path), ignore))
  writeFileSync(path, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]))
  const failed = surveyAside(task(path), largeBytes, ignore)
  await t.rejects(failed, { code: 'InputRejected', message: /a\.csv cannot be read/ })
})
