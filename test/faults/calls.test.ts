import t from 'tap'
import { callsBelow, spread } from './calls.js'

const lines = [
  '10 openat(AT_FDCWD</home>, "/data/CURRENT", O_RDONLY|O_CLOEXEC) = 18</data/CURRENT>',
  '10 mkdir("/data/snapshots/4.tmp", 0700)     = 0',
  '10 openat(AT_FDCWD</home>, "/data/snapshots/4.tmp/a", O_WRONLY|O_CREAT, 0600) = 18</data/x>',
  '11 openat(AT_FDCWD</home>, "/data/snapshots/4.tmp/a", O_WRONLY|O_CREAT, 0600 <unfinished ...>',
  '12 write(7<anon_inode:[eventfd]>, ""..., 8) = 8',
  '10 write(18</data/snapshots/4.tmp/a>, ""..., 4096 <unfinished ...>',
  '10 <... write resumed>)              = 4096',
  '10 write(18</data/snapshots/4.tmp/a>, ""..., 65088) = 65088',
  '12 write(19</database/a>, ""..., 8) = 8',
  '10 copy_file_range(19</data/a>, NULL, 20</data/b>, NULL, 62976, 0) = 62976',
  '10 rename("/data/CURRENT.tmp", "/data/CURRENT") = 0',
  '10 fsync(18</data/snapshots>) = 0',
]

t.test('calls are found by what they touch, and counted for each thread and path', async (t) => {
  t.same(callsBelow(lines, '/data', true), [
    { syscall: 'mkdir', path: 'snapshots/4.tmp', when: 1 },
    { syscall: 'openat', path: 'snapshots/4.tmp/a', when: 1 },
    { syscall: 'write', path: 'snapshots/4.tmp/a', when: 1 },
    { syscall: 'write', path: 'snapshots/4.tmp/a', when: 2 },
    { syscall: 'copy_file_range', path: 'b', when: 1 },
    { syscall: 'rename', path: 'CURRENT.tmp', when: 1 },
    { syscall: 'fsync', path: 'snapshots', when: 1 },
  ])
})

t.test(
  'opening to read is not a change, but counts among the calls that are aimed at',
  async (t) => {
    const reread = '10 openat(AT_FDCWD</home>, "/data/CURRENT", O_RDWR|O_CREAT, 0600) = 18</data/x>'
    t.same(callsBelow([lines[0], reread], '/data', true), [
      { syscall: 'openat', path: 'CURRENT', when: 2 },
    ])
    t.equal(callsBelow([lines[0], reread], '/data', false).length, 2, 'both can fail')
  },
)

t.test('a spread is over the whole, and all when there are few', async (t) => {
  t.same(spread([1, 2, 3], 3), [1, 2, 3])
  t.same(spread([1, 2, 3, 4, 5, 6, 7], 3), [1, 3, 5])
})
