import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'

t.test('wrong usage is exit code 2 and says what is allowed', async (t) => {
  t.match(await hickoryHere('serve', '--port', 'x'), {
    code: 2,
    stderr: /--port must be a whole number/,
  })
  t.match(await hickoryHere('serve', '--nonsense'), {
    code: 2,
    stderr: /unknown option '--nonsense'/,
  })
  t.match(await hickoryHere('nonsense'), { code: 2, stderr: /unknown command 'nonsense'/ })
  t.match(await hickoryHere('import', 'x.csv'), { code: 2, stderr: /--source/ })
  for (const command of [[], ['serve'], ['import'], ['generate']]) {
    const { code, stdout } = await hickoryHere(...command, '--help')
    t.equal(code, 0)
    t.match(stdout, /Usage: hickory/)
  }
  t.match(await hickoryHere('--version'), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
})
