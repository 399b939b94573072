import t from 'tap'
import { allocatePeers, PeerReader, PeerWriter } from '../../src/tls/peers.js'

const CERTIFICATE = Uint8Array.from({ length: 32 }, (_, i) => 200 + i)
const HEX = Buffer.from(CERTIFICATE).toString('hex')
const IPV4 = Uint8Array.of(203, 0, 113, 7)
const IPV6 = Uint8Array.from({ length: 16 }, (_, i) => (i === 0 ? 0x20 : i))

/** As it arrives from the HTTP library. */
const received = (handle: Uint8Array | undefined) =>
  Uint8Array.from(handle ?? []).buffer as ArrayBuffer

t.test('a handle finds the address and the certificate of its client', async (t) => {
  const memory = allocatePeers(4)
  const writer = new PeerWriter(memory)
  const reader = new PeerReader(memory)
  const first = writer.add(IPV4, undefined)
  const second = writer.add(IPV6, CERTIFICATE)
  t.same(reader.find(received(first)), { address: '203.0.113.7', certificate: undefined })
  t.same(reader.find(received(second)), {
    address: '2001:0203:0405:0607:0809:0a0b:0c0d:0e0f',
    certificate: HEX,
  })
})

t.test('a handle finds nobody once its client has gone, and never the next one', async (t) => {
  const memory = allocatePeers(1)
  const writer = new PeerWriter(memory)
  const reader = new PeerReader(memory)
  const first = writer.add(IPV4, CERTIFICATE)
  t.equal(writer.add(IPV4, undefined), undefined, 'as many clients as there are slots')
  writer.remove(first as Uint8Array)
  t.equal(reader.find(received(first)), undefined)
  const second = writer.add(IPV6, undefined)
  t.equal(reader.find(received(first)), undefined)
  t.match(reader.find(received(second)), { certificate: undefined }, 'nothing of the first is left')
})

t.test('who does not know the token is nobody', async (t) => {
  const memory = allocatePeers(2)
  const writer = new PeerWriter(memory)
  const reader = new PeerReader(memory)
  const handle = writer.add(IPV4, CERTIFICATE) as Uint8Array
  for (let at = 0; at < handle.length; at++) {
    const forged = Uint8Array.from(handle)
    forged[at] ^= 1
    t.equal(reader.find(received(forged)), undefined, `byte ${at}`)
  }
  t.equal(reader.find(new ArrayBuffer(16)), undefined, 'zeros')
  const free = Uint8Array.from({ length: 16 }, (_, i) => (i === 0 ? 1 : 0))
  t.equal(reader.find(received(free)), undefined, 'the zeros of a free slot')
  t.equal(reader.find(new ArrayBuffer(0)), undefined, 'no header at all')
  t.equal(reader.find(received(handle.subarray(0, 4))), undefined, 'an address of IPv4')
  const beyond = Uint8Array.from(handle)
  beyond.set([255, 255, 255, 255])
  t.equal(reader.find(received(beyond)), undefined, 'a slot that does not exist')
})
