import t from 'tap'
import { addressBytes } from '../../src/tls/address-bytes.js'

t.test('addresses are bytes as the system has them', async (t) => {
  const cases: [text: string, hex: string | undefined][] = [
    ['127.0.0.1', '7f000001'],
    ['255.255.255.255', 'ffffffff'],
    ['::ffff:127.0.0.1', '7f000001'],
    ['::FFFF:10.1.2.3', '0a010203'],
    ['0:0:0:0:0:ffff:10.1.2.3', '0a010203'],
    ['::1', '00000000000000000000000000000001'],
    ['::', '00000000000000000000000000000000'],
    ['2001:db8::8:800:200c:417a', '20010db80000000000080800200c417a'],
    ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
    ['fe80::1%eth0', 'fe800000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['64:ff9b::10.1.2.3', '0064ff9b00000000000000000a010203'],
    ['::10.1.2.3', '0000000000000000000000000a010203'],
    ['', undefined],
    ['localhost', undefined],
    ['1.2.3', undefined],
    ['1:2', undefined],
  ]
  for (const [text, hex] of cases) {
    const bytes = addressBytes(text)
    t.equal(bytes && Buffer.from(bytes).toString('hex'), hex, text)
  }
})
