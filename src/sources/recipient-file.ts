/**
 * One CSV file of recipients: takes its bytes piece by piece and hands each record to the
 * collector or to the tally of rejects, never to neither.
 *
 * A record that cannot be told apart into fields costs its first physical line only; reading goes
 * on at the next. A blank line is no record.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { RecipientCollector } from './collector.js'
import { INCOMPLETE, lineEnd, RecordScanner, unescapeField } from './csv.js'
import { coordinateFaults, parseUnits } from './decimal.js'
import { type Header, readHeader } from './header.js'
import { isBlank, numberFault } from './number.js'
import type { RejectReason, RejectTally } from './rejects.js'

const LF = 0x0a
const CR = 0x0d
const LAT_DEGREES_MAX = 90
const LNG_DEGREES_MAX = 180

export class RecipientFile {
  /** Records after the header. */
  rowCount = 0
  readonly #path: string
  readonly #collector: RecipientCollector
  readonly #tally: RejectTally
  #bytes = new Uint8Array(4 * limits.recordBytes)
  #start = 0
  #end = 0
  /** Where the next record starts; the first line is 1. */
  #line = 1
  /** Inside a line that is not read, and that goes on beyond what is there. */
  #isSkipping = false
  #columns: { readonly header: Header; readonly scanner: RecordScanner } | undefined
  readonly #numberScratch = new Uint8Array(limits.recordBytes)
  readonly #contactScratch = new Uint8Array(limits.recordBytes)

  constructor(path: string, collector: RecipientCollector, tally: RejectTally) {
    this.#path = path
    this.#collector = collector
    this.#tally = tally
  }

  /** Takes the next bytes of the file. */
  push(chunk: Uint8Array): void {
    this.#append(chunk)
    this.#read(false)
  }

  /** Takes the end of the file. */
  finish(): void {
    this.#read(true)
  }

  #append(chunk: Uint8Array): void {
    const keptCount = this.#end - this.#start
    const neededCount = keptCount + chunk.length
    if (neededCount > this.#bytes.length) {
      const grown = new Uint8Array(2 * neededCount)
      grown.set(this.#bytes.subarray(this.#start, this.#end))
      this.#bytes = grown
    } else {
      this.#bytes.copyWithin(0, this.#start, this.#end)
    }
    this.#bytes.set(chunk, keptCount)
    this.#start = 0
    this.#end = neededCount
  }

  #read(isLast: boolean): void {
    this.#columns ??= this.#readHeader(isLast)
    if (this.#columns === undefined) return
    const { header, scanner } = this.#columns
    const bytes = this.#bytes
    const end = this.#end
    // One look at all of it is much faster than a look at each record.
    const isAllText = isUtf8(bytes.subarray(this.#start, end))
    while (this.#start < end) {
      const start = this.#start
      if (this.#isSkipping || bytes[start] === LF || bytes[start] === CR) {
        if (!this.#skipLine(isLast)) return
        continue
      }
      const next = scanner.scan(bytes, start, end, isLast)
      if (next === INCOMPLETE && scanner.fault === undefined) return
      const fault = scanner.fault ?? this.#lineBreakFault(header, scanner)
      if (fault !== undefined) {
        this.#reject(fault)
        if (!this.#skipLine(isLast)) return
        continue
      }
      const isText = isAllText || isUtf8(bytes.subarray(start, next))
      const reason = isText ? this.#take(header, scanner) : 'EncodingInvalid'
      if (reason === undefined) this.rowCount++
      else this.#reject(reason)
      this.#line += 1 + scanner.lineBreakCount
      this.#start = next
    }
  }

  /** Undefined until enough of the file is there. */
  #readHeader(isLast: boolean): { header: Header; scanner: RecordScanner } | undefined {
    const isShort = () => !isLast && this.#end - this.#start <= limits.recordBytes
    if (isShort()) return undefined
    this.#start += byteOrderMarkBytes(this.#path, this.#bytes.subarray(this.#start, this.#end))
    const bytes = this.#bytes
    while (this.#start < this.#end && (bytes[this.#start] === LF || bytes[this.#start] === CR)) {
      if (!this.#skipLine(isLast)) return undefined
    }
    if (isShort()) return undefined
    if (this.#start === this.#end) {
      throw new OperatorError('InputRejected', `${this.#path} is empty: it has not even a header`)
    }
    const header = readHeader(this.#path, bytes, this.#start, this.#end)
    const scanner = new RecordScanner(header.delimiter)
    this.#start = scanner.scan(bytes, this.#start, this.#end, true)
    this.#line += 1 + scanner.lineBreakCount
    return { header, scanner }
  }

  /** Goes to the next line, or drops what is there of this one and returns false. */
  #skipLine(isLast: boolean): boolean {
    const next = lineEnd(this.#bytes, this.#start, this.#end, isLast)
    this.#isSkipping = next === INCOMPLETE
    if (next === INCOMPLETE) {
      // A CR at the end is kept: an LF that follows is not another line.
      this.#start = this.#bytes[this.#end - 1] === CR ? this.#end - 1 : this.#end
      return false
    }
    this.#line++
    this.#start = next
    return true
  }

  /**
   * A line break inside a record is believed only in a column that is ignored: anywhere else a
   * quotation mark is missing, and the lines after it would disappear into one field.
   */
  #lineBreakFault(header: Header, scanner: RecordScanner): RejectReason | undefined {
    if (scanner.lineBreakCount === 0) return undefined
    if (scanner.fieldCount !== header.fieldCount) return 'QuoteMalformed'
    for (const name of ['numberIndex', 'latIndex', 'lngIndex', 'contactIndex'] as const) {
      if (header[name] === -1) continue
      const end = scanner.fieldEnds[header[name]]
      for (let at = scanner.fieldStarts[header[name]]; at < end; at++) {
        if (this.#bytes[at] === LF || this.#bytes[at] === CR) return 'QuoteMalformed'
      }
    }
    return undefined
  }

  #reject(reason: RejectReason): void {
    this.rowCount++
    this.#tally.add(reason, this.#path, this.#line)
  }

  /** Adds the recipient of the record just scanned, or says why not. */
  #take(header: Header, scanner: RecordScanner): RejectReason | undefined {
    if (scanner.fieldCount !== header.fieldCount) return 'FieldCountWrong'
    const { fieldStarts, fieldEnds, fieldEscapes } = scanner
    const { numberIndex, latIndex, lngIndex, contactIndex } = header

    let number = this.#bytes
    let numberStart = fieldStarts[numberIndex]
    let numberEnd = fieldEnds[numberIndex]
    if (fieldEscapes[numberIndex] === 1) {
      numberEnd = unescapeField(number, numberStart, numberEnd, this.#numberScratch)
      numberStart = 0
      number = this.#numberScratch
    }
    const fault = numberFault(number, numberStart, numberEnd)
    if (fault !== undefined) return fault

    const bytes = this.#bytes
    const lat = parseUnits(bytes, fieldStarts[latIndex], fieldEnds[latIndex], LAT_DEGREES_MAX)
    if (lat === coordinateFaults.missing) return 'LatMissing'
    if (lat === coordinateFaults.invalid) return 'LatInvalid'
    if (lat === coordinateFaults.outOfRange) return 'LatOutOfRange'
    const lng = parseUnits(bytes, fieldStarts[lngIndex], fieldEnds[lngIndex], LNG_DEGREES_MAX)
    if (lng === coordinateFaults.missing) return 'LngMissing'
    if (lng === coordinateFaults.invalid) return 'LngInvalid'
    if (lng === coordinateFaults.outOfRange) return 'LngOutOfRange'

    if (contactIndex === -1 || isBlank(bytes, fieldStarts[contactIndex], fieldEnds[contactIndex])) {
      this.#collector.add(lng, lat, number, numberStart, numberEnd)
      this.#collector.setNoContact()
      return undefined
    }
    let contact = bytes
    let contactStart = fieldStarts[contactIndex]
    let contactEnd = fieldEnds[contactIndex]
    if (fieldEscapes[contactIndex] === 1) {
      contactEnd = unescapeField(contact, contactStart, contactEnd, this.#contactScratch)
      contactStart = 0
      contact = this.#contactScratch
    }
    if (contactEnd - contactStart > limits.contactBytes) return 'ContactTooLong'
    this.#collector.add(lng, lat, number, numberStart, numberEnd)
    this.#collector.setContact(contact, contactStart, contactEnd)
    return undefined
  }
}

function byteOrderMarkBytes(path: string, bytes: Uint8Array): number {
  const [first, second, third] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new OperatorError('InputRejected', `${path} is UTF-16: save it as UTF-8`)
  }
  return first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0
}
