import t from 'tap'
import { startProgress } from '../../src/commands/output.js'
import type { Log } from '../../src/log.js'

t.test('log lines say how far it is, how fast it goes and how long it will take', async (t) => {
  // Under a terminal there would be a bar.
  t.intercept(process.stderr, 'isTTY', { value: false })
  const lines: [Record<string, unknown>, string][] = []
  const log = { info: (...line: [Record<string, unknown>, string]) => lines.push(line) }
  const progress = startProgress(log as unknown as Log, 'reading', 200, 'rows')
  progress.update(50)
  progress.stop()
  const unknown = startProgress(log as unknown as Log, 'reading', 0, 'rows')
  unknown.update(50)
  unknown.stop()
  t.match(lines[0], [{ done: 50, unit: 'rows', total: 200, percent: 25 }, 'reading'])
  t.match(lines[0][0], { perSecond: Number, secondsLeft: Number, seconds: Number })
  t.match(lines[1][0], { done: 50, perSecond: Number })
  t.notOk('total' in lines[1][0] || 'secondsLeft' in lines[1][0], 'nothing is made up')
})

t.test('a bar fits the terminal, and its figures are whole', async (t) => {
  t.intercept(process.stderr, 'isTTY', { value: true })
  for (const columns of [80, 110, 160]) {
    t.intercept(process.stderr, 'columns', { value: columns })
    const written = t.capture(process.stderr, 'write', () => true)
    const progress = startProgress({} as Log, 'reading', 3_400_015_000, 'bytes')
    progress.update(3_400_015_000)
    progress.stop()
    const line = written()
      .flatMap(({ args }) => args)
      .findLast((text) => `${text}`.includes('%'))
    t.ok(`${line}`.length < columns, `${columns} columns: ${line}`)
    t.match(
      line,
      /^reading .+ 100% \| (3400015000\/3400015000 bytes \| )?\d+\/s \| .* \| 0 s left$/,
    )
    written.restore()
  }
})
